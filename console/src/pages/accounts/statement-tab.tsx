/** The statement of an account for a period: its figures, its lines page by page, all of it to download. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { StatementFigures } from '../../figures/statement.tsx'
import { t } from '../../messages/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Badge, Notice, type Tone } from '../../ui/card.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import type { Period } from '../../ui/range.ts'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Time, Usd } from '../../ui/values.tsx'
import { statementFiguresQuery, statementQuery, type Account, type Entry } from './queries.ts'

const tones: Readonly<Record<Entry['kind'], Tone>> = {
  charge: 'neutral',
  credit: 'good',
  adjustment: 'warn',
  refund: 'accent',
}

const statementList = defineList<Entry>({
  name: 'statement',
  caption: t('accounts.statement'),
  rowKey: ({ sequence }) => String(sequence),
  columns: [
    { id: 'time', name: t('accounts.time'), place: 'note', cell: ({ at }) => <Time at={at} /> },
    {
      id: 'kind',
      name: t('accounts.kind'),
      place: 'state',
      cell: ({ kind }) => <Badge tone={tones[kind]}>{t(`figures.entries.${kind}`)}</Badge>,
    },
    { id: 'what', name: t('accounts.what'), place: 'name', cell: (entry) => <What of={entry} /> },
    {
      id: 'amount',
      name: t('accounts.amount'),
      isNumber: true,
      place: 'amount',
      cell: ({ amount }) => <Usd value={amount} signed places={6} />,
    },
    {
      id: 'balance',
      name: t('accounts.balance'),
      isNumber: true,
      cell: ({ balance }) => <Usd value={balance} places={2} />,
    },
  ],
  empty: <Empty title={t('accounts.nothingBookedTitle')}>{t('accounts.nothingBooked')}</Empty>,
})

function What({ of: { request, reference, note, exchange } }: { of: Entry }) {
  return (
    <>
      {request === null ? (
        reference
      ) : (
        <Link to="/requests/$request" params={{ request }}>
          {exchange === null
            ? t('accounts.requestId', { id: request })
            : `${exchange.model} · ${exchange.key}`}
        </Link>
      )}
      {exchange !== null && <div className="soft small">{exchange.calculation}</div>}
      {note !== null && <div className="soft small">{note}</div>}
    </>
  )
}

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
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = lines
  const explained = data?.pages.at(-1)?.explained_from ?? null
  return (
    <>
      {figures.error !== null ? (
        <Failure error={figures.error} onRetry={() => void figures.refetch()} />
      ) : figures.data === undefined ? (
        <Loading rows={2} />
      ) : (
        <StatementFigures of={sumsOf(figures.data)} />
      )}
      {explained !== null && (
        <Notice>{t.rich('accounts.notExplained', { time: () => <Time at={explained} /> })}</Notice>
      )}
      <List
        of={statementList}
        title={t('accounts.lines')}
        hint={t('accounts.linesHint')}
        actions={
          <>
            <DownloadLink {...props} format="csv" />
            <DownloadLink {...props} format="json" />
          </>
        }
        list={{
          rows: data?.pages.flatMap(({ entries }) => entries.toReversed()),
          error,
          retry: () => void refetch(),
          more: {
            hasMore: hasNextPage,
            isBusy: isFetchingNextPage,
            onMore: () => void fetchNextPage(),
          },
        }}
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
