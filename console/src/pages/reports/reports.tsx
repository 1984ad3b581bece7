/** Reports: requests, tokens, spend, own cost and margin by day, account, key, model and channel. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Figure, Figures } from '../../ui/card.tsx'
import { formatDay } from '../../ui/format.ts'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { noMoney } from '../../ui/money-terms.ts'
import { Page } from '../../ui/page.tsx'
import { Count, Duration, useNow } from '../../ui/values.tsx'
import { daysOf, keysOf, type ReportSearch } from './address.ts'
import { ColumnsMenu } from './columns-menu.tsx'
import { shownWords } from './figures.tsx'
import {
  byOf,
  questionOf,
  reportQuery,
  totalQuery,
  type PartKey,
  type Question,
} from './queries.ts'
import { ReportChart } from './report-chart.tsx'
import { ReportFilters } from './report-filters.tsx'
import { ReportTable } from './report-table.tsx'
import './reports.css'

export function Reports() {
  const search = useSearch({ from: '/shell/reports' })
  const navigate = useNavigate({ from: '/reports' })
  const change = (fields: Partial<ReportSearch>): void => {
    void navigate({ search: (old) => ({ ...old, ...fields }), replace: true })
  }
  const nowMs = useNow(60_000)
  const question = questionOf(search, nowMs)
  const keys = keysOf(search)
  // The list comes first: a SQLite store answers one question after the other.
  const { isFetched: isListRead } = useInfiniteQuery(reportQuery(question, byOf(search)))
  const words = shownWords(search.columns)
  const [firstKey] = keys
  const sort =
    search.sort === undefined
      ? firstKey && { by: firstKey, order: 'asc' as const }
      : { by: search.sort, order: search.order ?? 'desc' }
  return (
    <Page title="Reports" hint="Requests, spend and margin by whole days (UTC).">
      <ReportFilters search={search} days={daysOf(search, nowMs)} onChange={change} />
      <Totals question={question} isListRead={isListRead} />
      <ReportChart
        question={question}
        isListRead={isListRead}
        part={keys.find((key): key is PartKey => key !== 'day')}
        figure={search.chart ?? 'spend'}
        onFigure={(chart) => change({ chart })}
      />
      <ReportTable
        question={question}
        by={byOf(search)}
        keys={keys}
        words={words}
        sort={sort}
        onSort={(next) => change({ sort: next.by, order: next.order })}
        columnsMenu={
          <ColumnsMenu
            shown={words}
            onChange={(chosen) => change({ columns: chosen?.join(',') ?? '' })}
          />
        }
      />
    </Page>
  )
}

function Totals({
  question,
  isListRead,
}: {
  readonly question: Question
  readonly isListRead: boolean
}) {
  const { data } = useQuery({ ...totalQuery(question), enabled: isListRead })
  const total = data ?? undefined
  return (
    <>
      <MoneyEquation
        hint={`${formatDay(question.from)} to ${formatDay(question.to)}, UTC`}
        figures={total ?? noMoney}
      />
      <Figures>
        <Figure label="Requests" value={<Count value={total?.requests ?? 0} />} />
        <Figure label="Errors" value={<Count value={total?.errors ?? 0} />} />
        <Figure
          label="First event, median"
          value={<Duration ms={total?.first_event_p50_ms ?? null} />}
        />
      </Figures>
    </>
  )
}
