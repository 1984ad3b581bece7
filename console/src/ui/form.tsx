/** A form in a dialog: sends once, shows what the API refuses beside the field it speaks of. */
import { useMutation } from '@tanstack/react-query'
import { useContext, type FormEvent, type ReactNode } from 'react'
import { Problem } from '../problem.ts'
import { Button } from './button.tsx'
import { Notice } from './card.tsx'
import { describeFailure } from './states.tsx'
import { TypedContext } from './typed.ts'
import './form.css'

interface FormProps<Result> {
  /** The verb of the button: "Create account". */
  readonly action: string
  readonly onSubmit: () => Promise<Result>
  readonly onDone: (result: Result) => void
  readonly onCancel?: () => void
  /** In place of "Cancel". */
  readonly cancel?: string
  readonly isDisabled?: boolean
  /** Its success saves nothing yet: another step follows. */
  readonly isStep?: boolean
  readonly children: (errorOf: (field: string) => string | undefined) => ReactNode
}

export function Form<Result>(props: FormProps<Result>) {
  const { action, onSubmit, onDone, onCancel, cancel = 'Cancel', children } = props
  const { isDisabled = false, isStep = false } = props
  const typed = useContext(TypedContext)
  const sending = useMutation({
    mutationFn: onSubmit,
    onSuccess(result) {
      if (!isStep) typed?.forget()
      onDone(result)
    },
  })
  const fields = sending.error instanceof Problem ? sending.error.fields : {}
  const shown = new Set<string>()
  const errorOf = (field: string): string | undefined => {
    // A mistake inside a value, as in an item of a list, is shown beside the whole.
    const found = Object.keys(fields).filter(
      (path) => path === field || path.startsWith(`${field}.`),
    )
    for (const path of found) shown.add(path)
    return found[0] === undefined ? undefined : fields[found[0]]
  }
  const inputs = children(errorOf)
  const others = Object.entries(fields).filter(([field]) => !shown.has(field))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    sending.mutate()
  }
  return (
    <form className="form" onSubmit={submit} noValidate>
      {inputs}
      {sending.error !== null && (
        <Notice tone="bad">
          {describeFailure(sending.error).title}
          {others.map(([field, text]) => (
            <div key={field}>
              <code>{field}</code>: {text}
            </div>
          ))}
        </Notice>
      )}
      <footer className="dialog-foot">
        {onCancel !== undefined && <Button onClick={onCancel}>{cancel}</Button>}
        <Button type="submit" look="primary" isBusy={sending.isPending} disabled={isDisabled}>
          {action}
        </Button>
      </footer>
    </form>
  )
}
