/** The period of the list. Times are entered in the reader's zone; the address has them in UTC. */
import { t } from '../../messages/t.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import type { RequestFilter } from './address.ts'

const words = ['live', '15m', '1h', '24h', 'yesterday', '7d', 'between'] as const
type Word = (typeof words)[number]

const hourMs = 3_600_000

interface PeriodProps {
  readonly filter: RequestFilter
  readonly onChange: (changes: {
    readonly last: string | undefined
    readonly from: string | undefined
    readonly to: string | undefined
  }) => void
}

export function Period({ filter: { last, from, to }, onChange }: PeriodProps) {
  const value = last ?? (from === undefined && to === undefined ? 'live' : 'between')
  const none = { last: undefined, from: undefined, to: undefined }
  const choose = (chosen: Word): void => {
    const hourAgo = new Date(Date.now() - hourMs).toISOString()
    if (chosen === 'live') onChange(none)
    else if (chosen === 'between') onChange({ ...none, from: from ?? hourAgo, to })
    else onChange({ ...none, last: chosen })
  }
  return (
    <>
      <div className="list-filter" data-kind="choice" data-set={value !== 'live'}>
        <SelectField
          label={t('requests.period')}
          value={value}
          options={words.map((word) => [word, t(`requests.periods.${word}`)] as const)}
          onChange={choose}
        />
      </div>
      {value === 'between' &&
        (['from', 'to'] as const).map((end) => (
          <div key={end} className="list-filter" data-kind="moment" data-set="true">
            <TextField
              label={t(`requests.${end}`)}
              type="datetime-local"
              value={localText({ from, to }[end])}
              onChange={(text) => onChange({ ...none, from, to, [end]: momentOf(text) })}
            />
          </div>
        ))}
    </>
  )
}

function momentOf(text: string): string | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** A moment as the input wants it: the reader's zone, without seconds. */
function localText(moment: string | undefined): string {
  const ms = Date.parse(moment ?? '')
  if (Number.isNaN(ms)) return ''
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
