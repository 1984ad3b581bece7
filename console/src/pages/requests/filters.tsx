/** The filters of the list. Each is in the address. */
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { accountNamesQuery, channelNamesQuery, modelNamesQuery } from '../../api/names.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { SuggestField, type Suggestion } from '../../ui/suggest-field.tsx'
import type { ListSearch, SearchChanges } from './address.ts'

interface FiltersProps {
  readonly search: ListSearch
  readonly onChange: (changes: SearchChanges) => void
}

export function Filters({ search, onChange }: FiltersProps) {
  /** Suggestions are read when somebody looks for one. */
  const [isUsed, setIsUsed] = useState(false)
  const [typed, setTyped] = useState('')
  const accounts = useQuery({ ...accountNamesQuery(typed), enabled: isUsed })
  const models = useQuery({ ...modelNamesQuery, enabled: isUsed })
  const channels = useQuery({ ...channelNamesQuery, enabled: isUsed })
  const field = (
    name: keyof ListSearch & ('account' | 'model' | 'channel' | 'status' | 'code'),
  ) => ({
    value: search[name] ?? '',
    onApply: (value: string) => onChange({ [name]: value === '' ? undefined : value }),
  })
  return (
    <div className="filters" role="group" aria-label="Filters" onFocus={() => setIsUsed(true)}>
      <SuggestField
        label="Account"
        placeholder="Name or id"
        suggestions={suggestionsOf(accounts.data)}
        onTyped={setTyped}
        {...field('account')}
      />
      <SuggestField label="Model" suggestions={suggestionsOf(models.data)} {...field('model')} />
      <SuggestField
        label="Channel"
        suggestions={suggestionsOf(channels.data)}
        {...field('channel')}
      />
      <SuggestField
        label="Status"
        placeholder="402 or 4xx"
        suggestions={statuses}
        {...field('status')}
      />
      <SuggestField
        label="Error code"
        placeholder="ledger.…"
        suggestions={codes}
        {...field('code')}
      />
      <Period search={search} onChange={onChange} />
      {search.key !== undefined && (
        <Button onClick={() => onChange({ key: undefined })}>
          <X aria-hidden /> Only key <code className="requests-key">{search.key}</code>
        </Button>
      )}
      {Object.keys(search).length > 0 && (
        <Button look="quiet" onClick={() => onChange(none)}>
          Clear all
        </Button>
      )}
    </div>
  )
}

const none = {
  account: undefined,
  key: undefined,
  model: undefined,
  channel: undefined,
  status: undefined,
  code: undefined,
  last: undefined,
  from: undefined,
  to: undefined,
}

const statuses: readonly Suggestion[] = [
  { value: '2xx', text: 'Answered' },
  { value: '4xx', text: 'Refused' },
  { value: '5xx', text: 'Failed' },
  { value: '402', text: 'Out of balance' },
  { value: '429', text: 'A limit was reached' },
  { value: '499', text: 'The client left' },
]

const codes: readonly Suggestion[] = [
  'access.rate_limited',
  'access.tokens_limited',
  'ledger.insufficient_balance',
  'ledger.unavailable',
  'relay.model_unknown',
  'relay.no_channel_available',
  'relay.request_invalid',
  'relay.upstream_failed',
  'relay.upstream_throttled',
  'relay.upstream_timeout',
].map((value) => ({ value }))

function suggestionsOf(names: readonly string[] = []): readonly Suggestion[] {
  return names.map((value) => ({ value }))
}

const periods = [
  ['live', 'Now, live'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['yesterday', 'Yesterday'],
  ['7d', 'Last 7 days'],
  ['between', 'Between…'],
] as const

const hourMs = 3_600_000

/** Times are entered in the reader's zone; the address has them in UTC. */
function Period({ search: { last, from, to }, onChange }: FiltersProps) {
  const value = last ?? (from === undefined && to === undefined ? 'live' : 'between')
  const choose = (chosen: (typeof periods)[number][0]): void => {
    if (chosen === 'live') onChange({ last: undefined, from: undefined, to: undefined })
    else if (chosen === 'between') {
      const begin = from ?? new Date(Date.now() - hourMs).toISOString()
      onChange({ last: undefined, from: begin, to })
    } else onChange({ last: chosen, from: undefined, to: undefined })
  }
  return (
    <>
      <SelectField label="Period" value={value} options={periods} onChange={choose} />
      {value === 'between' && (
        <>
          <Moment label="From" value={from} onApply={(moment) => onChange({ from: moment })} />
          <Moment label="To" value={to} onApply={(moment) => onChange({ to: moment })} />
        </>
      )}
    </>
  )
}

interface MomentProps {
  readonly label: string
  readonly value: string | undefined
  readonly onApply: (moment: string | undefined) => void
}

function Moment({ label, value, onApply }: MomentProps) {
  return (
    <TextField
      label={label}
      type="datetime-local"
      value={localText(value)}
      onChange={(text) => {
        const ms = Date.parse(text)
        onApply(Number.isNaN(ms) ? undefined : new Date(ms).toISOString())
      }}
    />
  )
}

/** A moment as the input wants it: the reader's zone, without seconds. */
function localText(moment: string | undefined): string {
  const ms = Date.parse(moment ?? '')
  if (Number.isNaN(ms)) return ''
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
