/**
 * What a person types into the fields of one thing: how it differs from what was read, and how it is put
 * together with what another operator has changed meanwhile. Pure. A form declares each field once; its
 * label, its value while a person types and the value that is sent all come from there.
 */
import type { ReactNode } from 'react'

/** What an input is given. */
interface Bound<Value> {
  readonly label: string
  readonly hint: ReactNode
  readonly error: string | undefined
  readonly value: Value
  /** A method, so that a field of texts is one of unknown values too. */
  onChange(this: void, value: Value): void
}

/** `Value` is what an input edits, mostly a text; `Sent` is what the API takes. */
export interface FormField<Value, Sent = Value> {
  readonly label: string
  readonly hint?: ReactNode
  /** The value of a new thing. */
  readonly initial: Value
  readonly isRequired?: boolean
  /** Reads the value that the API gives. */
  read(value: unknown): Value
  send(value: Value): Sent
  input(bound: Bound<Value>): ReactNode
}

/** By the name of the field in the API, in the order of the form. */
export type FormFields = Readonly<Record<string, FormField<unknown, unknown>>>

export type DraftOf<Fields extends FormFields> = {
  readonly [Name in keyof Fields]: Fields[Name]['initial']
}

export type SentOf<Fields extends FormFields> = {
  readonly [Name in keyof Fields]: ReturnType<Fields[Name]['send']>
}

/** Returns the draft of a thing as the API gives it; without one, that of a new thing. */
export function draftOf<Fields extends FormFields>(fields: Fields, read?: object): DraftOf<Fields> {
  const given = new Map<string, unknown>(Object.entries(read ?? {}))
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      read === undefined ? field.initial : field.read(given.get(name)),
    ]),
  ) as DraftOf<Fields>
}

interface Pair<Draft> {
  readonly before: Draft
  readonly draft: Draft
}

/** Returns the fields that differ, as they are sent. */
export function changesOf<Fields extends FormFields>(
  fields: Fields,
  { before, draft }: Pair<DraftOf<Fields>>,
): Partial<SentOf<Fields>> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !isEqual(draft[name], before[name]))
      .map(([name, field]) => [name, field.send(draft[name])]),
  ) as Partial<SentOf<Fields>>
}

/** Whether a field that must have a value has none. */
export function lacksRequired<Fields extends FormFields>(
  fields: Fields,
  draft: DraftOf<Fields>,
): boolean {
  return Object.entries(fields).some(
    ([name, { isRequired = false }]) =>
      isRequired && (typeof draft[name] === 'string' ? draft[name].trim() === '' : !draft[name]),
  )
}

/** What another operator has changed in one field. */
export interface OtherChange {
  readonly field: string
  readonly theirs: unknown
  /** Only where the person has changed the field too, to another value. */
  readonly mine?: unknown
}

interface Versions<Draft> {
  /** As it was when the person began to edit. */
  readonly before: Draft
  readonly mine: Draft
  readonly theirs: Draft
}

/** Keeps what the person has typed; every other field is as the other operator has left it. */
export function mergeDrafts<Draft extends object>({
  before,
  mine,
  theirs,
}: Versions<Draft>): { readonly draft: Draft; readonly changes: readonly OtherChange[] } {
  const [known, typed] = [fieldsOf(before), fieldsOf(mine)]
  const isTyped = (field: string): boolean => !isEqual(typed.get(field), known.get(field))
  return {
    draft: {
      ...theirs,
      ...Object.fromEntries([...typed].filter(([field]) => isTyped(field))),
    },
    changes: [...fieldsOf(theirs)]
      .filter(([field, value]) => !isEqual(value, known.get(field)))
      .filter(([field, value]) => !isEqual(value, typed.get(field)))
      .map(([field, value]) => ({
        field,
        theirs: value,
        ...(isTyped(field) && { mine: typed.get(field) }),
      })),
  }
}

function fieldsOf(draft: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(draft))
}

/** Whether two values of a field are the same; they are JSON. */
export function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
