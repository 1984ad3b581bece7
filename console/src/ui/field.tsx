/** Inputs with a label, a hint and the mistake that the API found in them. */
import { CSPProvider } from '@base-ui/react/csp-provider'
import { Select } from '@base-ui/react/select'
import { Check, ChevronDown } from 'lucide-react'
import { useContext, useId, type ComponentProps, type ReactNode } from 'react'
import { DialogContext } from './typed.ts'

export interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
}

interface Wired {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

export function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { readonly children: (wired: Wired) => ReactNode }) {
  const id = useId()
  const isDescribed = hint !== undefined || error !== undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': isDescribed ? `${id}-hint` : undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {isDescribed && (
        <p id={`${id}-hint`} className={hintClass(error)}>
          {error ?? hint}
        </p>
      )}
    </div>
  )
}

/** For what is below an input: a hint, or a mistake. */
export function hintClass(error?: string): string {
  return `${error === undefined ? 'soft' : 'bad'} small break`
}

type InputProps = FieldProps &
  Omit<ComponentProps<'input'>, 'className' | 'onChange' | 'value'> & {
    readonly value: string
    readonly onChange: (value: string) => void
    /** Stands before the text, such as "$". */
    readonly unit?: string
  }

export function TextField({ label, hint, error, unit, onChange, ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <span className="input-frame">
          {unit !== undefined && <span className="input-unit">{unit}</span>}
          <input
            autoComplete="off"
            {...rest}
            {...wired}
            className="input"
            onChange={({ target }) => onChange(target.value)}
          />
        </span>
      )}
    </Field>
  )
}

type AreaProps = FieldProps &
  Omit<ComponentProps<'textarea'>, 'className' | 'onChange' | 'value'> & {
    readonly value: string
    readonly onChange: (value: string) => void
    readonly isCode?: boolean
  }

export function AreaField({ label, hint, error, isCode = false, onChange, ...rest }: AreaProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <textarea
          rows={4}
          spellCheck={!isCode}
          {...rest}
          {...wired}
          className={isCode ? 'input code' : 'input'}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

type SelectProps<Value extends string> = FieldProps & {
  readonly value: Value
  readonly options: readonly (readonly [Value, string])[]
  readonly onChange: (value: Value) => void
}

export function SelectField<Value extends string>(props: SelectProps<Value>) {
  const { label, hint, error, value, options, onChange } = props
  const dialog = useContext(DialogContext)
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        // The policy of the page allows no style elements.
        <CSPProvider disableStyleElements>
          <Select.Root
            value={value}
            onValueChange={(chosen) => {
              if (chosen === null) return
              dialog?.setTyped(true)
              onChange(chosen)
            }}
          >
            <Select.Trigger {...wired} className="input select">
              <Select.Value>
                {(shown: Value) => options.find(([each]) => each === shown)?.[1] ?? shown}
              </Select.Value>
              <Select.Icon>
                <ChevronDown aria-hidden />
              </Select.Icon>
            </Select.Trigger>
            <Select.Portal>
              <Select.Positioner className="menu-place" alignItemWithTrigger={false} sideOffset={4}>
                <Select.Popup className="menu">
                  <Select.List>
                    {options.map(([each, text]) => (
                      <Select.Item key={each} value={each} data-value={each} className="menu-item">
                        <Select.ItemText>{text}</Select.ItemText>
                        <Select.ItemIndicator>
                          <Check aria-hidden />
                        </Select.ItemIndicator>
                      </Select.Item>
                    ))}
                  </Select.List>
                </Select.Popup>
              </Select.Positioner>
            </Select.Portal>
          </Select.Root>
        </CSPProvider>
      )}
    </Field>
  )
}

export function CheckField(props: {
  readonly label: string
  readonly hint?: ReactNode
  readonly value: boolean
  readonly onChange: (value: boolean) => void
}) {
  const { label, hint, value, onChange } = props
  const id = useId()
  return (
    <div className="check">
      <input
        id={id}
        type="checkbox"
        checked={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={({ target }) => onChange(target.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className={hintClass()}>
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}

export interface ChosenFile {
  readonly name: string
  readonly text: string
}

/** Opens the file chooser and hands on the texts of the files. */
export function FileField(
  props: FieldProps & {
    readonly accept?: string
    readonly isMultiple?: boolean
    readonly onFiles: (files: readonly ChosenFile[]) => void
  },
) {
  const { label, hint, error, accept, isMultiple = false, onFiles } = props
  const read = async (files: readonly File[]): Promise<void> => {
    onFiles(
      await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() }))),
    )
  }
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <input
          {...wired}
          className="input"
          type="file"
          accept={accept}
          multiple={isMultiple}
          onChange={({ target }) => void read([...(target.files ?? [])])}
        />
      )}
    </Field>
  )
}
