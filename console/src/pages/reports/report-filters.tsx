/** The keys of a report, its period, and the requests that it counts. */
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { accountNamesQuery, channelNamesQuery, modelNamesQuery } from '../../api/names.ts'
import { t } from '../../messages/t.ts'
import { CheckField } from '../../ui/field.tsx'
import { dayPresets } from '../../ui/range.ts'
import { RangePicker } from '../../ui/range.tsx'
import { SuggestField } from '../../ui/suggest-field.tsx'
import { keys, keysOf, type Key, type ReportSearch } from './address.ts'

export type SearchChanges = {
  readonly [Name in keyof ReportSearch]?: ReportSearch[Name] | undefined
}

interface ReportFiltersProps {
  readonly search: ReportSearch
  readonly onChange: (changes: SearchChanges) => void
}

export function ReportFilters({ search, onChange }: ReportFiltersProps) {
  const [typed, setTyped] = useState('')
  const accounts = useQuery(accountNamesQuery(typed))
  const models = useQuery(modelNamesQuery)
  const channels = useQuery(channelNamesQuery)
  const field = (name: PartName, names: readonly string[] = []) => ({
    label: t(`reports.keys.${name}`),
    value: search[name] ?? '',
    suggestions: names.map((value) => ({ value })),
    onApply: (value: string) => onChange({ [name]: value === '' ? undefined : value }),
  })
  return (
    <>
      <KeyChoice search={search} onChange={onChange} />
      <div className="filters">
        <RangePicker
          value={search}
          unit="day"
          presets={dayPresets}
          usual="30d"
          onChange={onChange}
        />
        <SuggestField {...field('model', models.data)} />
        <SuggestField {...field('channel', channels.data)} />
        <SuggestField
          {...field('account', accounts.data)}
          placeholder={t('reports.nameOrId')}
          onTyped={setTyped}
        />
        <SuggestField {...field('key')} placeholder={t('reports.idOfKey')} />
        <CheckField
          label={t('reports.compare')}
          value={search.compare !== undefined}
          onChange={(isCompared) => onChange({ compare: isCompared ? 'before' : undefined })}
        />
      </div>
    </>
  )
}

type PartName = Exclude<Key, 'day'>

/** The rows are grouped by the keys in the order in which they were chosen. */
function KeyChoice({ search, onChange }: ReportFiltersProps) {
  const chosen = keysOf(search)
  const id = useId()
  const toggle = (key: Key): void => {
    const next = chosen.includes(key) ? chosen.filter((each) => each !== key) : [...chosen, key]
    // A column by which the rows were sorted may be gone.
    const sort = keys.some((each) => each === search.sort) ? { sort: undefined } : {}
    onChange({ by: next.length === 0 ? 'total' : next.join(','), ...sort })
  }
  return (
    <div className="row" role="group" aria-labelledby={id}>
      <strong id={id}>{t('reports.oneRowFor')}</strong>
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
            {t(`reports.keys.${key}`)}
            {place >= 0 && chosen.length > 1 && <small>{place + 1}</small>}
          </button>
        )
      })}
    </div>
  )
}
