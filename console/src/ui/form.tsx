/**
 * Forms, declared by their fields. A form sends once, shows what the API refuses beside the field it speaks
 * of, says what was done, has what it changed read again, and closes the dialog around it.
 */
import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useContext, useEffect, useState, type FormEvent, type ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Button } from './button.tsx'
import { Notice } from './card.tsx'
import {
  changesOf,
  draftOf,
  isEqual,
  lacksRequired,
  type DraftOf,
  type FormFields,
  type SentOf,
} from './draft.ts'
import { Pair } from './layout.tsx'
import { OthersChanges, useEdit, type Edit } from './outdated.tsx'
import { describeFailure } from './states.tsx'
import { announce } from './toast.tsx'
import { DialogContext } from './typed.ts'

export type ErrorOf = (field: string) => string | undefined

interface FormProps<Result> {
  /** The verb of the button: "Create account". */
  readonly action: string
  /** `once` makes the API do it once, however often its request is sent. */
  readonly onSubmit: (once: string) => Promise<Result>
  /** In place of closing the dialog. */
  readonly onDone?: ((result: Result) => void) | undefined
  /** In place of closing the dialog, which asks where something is typed. */
  readonly onCancel?: (() => void) | undefined
  /** In place of "Cancel". */
  readonly cancel?: string
  readonly isDisabled?: boolean
  /** Its success saves nothing yet: another step follows. */
  readonly isStep?: boolean
  /** Says what was done. */
  readonly toast?: ((result: Result) => string | undefined) | undefined
  /** The queries that read what it changes. */
  readonly refresh?: readonly QueryKey[]
  readonly children: (errorOf: ErrorOf) => ReactNode
}

function Form<Result>(props: FormProps<Result>) {
  const { action, onSubmit, cancel = t('ui.cancel'), children } = props
  const { isDisabled = false, isStep = false, toast, refresh = [] } = props
  const client = useQueryClient()
  const dialog = useContext(DialogContext)
  const [once] = useState(makeOnce)
  const { onDone = dialog?.close, onCancel = dialog?.close } = props
  const sending = useMutation({
    mutationFn: () => onSubmit(once),
    onSuccess(result) {
      if (!isStep) dialog?.forget()
      const said = toast?.(result)
      if (said !== undefined) announce(said)
      for (const queryKey of refresh) void client.invalidateQueries({ queryKey })
      onDone?.(result)
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    // A form of a dialog is inside of the form of the page where React puts it.
    event.stopPropagation()
    sending.mutate()
  }
  const errors = errorsOf(sending.error)
  // Those that no input has asked for are shown below.
  const inputs = children(errors.of)
  return (
    <form className="form" onSubmit={submit} noValidate>
      {inputs}
      {sending.error !== null && (
        <Notice tone="bad">
          {describeFailure(sending.error).title}
          {errors.others().map(([field, text]) => (
            <div key={field}>
              <code>{field}</code>: {text}
            </div>
          ))}
        </Notice>
      )}
      <footer className="dialog-foot">
        {onCancel !== undefined && <Button onClick={() => onCancel()}>{cancel}</Button>}
        <Button type="submit" look="primary" isBusy={sending.isPending} disabled={isDisabled}>
          {action}
        </Button>
      </footer>
    </form>
  )
}

/** `randomUUID` is missing over plain http from another machine. */
function makeOnce(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].join('-')
}

/** A mistake inside a value, as in an item of a list, is shown beside the whole. */
function errorsOf(error: unknown) {
  const fields = error instanceof Problem ? error.fields : {}
  const shown = new Set<string>()
  const of: ErrorOf = (field) => {
    const found = Object.keys(fields).filter(
      (path) => path === field || path.startsWith(`${field}.`),
    )
    for (const path of found) shown.add(path)
    return found[0] === undefined ? undefined : fields[found[0]]
  }
  return { of, others: () => Object.entries(fields).filter(([field]) => !shown.has(field)) }
}

/** What the request of a form is made of. */
interface Sending<Fields extends FormFields, Read> {
  readonly draft: DraftOf<Fields>
  /** Only the fields that differ from what was read, or from those of a new thing. */
  readonly changes: Partial<SentOf<Fields>>
  readonly once: string
  /** As it was read last. */
  readonly read: Read
}

type FieldRow<Fields extends FormFields> = readonly (keyof Fields & string)[]

/** For a layout other than rows of fields. */
export interface FormParts<Fields extends FormFields> {
  readonly draft: DraftOf<Fields>
  readonly set: (change: Partial<DraftOf<Fields>>) => void
  /** The input of a field; a hint that depends on the draft takes the place of the declared one. */
  readonly field: (name: keyof Fields & string, hint?: ReactNode) => ReactNode
  /** What the API says about a field that the form puts together by itself. */
  readonly errorOf: ErrorOf
}

interface DraftFormProps<Fields extends FormFields, Read, Result> extends Omit<
  FormProps<Result>,
  'action' | 'onSubmit' | 'children'
> {
  readonly fields: Fields
  readonly action: string | ((draft: DraftOf<Fields>) => string)
  readonly send: (sending: Sending<Fields, Read>) => Promise<Result>
  /** Whether more is missing than a field that must have a value. */
  readonly isReady?: (draft: DraftOf<Fields>) => boolean
  /** Fields beside each other, row by row; without it all fields are below each other. */
  readonly rows?: readonly FieldRow<Fields>[]
  /** These rows are behind a line to open, named so. */
  readonly more?: readonly [title: string, rows: readonly FieldRow<Fields>[]]
  readonly children?: (parts: FormParts<Fields>) => ReactNode
  readonly read: Read
  /** The values of the fields in what was read. */
  readonly valuesOf: (read: Read) => object | undefined
  readonly readAgain: () => Promise<Read>
}

type NewFormProps<Fields extends FormFields, Result> = Omit<
  DraftFormProps<Fields, undefined, Result>,
  'read' | 'valuesOf' | 'readAgain'
>

/** A form for a new thing. */
export function NewForm<Fields extends FormFields, Result>(props: NewFormProps<Fields, Result>) {
  return (
    <DraftForm
      {...props}
      read={undefined}
      valuesOf={() => undefined}
      readAgain={() => Promise.resolve(undefined)}
    />
  )
}

/**
 * A form that changes a thing. Where another operator has changed it meanwhile, nothing is saved: it then has
 * the other's change beside what was typed, and saving again saves both.
 */
export function DraftForm<Fields extends FormFields, Read, Result>(
  props: DraftFormProps<Fields, Read, Result>,
) {
  const { fields, action, send, isReady, read, valuesOf, readAgain, ...layout } = props
  const { rows = Object.keys(fields).map((name) => [name]), more, children, ...frame } = layout
  const edit = useEdit({ read, draftOf: (one) => draftOf(fields, valuesOf(one)), readAgain })
  const { draft, before } = edit
  const changes = changesOf(fields, edit)
  const isChanged = !isEqual(before, draft)
  useTyped(Object.keys(fields).length === 0 ? undefined : isChanged)
  const isWanting = lacksRequired(fields, draft) || isReady?.(draft) === false
  return (
    <Form
      {...frame}
      action={typeof action === 'string' ? action : action(draft)}
      isDisabled={isWanting || (read !== undefined && !isChanged) || frame.isDisabled === true}
      onSubmit={(once) => edit.save(send({ draft, changes, once, read: edit.read }))}
    >
      {(errorOf) => {
        const parts = partsOf({ fields, edit, errorOf })
        return (
          <>
            {children?.(parts) ?? <Rows of={rows} field={parts.field} />}
            {more !== undefined && (
              <More title={more[0]}>
                <Rows of={more[1]} field={parts.field} />
              </More>
            )}
            <OthersChanges
              edit={edit}
              labels={Object.fromEntries(
                Object.entries(fields).map(([name, { label }]) => [name, label]),
              )}
            />
          </>
        )
      }}
    </Form>
  )
}

interface RowsProps<Fields extends FormFields> {
  readonly of: readonly FieldRow<Fields>[]
  readonly field: FormParts<Fields>['field']
}

function Rows<Fields extends FormFields>({ of: rows, field }: RowsProps<Fields>) {
  return rows.map((names) => {
    const inputs = names.map((name) => field(name))
    return inputs.length === 1 ? inputs : <Pair key={names.join(' ')}>{inputs}</Pair>
  })
}

interface PartsOptions<Fields extends FormFields> {
  readonly fields: Fields
  readonly edit: Pick<Edit<unknown, DraftOf<Fields>>, 'draft' | 'setDraft'>
  readonly errorOf: ErrorOf
}

function partsOf<Fields extends FormFields>({
  fields,
  edit: { draft, setDraft },
  errorOf,
}: PartsOptions<Fields>): FormParts<Fields> {
  const set = (change: Partial<DraftOf<Fields>>): void => setDraft({ ...draft, ...change })
  return {
    draft,
    set,
    errorOf,
    field(name, hint) {
      const one = fields[name]
      if (one === undefined) return null
      return (
        <Input
          key={name}
          of={one}
          hint={hint}
          error={errorOf(name)}
          value={draft[name]}
          onChange={(value) => set({ [name]: value } as unknown as Partial<DraftOf<Fields>>)}
        />
      )
    },
  }
}

interface InputProps {
  readonly of: FormFields[string]
  readonly hint: ReactNode
  readonly error: string | undefined
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

function Input({ of, hint = of.hint, ...bound }: InputProps) {
  return of.input({ label: of.label, hint, ...bound })
}

/** Fields that few need. */
export function More({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="more">
      <summary>{title}</summary>
      <div className="form">{children}</div>
    </details>
  )
}

/** Tells the dialog around a form whether there is something to lose; undefined = it sees by itself. */
function useTyped(isTyped: boolean | undefined): void {
  const dialog = useContext(DialogContext)
  useEffect(() => {
    if (isTyped !== undefined) dialog?.setTyped(isTyped)
  }, [dialog, isTyped])
}
