/** The inputs of an entry, made from its fields: the usual ones, and the others behind "More settings". */
import type { ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { AreaField, CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { linesOf } from '../../ui/form-fields.tsx'
import { More } from '../../ui/form.tsx'
import { Group, Stack } from '../../ui/layout.tsx'
import { AmountsField } from './amount-inputs.tsx'
import {
  hintOf,
  isUsual,
  pairOf,
  titleOf,
  type Draft,
  type Entry,
  type Field,
  type Section,
} from './entry.ts'

/** What there is to choose from. */
interface Known {
  readonly vendors: readonly string[]
  /** Those of the vendor of the entry. */
  readonly models: readonly string[]
  /** What a price may have. */
  readonly pricePaths: readonly string[]
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
  readonly known: Known
}

export function EntryFields(props: EntryFieldsProps) {
  const { section, fields } = props
  const others = fields.filter((field) => !isUsual(section, field))
  return (
    <>
      <Inputs {...props} fields={fields.filter((field) => isUsual(section, field))} />
      {others.length > 0 && (
        <More title={t('entries.more')}>
          <Inputs {...props} fields={others} />
        </More>
      )}
    </>
  )
}

function Inputs({ fields, entry, draft, onChange, errorOf, known }: EntryFieldsProps) {
  // Cost prices and baselines are those of models that the channel serves.
  const served = linesOf(draft['models'] ?? '').map((line) => pairOf(line)[0])
  return fields.map((field) => (
    <EntryField
      key={field.key}
      field={field}
      value={draft[field.key] ?? ''}
      error={errorOf(field.key)}
      known={known}
      served={served}
      isStored={entry[field.key] === kept}
      onChange={(text) => onChange({ ...draft, [field.key]: text })}
    />
  ))
}

interface EntryFieldProps {
  readonly field: Field
  readonly value: string
  readonly error: string | undefined
  readonly known: Known
  readonly served: readonly string[]
  readonly isStored: boolean
  readonly onChange: (text: string) => void
}

function EntryField(props: EntryFieldProps) {
  const { field, value, error, known, served, isStored, onChange } = props
  const bound = { label: titleOf(field), hint: hintOf(field), error, value, onChange }
  const options = optionsOf(field, known)
  switch (field.kind) {
    case 'secret':
      return <SecretField {...bound} isStored={isStored} />
    case 'flag':
    case 'choice':
    case 'vendor':
      return <SelectField {...bound} options={options} />
    case 'choices':
      return <TickField {...bound} options={field.options ?? []} />
    case 'models':
      return <TickField {...bound} options={known.models} isNamed />
    case 'prices':
    case 'cost':
    case 'baselines':
      return <AmountsField {...bound} {...known} kind={field.kind} models={served} />
    case 'list':
    case 'mapping':
      return <AreaField {...bound} rows={2} isCode />
    default:
      return <TextField {...bound} spellCheck={false} />
  }
}

function optionsOf(
  { kind, options, is_required: isRequired }: Field,
  { vendors }: Known,
): readonly (readonly [string, string])[] {
  const none = ['', isRequired ? t('entries.choose') : t('entries.default')] as const
  if (kind === 'flag') return [none, ['true', t('entries.yes')], ['false', t('entries.no')]]
  return [
    none,
    ...(kind === 'vendor' ? vendors : (options ?? [])).map((one) => [one, one] as const),
  ]
}

/** Stands for a stored secret in entries, and keeps it in a change. */
const kept = '***'

/** A reference to a secret can be read; a secret itself is never shown, and the browser keeps none. */
export function SecretField(props: {
  readonly label: string
  readonly hint?: ReactNode
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
      placeholder={isStored ? t('entries.stored') : ''}
      value={value === kept ? '' : value}
      onChange={(text) => onChange(text === '' && isStored ? kept : text)}
    />
  )
}

interface TickFieldProps {
  readonly label: string
  readonly hint: string | undefined
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
  const names = new Map(linesOf(value).map(pairOf))
  const write = (next: ReadonlyMap<string, string>): void =>
    onChange([...next].map(([key, name]) => (key === name ? key : `${key}: ${name}`)).join('\n'))
  return (
    <Group title={label} hint={hint} error={error}>
      {[...new Set([...options, ...names.keys()])].map((option) => {
        const name = names.get(option)
        return (
          <Stack key={option} isTight>
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
                label={t('entries.nameAtVendor', { model: option })}
                value={name}
                spellCheck={false}
                onChange={(text) => write(new Map(names).set(option, text.trim() || option))}
              />
            )}
          </Stack>
        )
      })}
    </Group>
  )
}
