/** Reports: requests, tokens, spend, own cost and margin by day, account, key, model and channel. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { t } from '../../messages/t.ts'
import { compact } from '../../search.ts'
import { Figure, Figures } from '../../ui/card.tsx'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { noMoney } from '../../ui/money-terms.ts'
import { Page } from '../../ui/page.tsx'
import { periodBefore } from '../../ui/range.ts'
import { daysText } from '../../ui/range.tsx'
import { useNow } from '../../ui/values.tsx'
import { keysOf } from './address.ts'
import { FigureCell, figureColumns, shownWords, type Word } from './figures.tsx'
import {
  byOf,
  questionOf,
  reportQuery,
  sortOf,
  totalQuery,
  type PartKey,
  type Question,
} from './queries.ts'
import { ReportChart } from './report-chart.tsx'
import { ReportFilters, type SearchChanges } from './report-filters.tsx'
import { ReportTable } from './report-table.tsx'
import { Views } from './views.tsx'
import './reports.css'

export function Reports() {
  const search = useSearch({ from: '/shell/reports' })
  const navigate = useNavigate({ from: '/reports' })
  const change = (changes: SearchChanges): void => {
    void navigate({ search: (old) => compact({ ...old, ...changes }), replace: true })
  }
  const { compare } = search
  const question = questionOf(search, useNow(60_000))
  const keys = keysOf(search)
  const by = byOf(search)
  const sort = sortOf(search)
  // The list comes first: a SQLite store answers one question after the other.
  const { isFetched: isListRead } = useInfiniteQuery(reportQuery({ question, by, sort, compare }))
  return (
    <Page title={t('reports.title')} hint={t('reports.hint')} actions={<Views search={search} />}>
      <ReportFilters search={search} onChange={change} />
      <Totals question={question} isListRead={isListRead} compare={compare} />
      <ReportChart
        question={question}
        isListRead={isListRead}
        part={keys.find((key): key is PartKey => key !== 'day')}
        figure={search.chart ?? 'spend'}
        compare={compare}
        onFigure={(chart) => change({ chart })}
        onPeriod={(period) => change({ range: undefined, ...period })}
      />
      <ReportTable
        question={question}
        by={by}
        keys={keys}
        words={shownWords(search.columns)}
        sort={sort}
        compare={compare}
        onSort={(next) => change({ sort: next.by, order: next.order })}
        onColumns={(chosen) => change({ columns: chosen?.join(',') })}
      />
    </Page>
  )
}

interface TotalsProps {
  readonly question: Question
  readonly isListRead: boolean
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

function Totals({ question, isListRead, compare }: TotalsProps) {
  const { data } = useQuery({ ...totalQuery(question, compare), enabled: isListRead })
  const hint = daysText(question)
  return (
    <>
      <MoneyEquation
        hint={
          compare === undefined
            ? hint
            : `${hint}. ${t('reports.comparedWith', { period: daysText(periodBefore(question)) })}`
        }
        figures={data ?? noMoney}
      />
      <Figures>
        {figureColumns
          .filter(({ word }) => totalWords.includes(word))
          .map((column) => (
            <Figure
              key={column.word}
              label={column.name}
              value={data == null ? '–' : <FigureCell row={data} column={column} />}
            />
          ))}
      </Figures>
    </>
  )
}
