/** The statement of an account for a period: its figures, its lines page by page, all of it to download. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Figure, Figures, Notice } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { formatInteger } from '../../ui/format.ts'
import { monthOf } from '../../ui/months.ts'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { More, Table } from '../../ui/table.tsx'
import { Time, Usd } from '../../ui/values.tsx'
import { readAccountSearch } from './address.ts'
import {
  statementFiguresQuery,
  statementQuery,
  type Account,
  type Period,
  type StatementFigures,
} from './queries.ts'
import { statementColumns } from './statement-columns.tsx'

export function StatementTab({ account }: { account: Account }) {
  const search = useSearch({ from: '/shell/accounts/$account' })
  const month = monthOf(0)
  const period = { from: search.from ?? month.from, to: search.to ?? month.to }
  const { data, error, refetch } = useQuery({
    ...statementFiguresQuery(account.id, period),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PeriodFields period={period} />
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={2} />}
      {data !== undefined && error === null && <Sums figures={data} />}
      <Card
        title="Lines"
        hint="The newest first, each charge with its calculation"
        isFlush
        actions={
          <>
            <DownloadLink account={account} period={period} format="csv" />
            <DownloadLink account={account} period={period} format="json" />
          </>
        }
      >
        {error === null && <Lines account={account} period={period} />}
      </Card>
    </>
  )
}

function PeriodFields({ period }: { period: Period }) {
  const search = useSearch({ from: '/shell/accounts/$account' })
  const navigate = useNavigate({ from: '/accounts/$account' })
  const change = (changes: Partial<Period>): void =>
    void navigate({ search: readAccountSearch({ ...search, ...changes }), replace: true })
  return (
    <div className="filters">
      <TextField
        label="From"
        type="date"
        value={period.from}
        max={period.to}
        onChange={(from) => change({ from })}
      />
      <TextField
        label="To, included (UTC)"
        type="date"
        value={period.to}
        min={period.from}
        onChange={(to) => change({ to })}
      />
      <Button onClick={() => change(monthOf(0))}>This month</Button>
      <Button onClick={() => change(monthOf(-1))}>Last month</Button>
    </div>
  )
}

function Sums({ figures }: { figures: StatementFigures }) {
  const { from, requests, adjustments_usd: adjustments } = figures
  return (
    <Figures>
      <Figure
        label="Opening balance"
        value={<Usd value={figures.opening_balance_usd} />}
        note={from === null ? 'at the beginning' : <Time at={from} />}
      />
      <Figure
        label="Charged"
        value={<Usd value={figures.charged_usd} />}
        note={`${formatInteger(requests)} ${requests === 1 ? 'request' : 'requests'}`}
      />
      <Figure
        label="Refunds booked"
        value={<Usd value={figures.refunds_usd} />}
        note="on the day of the refund"
      />
      <Figure
        label="Credits"
        value={<Usd value={figures.credits_usd} />}
        note={
          adjustments === '0' ? (
            'no corrections'
          ) : (
            <>
              and <Usd value={adjustments} /> of corrections
            </>
          )
        }
      />
      <Figure
        label="Closing balance"
        value={<Usd value={figures.closing_balance_usd} />}
        note="opening − charged + refunds + credits"
      />
    </Figures>
  )
}

function Lines({ account, period }: { account: Account; period: Period }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    { ...statementQuery(account.id, period), placeholderData: keepPreviousData },
  )
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={6} />
  const lines = data.pages.flatMap(({ entries }) => entries.toReversed())
  if (lines.length === 0 && !hasNextPage)
    return <Empty title="Nothing was booked in this period.">Choose other days.</Empty>
  const explained = data.pages.at(-1)?.explained_from ?? null
  return (
    <>
      {explained !== null && (
        <div className="statement-notice">
          <Notice>
            Charges before <Time at={explained} /> have no details: requests are kept for a limited
            time.
          </Notice>
        </div>
      )}
      <Table
        caption="Statement"
        columns={statementColumns}
        rows={lines}
        rowKey={({ sequence }) => String(sequence)}
      />
      <More
        count={lines.length}
        hasMore={hasNextPage}
        isBusy={isFetchingNextPage}
        onMore={() => void fetchNextPage()}
      />
    </>
  )
}

interface DownloadProps {
  readonly account: Account
  readonly period: Period
  readonly format: 'csv' | 'json'
}

/** The browser writes the file while the gateway sends it, so that its length does not matter. */
function DownloadLink({ account, period, format }: DownloadProps) {
  const query = new URLSearchParams({ ...period, format }).toString()
  const name = `${account.name} ${period.from} ${period.to}.${format}`
  return (
    <a
      className={buttonClass()}
      href={`/admin/v1/accounts/${encodeURIComponent(account.id)}/statement?${query}`}
      download={name}
    >
      <Download aria-hidden /> {format.toUpperCase()}
    </a>
  )
}
