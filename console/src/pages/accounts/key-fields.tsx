/** The inputs of a key: its name, budgets, limits, models, addresses and end. */
import { useQuery } from '@tanstack/react-query'
import { AreaField, CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { Loading } from '../../ui/states.tsx'
import { modelsQuery, type Key } from './queries.ts'

/** As a person types them. Amounts stay text. */
export interface KeyDraft {
  readonly name: string
  readonly daily_usd: string
  readonly monthly_usd: string
  readonly total_usd: string
  readonly rpm: string
  readonly tpm: string
  /** Null = every model. */
  readonly models: readonly string[] | null
  /** One address or network on each line; empty = every address. */
  readonly ip: string
  /** The last day (UTC); empty = never. */
  readonly expires: string
}

export const emptyKey: KeyDraft = {
  name: '',
  daily_usd: '0',
  monthly_usd: '0',
  total_usd: '0',
  rpm: '0',
  tpm: '0',
  models: null,
  ip: '',
  expires: '',
}

export function keyDraftOf(key: Key): KeyDraft {
  return {
    name: key.name,
    daily_usd: key.daily_usd,
    monthly_usd: key.monthly_usd,
    total_usd: key.total_usd,
    rpm: String(key.rpm),
    tpm: String(key.tpm),
    models: key.models,
    ip: (key.ip ?? []).join('\n'),
    expires: key.expires_at === null ? '' : lastDayOf(key.expires_at),
  }
}

/** A key that is given a day works until its end, which is the start of the next one. */
function lastDayOf(end: string): string {
  return new Date(Date.parse(end) - 1).toISOString().slice(0, 10)
}

interface KeyChanges {
  readonly name?: string
  readonly daily_usd?: string
  readonly monthly_usd?: string
  readonly total_usd?: string
  readonly rpm?: string
  readonly tpm?: string
  readonly models?: string[] | null
  readonly ip?: string[] | null
  readonly expires?: string | null
}

/** The fields that differ; null removes a restriction. */
export function keyChangesOf(draft: KeyDraft, before: KeyDraft): KeyChanges {
  const { models, ip, expires } = draft
  const networks = ip.split(/[\s,]+/).filter((network) => network !== '')
  const isModelsChanged = JSON.stringify(models) !== JSON.stringify(before.models)
  return {
    ...(draft.name !== before.name && { name: draft.name }),
    ...(draft.daily_usd !== before.daily_usd && { daily_usd: draft.daily_usd }),
    ...(draft.monthly_usd !== before.monthly_usd && { monthly_usd: draft.monthly_usd }),
    ...(draft.total_usd !== before.total_usd && { total_usd: draft.total_usd }),
    ...(draft.rpm !== before.rpm && { rpm: draft.rpm }),
    ...(draft.tpm !== before.tpm && { tpm: draft.tpm }),
    ...(isModelsChanged && { models: models === null ? null : [...models] }),
    ...(ip !== before.ip && { ip: networks.length === 0 ? null : networks }),
    ...(expires !== before.expires && { expires: expires === '' ? null : expires }),
  }
}

interface KeyFieldsProps {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  readonly errorOf: (field: string) => string | undefined
}

export function KeyFields({ draft, onChange, errorOf }: KeyFieldsProps) {
  const bind = (field: Exclude<keyof KeyDraft, 'models'>) => ({
    value: draft[field],
    error: errorOf(field),
    onChange: (text: string) => onChange({ ...draft, [field]: text }),
  })
  return (
    <>
      <div className="form-pair">
        <TextField
          label="Name"
          maxLength={64}
          autoFocus
          hint="Such as production"
          {...bind('name')}
        />
        <TextField
          label="Expires"
          type="date"
          hint="Works until its end (UTC); empty for no end"
          {...bind('expires')}
        />
      </div>
      <fieldset className="key-group">
        <legend>Budgets in USD; 0 for none</legend>
        <div className="form-pair">
          <TextField label="Per day" unit="$" inputMode="decimal" {...bind('daily_usd')} />
          <TextField label="Per month" unit="$" inputMode="decimal" {...bind('monthly_usd')} />
          <TextField label="Total" unit="$" inputMode="decimal" {...bind('total_usd')} />
        </div>
      </fieldset>
      <fieldset className="key-group">
        <legend>Limits per minute; 0 for none</legend>
        <div className="form-pair">
          <TextField label="Requests" inputMode="numeric" {...bind('rpm')} />
          <TextField label="Tokens" inputMode="numeric" {...bind('tpm')} />
        </div>
      </fieldset>
      <ModelFields
        models={draft.models}
        error={errorOf('models')}
        onChange={(models) => onChange({ ...draft, models })}
      />
      <AreaField
        label="Addresses"
        isCode
        rows={2}
        hint="Addresses or networks such as 192.0.2.0/24, one on each line; empty for every address"
        {...bind('ip')}
      />
    </>
  )
}

interface ModelFieldsProps {
  readonly models: KeyDraft['models']
  readonly error: string | undefined
  readonly onChange: (models: KeyDraft['models']) => void
}

function ModelFields({ models, error, onChange }: ModelFieldsProps) {
  return (
    <>
      <SelectField
        label="Models"
        value={models === null ? 'all' : 'some'}
        options={[
          ['all', 'Every model, also later ones'],
          ['some', 'Only the ones chosen here'],
        ]}
        error={error}
        onChange={(choice) => onChange(choice === 'all' ? null : [])}
      />
      {models !== null && <ModelChoice chosen={models} onChange={onChange} />}
    </>
  )
}

interface ModelChoiceProps {
  readonly chosen: readonly string[]
  readonly onChange: (models: readonly string[]) => void
}

function ModelChoice({ chosen, onChange }: ModelChoiceProps) {
  const { data } = useQuery(modelsQuery)
  if (data === undefined) return <Loading rows={2} />
  // A model that has left the catalogue stays chosen until it is taken off.
  const ids = [...new Set([...data.map(({ id }) => id), ...chosen])]
  return (
    <div className="model-choice" role="group" aria-label="Chosen models">
      {ids.map((id) => (
        <CheckField
          key={id}
          label={id}
          value={chosen.includes(id)}
          onChange={(isChosen) =>
            onChange(isChosen ? [...chosen, id] : chosen.filter((each) => each !== id))
          }
        />
      ))}
    </div>
  )
}
