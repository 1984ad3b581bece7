/** Puts together what two operators have changed in the fields of one thing. Pure. */

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
}: Versions<Draft>): {
  readonly draft: Draft
  readonly changes: readonly OtherChange[]
} {
  const [known, typed] = [fieldsOf(before), fieldsOf(mine)]
  const changed = [...fieldsOf(theirs)].filter(([field, value]) => !equal(value, known.get(field)))
  const isTyped = (field: string): boolean => !equal(typed.get(field), known.get(field))
  return {
    draft: {
      ...theirs,
      ...Object.fromEntries([...typed].filter(([field]) => isTyped(field))),
    },
    changes: changed
      .filter(([field, value]) => !equal(value, typed.get(field)))
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
function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
