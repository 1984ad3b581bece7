/** The statement of an account for a period: its end on the page, the whole of it to download. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { buttonClass } from '../../ui/button.tsx'
import { Card, Figure, Figures, Notice } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { formatDay } from '../../ui/format.ts'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Time, Usd } from '../../ui/values.tsx'
import { readAccountSearch } from './address.ts'
import { statementQuery, type Account, type Period, type Statement } from './queries.ts'
import { statementColumns } from './statement-columns.tsx'

export function StatementTab({ account }: { account: Account }) {
  const search = useSearch({ from: '/shell/accounts/$account' })
  const period = { from: search.from ?? firstOfMonth(), to: search.to ?? today() }
  const { data, error, refetch } = useQuery({
    ...statementQuery(account.id, period),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PeriodFields period={period} />
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={6} />}
      {data !== undefined && error === null && <StatementFigures statement={data} />}
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
        {data !== undefined && error === null && <Lines statement={data} period={period} />}
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
    </div>
  )
}

function StatementFigures({ statement }: { statement: Statement }) {
  const { from, opening_balance: opening, totals, closing_balance: closing } = statement
  return (
    <Figures>
      <Figure
        label="Opening balance"
        value={<Usd value={opening} />}
        note={from === null ? 'at the beginning' : <Time at={from} />}
      />
      <Figure
        label="Charged"
        value={<Usd value={totals.charged} />}
        note={`${totals.requests} ${totals.requests === 1 ? 'request' : 'requests'}`}
      />
      <Figure
        label="Booked by operators"
        value={<Usd value={totals.booked_by_operators} />}
        note={
          <>
            of it <Usd value={totals.refunded} /> refunds
          </>
        }
      />
      <Figure
        label="Closing balance"
        value={<Usd value={closing} />}
        note="opening − charged + booked"
      />
    </Figures>
  )
}

function Lines({ statement, period }: { statement: Statement; period: Period }) {
  const { entries, from, explained_from: explained } = statement
  if (entries.length === 0)
    return <Empty title="Nothing was booked in this period.">Choose other days.</Empty>
  const isEnd = from !== null && Date.parse(from) > Date.parse(period.from)
  return (
    <>
      {isEnd && (
        <div className="statement-notice">
          <Notice>
            The period has more lines. These are the last ones, since <Time at={from} />, with the
            figures above. The files have all lines since {formatDay(period.from)}.
          </Notice>
        </div>
      )}
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
        rows={entries.toReversed()}
        rowKey={({ sequence }) => String(sequence)}
      />
    </>
  )
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

function firstOfMonth(): string {
  return `${today().slice(0, 8)}01`
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
