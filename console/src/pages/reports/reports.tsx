/** Reports: requests, tokens, spend, own cost and margin by day, account, key, model and channel. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useId } from 'react'
import { t } from '../../messages/t.ts'
import { compact } from '../../search.ts'
import { Button } from '../../ui/button.tsx'
import { Figure, Figures } from '../../ui/card.tsx'
import { CheckField } from '../../ui/field.tsx'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { noMoney } from '../../ui/money-terms.ts'
import { Page } from '../../ui/page.tsx'
import { dayPresets, periodBefore } from '../../ui/range.ts'
import { daysText, RangePicker } from '../../ui/range.tsx'
import { useNow } from '../../ui/values.tsx'
import {
  keys as allKeys,
  keysOf,
  type Key,
  type ReportSearch,
  type SearchChanges,
} from './address.ts'
import { FigureCell, figureColumns, type Word } from './figures.tsx'
import {
  byOf,
  csvAddress,
  questionOf,
  reportQuery,
  sortOf,
  totalQuery,
  type PartKey,
  type Question,
  type ReportRow,
} from './queries.ts'
import { ReportChart } from './report-chart.tsx'
import { choiceOf, filters, reportList, wordsOf } from './report-list.tsx'
import { Views } from './views.tsx'
import { listOf } from '../../ui/list/pages.ts'

interface PartProps {
  readonly search: ReportSearch
  readonly onChange: (changes: SearchChanges) => void
}

export function Reports() {
  const search = useSearch({ from: '/shell/reports' })
  const navigate = useNavigate({ from: '/reports' })
  const change = (changes: SearchChanges): void => {
    void navigate({ search: (old) => compact({ ...old, ...changes }), replace: true })
  }
  const { compare } = search
  const question = questionOf(search, useNow(60_000))
  const keys = keysOf(search)
  // The list comes first: a SQLite store answers one question after the other.
  const report = useInfiniteQuery(
    reportQuery({ question, by: byOf(search), sort: sortOf(search), compare }),
  )
  const isListRead = report.isFetched
  const { data: total = null } = useQuery({ ...totalQuery(question, compare), enabled: isListRead })
  return (
    <Page title={t('reports.title')} hint={t('reports.hint')} actions={<Views search={search} />}>
      <KeyChoice search={search} onChange={change} />
      <Filters filters={filters} values={search} onChange={change}>
        <RangePicker value={search} unit="day" presets={dayPresets} usual="30d" onChange={change} />
        <CheckField
          label={t('reports.compare')}
          value={compare !== undefined}
          onChange={(isCompared) => change({ compare: isCompared ? 'before' : undefined })}
        />
      </Filters>
      <Totals question={question} total={total} compare={compare} />
      <ReportChart
        question={question}
        isListRead={isListRead}
        part={keys.find((key): key is PartKey => key !== 'day')}
        figure={search.chart ?? 'spend'}
        compare={compare}
        onFigure={(chart) => change({ chart })}
        onPeriod={(period) => change({ range: undefined, ...period })}
      />
      <div aria-busy={report.isPlaceholderData}>
        <List
          of={reportList(keys, question)}
          list={listOf(report, ({ items }) => items)}
          hint={daysText(question)}
          sort={sortOf(search)}
          onSort={({ by: sort, order }) => change({ sort, order })}
          columns={{
            choice: choiceOf(search.columns),
            onChoose: (choice) => change({ columns: wordsOf(choice) }),
          }}
          total={keys.length === 0 ? undefined : (total ?? undefined)}
          csv={csvAddress(question, byOf(search))}
        />
      </div>
    </Page>
  )
}

/** The rows are grouped by the keys in the order in which they were chosen. */
function KeyChoice({ search, onChange }: PartProps) {
  const chosen = keysOf(search)
  const id = useId()
  const toggle = (key: Key): void => {
    const next = chosen.includes(key) ? chosen.filter((each) => each !== key) : [...chosen, key]
    // The rows may be sorted by a column that is gone.
    const sort = allKeys.some((each) => each === search.sort) ? { sort: undefined } : {}
    onChange({ by: next.length === 0 ? 'total' : next.join(','), ...sort })
  }
  return (
    <div className="row" role="group" aria-labelledby={id}>
      <strong id={id}>{t('reports.oneRowFor')}</strong>
      {allKeys.map((key) => {
        const place = chosen.indexOf(key)
        return (
          <Button key={key} aria-pressed={place >= 0} onClick={() => toggle(key)}>
            {t(`reports.keys.${key}`)}
            {place >= 0 && chosen.length > 1 && <small>{place + 1}</small>}
          </Button>
        )
      })}
    </div>
  )
}

interface TotalsProps {
  readonly question: Question
  readonly total: ReportRow | null
  readonly compare: 'before' | undefined
}

const totalWords: readonly Word[] = [
  'revenue_usd',
  'known_margin_usd',
  'margin_rate',
  'requests',
  'errors',
  'first_event_p50_ms',
]

function Totals({ question, total, compare }: TotalsProps) {
  const hint = daysText(question)
  const compared = t('reports.comparedWith', { period: daysText(periodBefore(question)) })
  return (
    <>
      <MoneyEquation
        hint={compare === undefined ? hint : `${hint}. ${compared}`}
        figures={total ?? noMoney}
      />
      <Figures>
        {figureColumns
          .filter(({ word }) => totalWords.includes(word))
          .map((column) => (
            <Figure
              key={column.word}
              label={column.name}
              value={total === null ? '–' : <FigureCell row={total} column={column} />}
            />
          ))}
      </Figures>
    </>
  )
}
