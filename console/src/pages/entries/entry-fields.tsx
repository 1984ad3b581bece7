/** The inputs of an entry, made from its fields: the usual ones, and the others behind "More settings". */
import { AreaField, CheckField, SelectField, TextField } from '../../ui/field.tsx'
import {
  hintOf,
  isEditable,
  isUsual,
  linesOf,
  pairOf,
  titleOf,
  type Draft,
  type Entry,
  type Field,
  type Section,
} from './entry.ts'

/** The names that the catalogue has, to choose from. */
interface KnownNames {
  readonly vendors: readonly string[]
  /** Those of the vendor of the entry. */
  readonly models: readonly string[]
}

interface EntryFieldsProps {
  readonly section: Section
  readonly fields: readonly Field[]
  /** As it is stored; empty for a new one. */
  readonly entry: Entry
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  /** The mistake at a key of the entry. */
  readonly errorOf: (key: string) => string | undefined
  readonly names: KnownNames
}

export function EntryFields(props: EntryFieldsProps) {
  const { section, fields } = props
  const usual = fields.filter((field) => isUsual(section, field))
  const others = fields.filter((field) => !isUsual(section, field))
  return (
    <>
      <Inputs {...props} fields={usual} />
      {others.length > 0 && (
        <details className="entry-more">
          <summary>More settings</summary>
          <div className="form">
            <Inputs {...props} fields={others} />
          </div>
        </details>
      )}
    </>
  )
}

function Inputs({ fields, entry, draft, onChange, errorOf, names }: EntryFieldsProps) {
  return fields.map((field) => (
    <EntryField
      key={field.key}
      field={field}
      value={draft[field.key] ?? ''}
      error={errorOf(field.key)}
      names={names}
      isFixed={!isEditable(field, entry[field.key])}
      isStored={entry[field.key] === kept}
      onChange={(text) => onChange({ ...draft, [field.key]: text })}
    />
  ))
}

interface EntryFieldProps {
  readonly field: Field
  readonly value: string
  readonly error: string | undefined
  readonly names: KnownNames
  /** Only the file can change it. */
  readonly isFixed: boolean
  readonly isStored: boolean
  readonly onChange: (text: string) => void
}

function EntryField(props: EntryFieldProps) {
  const { field, value, error, names, isFixed, isStored, onChange } = props
  const bound = { label: titleOf(field), hint: hintOf(field), error, value, onChange }
  if (isFixed) return <FixedField field={field} isSet={value !== ''} />
  switch (field.kind) {
    case 'secret':
      return <SecretField {...bound} isStored={isStored} />
    case 'flag':
      return <SelectField {...bound} options={withDefault(field, ['true', 'false'])} />
    case 'choice':
      return <SelectField {...bound} options={withDefault(field, field.options ?? [])} />
    case 'vendor':
      return <SelectField {...bound} options={withDefault(field, names.vendors)} />
    case 'choices':
      return <TickField {...bound} options={field.options ?? []} />
    case 'models':
      return <TickField {...bound} options={names.models} isNamed />
    case 'list':
    case 'mapping':
      return <AreaField {...bound} rows={2} isCode />
    default:
      return <TextField {...bound} spellCheck={false} />
  }
}

/** A reference to a secret can be read; a secret itself is never shown, and the browser keeps none. */
export function SecretField(props: {
  readonly label: string
  readonly hint?: string
  readonly error?: string | undefined
  readonly value: string
  /** An empty field keeps the stored value. */
  readonly isStored?: boolean
  readonly onChange: (text: string) => void
}) {
  const { isStored = false, value, onChange, ...rest } = props
  return (
    <TextField
      {...rest}
      type={/^(env|file):/.test(value) ? 'text' : 'password'}
      autoComplete="new-password"
      spellCheck={false}
      placeholder={isStored ? 'stored, not shown' : ''}
      value={value === kept ? '' : value}
      onChange={(text) => onChange(text === '' && isStored ? kept : text)}
    />
  )
}

/** Stands for a stored secret in entries, and keeps it in a change. */
const kept = '***'

function withDefault(
  { is_required: isRequired }: Field,
  options: readonly string[],
): readonly (readonly [string, string])[] {
  const words = { true: 'Yes', false: 'No' }
  const named = options.map(
    (option) => [option, option === 'true' || option === 'false' ? words[option] : option] as const,
  )
  return isRequired ? [['', 'Choose…'], ...named] : [['', 'Default'], ...named]
}

function FixedField({ field, isSet }: { field: Field; isSet: boolean }) {
  return (
    <p className="soft">
      {titleOf(field)}: {isSet ? 'set' : 'not set'}.{' '}
      {field.kind === 'prices'
        ? 'Change prices from the list of models, so that each price has its day.'
        : 'Change it in the catalogue file.'}
    </p>
  )
}

interface TickFieldProps {
  readonly label: string
  readonly hint: string
  readonly error: string | undefined
  /** One on each line. */
  readonly value: string
  readonly options: readonly string[]
  /** Each may have a name at the vendor. */
  readonly isNamed?: boolean
  readonly onChange: (text: string) => void
}

function TickField(props: TickFieldProps) {
  const { label, hint, error, value, options, isNamed = false, onChange } = props
  const pairs = linesOf(value).map(pairOf)
  const names = new Map(pairs)
  const write = (next: ReadonlyMap<string, string>): void =>
    onChange([...next].map(([key, name]) => (key === name ? key : `${key}: ${name}`)).join('\n'))
  const all = [...new Set([...options, ...names.keys()])]
  return (
    <fieldset className="entry-ticks">
      <legend>{label}</legend>
      <p className={error === undefined ? 'field-hint' : 'field-hint bad'}>{error ?? hint}</p>
      {all.map((option) => {
        const name = names.get(option)
        return (
          <div key={option} className="entry-tick">
            <CheckField
              label={option}
              value={name !== undefined}
              onChange={(isTicked) => {
                const next = new Map(names)
                if (isTicked) next.set(option, option)
                else next.delete(option)
                write(next)
              }}
            />
            {isNamed && name !== undefined && (
              <TextField
                label={`Name of ${option} at the vendor`}
                value={name}
                spellCheck={false}
                onChange={(text) => write(new Map(names).set(option, text.trim() || option))}
              />
            )}
          </div>
        )
      })}
    </fieldset>
  )
}
