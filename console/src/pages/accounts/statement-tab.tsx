/** The statement of an account for a period: its figures, its lines page by page, all of it to download. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { StatementFigures, statementList } from '../../figures/statement.tsx'
import { t } from '../../messages/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { List } from '../../ui/list/list.tsx'
import type { Period } from '../../ui/range.ts'
import { Shown } from '../../ui/states.tsx'
import { Time } from '../../ui/values.tsx'
import { statementFiguresQuery, statementQuery, type Account } from './queries.ts'
import { listOf } from '../../ui/list/pages.ts'

const lineList = statementList({
  name: 'statement',
  caption: t('accounts.statement'),
  requestLink: (request, text = t('accounts.requestId', { id: request })) => (
    <Link to="/requests/$request" params={{ request }}>
      {text}
    </Link>
  ),
})

interface StatementProps {
  readonly account: Account
  readonly period: Period
}

export function StatementTab(props: StatementProps) {
  const { account, period } = props
  const figures = useQuery({
    ...statementFiguresQuery(account.id, period),
    placeholderData: keepPreviousData,
  })
  const lines = useInfiniteQuery({
    ...statementQuery(account.id, period),
    placeholderData: keepPreviousData,
  })
  const explained = lines.data?.pages.at(-1)?.explained_from ?? null
  return (
    <>
      <Shown query={figures} rows={2}>
        {(sums) => <StatementFigures of={sumsOf(sums)} />}
      </Shown>
      {explained !== null && (
        <Notice>{t.rich('accounts.notExplained', { time: () => <Time at={explained} /> })}</Notice>
      )}
      <List
        of={lineList}
        title={t('accounts.lines')}
        hint={t('accounts.linesHint')}
        actions={
          <>
            <DownloadLink {...props} format="csv" />
            <DownloadLink {...props} format="json" />
          </>
        }
        list={listOf(lines, ({ entries }) => entries.toReversed())}
      />
    </>
  )
}

type Figures = Awaited<ReturnType<NonNullable<ReturnType<typeof statementFiguresQuery>['queryFn']>>>

function sumsOf({ from, requests, ...sums }: Figures) {
  return {
    from,
    requests,
    opening: sums.opening_balance_usd,
    charged: sums.charged_usd,
    refunds: sums.refunds_usd,
    credits: sums.credits_usd,
    adjustments: sums.adjustments_usd,
    closing: sums.closing_balance_usd,
  }
}

/** The browser writes the file while the gateway sends it, so that its length does not matter. */
function DownloadLink({ account, period, format }: StatementProps & { format: 'csv' | 'json' }) {
  const query = new URLSearchParams({ ...period, format }).toString()
  return (
    <a
      className={buttonClass()}
      href={`/admin/v1/accounts/${encodeURIComponent(account.id)}/statement?${query}`}
      download={`${account.name} ${period.from} ${period.to}.${format}`}
    >
      <Download aria-hidden /> {format.toUpperCase()}
    </a>
  )
}
