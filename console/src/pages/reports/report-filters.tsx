/** The period of a report, its keys, and the requests that it counts. */
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { SelectField, TextField } from '../../ui/field.tsx'
import {
  keys,
  keysOf,
  periods,
  type Days,
  type Key,
  type Period,
  type ReportSearch,
} from './address.ts'
import { channelNamesQuery, modelNamesQuery } from '../../api/names.ts'

const periodNames: Readonly<Record<Period, string>> = {
  today: 'Today',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  'this-month': 'This month',
  'last-month': 'Last month',
  custom: 'Other days',
}

export const keyNames: Readonly<Record<Key, string>> = {
  day: 'Day',
  account: 'Account',
  key: 'Key',
  model: 'Model',
  channel: 'Channel',
}

interface ReportFiltersProps {
  readonly search: ReportSearch
  readonly days: Days
  readonly onChange: (change: Partial<ReportSearch>) => void
}

export function ReportFilters({ search, days, onChange }: ReportFiltersProps) {
  const { period = '30d' } = search
  const models = useQuery(modelNamesQuery)
  const channels = useQuery(channelNamesQuery)
  return (
    <div className="stack reports-question">
      <KeyChoice search={search} onChange={onChange} />
      <div className="filters">
        <SelectField
          label="Period (UTC)"
          value={period}
          options={periods.map((each) => [each, periodNames[each]] as const)}
          onChange={(chosen) =>
            onChange(
              chosen === 'custom'
                ? { period: chosen, ...days }
                : { period: chosen, from: '', to: '' },
            )
          }
        />
        {period === 'custom' && (
          <>
            <TextField
              label="From"
              type="date"
              value={days.from}
              max={days.to}
              onChange={(from) => onChange({ from })}
            />
            <TextField
              label="To"
              type="date"
              value={days.to}
              min={days.from}
              onChange={(to) => onChange({ to })}
            />
          </>
        )}
        <Names
          label="Model"
          names={models.data}
          value={search.model ?? ''}
          onChange={(model) => onChange({ model })}
        />
        <Names
          label="Channel"
          names={channels.data}
          value={search.channel ?? ''}
          onChange={(channel) => onChange({ channel })}
        />
        <EnteredField
          label="Account"
          placeholder="Name or id"
          value={search.account ?? ''}
          onEnter={(account) => onChange({ account })}
        />
        <EnteredField
          label="Key"
          placeholder="Id of a key"
          value={search.key ?? ''}
          onEnter={(key) => onChange({ key })}
        />
      </div>
    </div>
  )
}

/** The rows are sorted by the keys in the order in which they were chosen. */
function KeyChoice({ search, onChange }: Omit<ReportFiltersProps, 'days'>) {
  const chosen = keysOf(search)
  const id = useId()
  const toggle = (key: Key): void => {
    const next = chosen.includes(key) ? chosen.filter((each) => each !== key) : [...chosen, key]
    onChange({ by: next.length === 0 ? 'total' : next.join(',') })
  }
  return (
    <div className="row" role="group" aria-labelledby={id}>
      <span id={id} className="reports-keys-label">
        One row for each
      </span>
      {keys.map((key) => {
        const place = chosen.indexOf(key)
        return (
          <button
            key={key}
            type="button"
            className="reports-key"
            aria-pressed={place >= 0}
            onClick={() => toggle(key)}
          >
            {keyNames[key]}
            {place >= 0 && chosen.length > 1 && (
              <span className="reports-key-place">{place + 1}</span>
            )}
          </button>
        )
      })}
    </div>
  )
}

interface NamesProps {
  readonly label: string
  /** Undefined until they are read. */
  readonly names: readonly string[] | undefined
  readonly value: string
  readonly onChange: (value: string) => void
}

function Names({ label, names: known = [], value, onChange }: NamesProps) {
  // A retired one can be asked for by its address.
  const names = value === '' || known.includes(value) ? known : [value, ...known]
  return (
    <SelectField
      label={label}
      value={value}
      options={[['', 'All'], ...names.map((each) => [each, each] as const)]}
      onChange={onChange}
    />
  )
}

interface EnteredFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onEnter: (value: string) => void
}

/** Takes effect with Enter or when the reader goes on: a part of a name is an unknown account. */
function EnteredField({ label, placeholder, value, onEnter }: EnteredFieldProps) {
  const [draft, setDraft] = useState<string>()
  const enter = (): void => {
    if (draft !== undefined && draft.trim() !== value) onEnter(draft.trim())
    setDraft(undefined)
  }
  return (
    <TextField
      label={label}
      placeholder={placeholder}
      value={draft ?? value}
      onChange={setDraft}
      onBlur={enter}
      onKeyDown={({ key }) => {
        if (key === 'Enter') enter()
      }}
    />
  )
}
