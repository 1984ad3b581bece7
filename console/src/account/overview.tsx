/** The first view: money, limits, and where the spend of the last days went. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Card, Figure, Figures, Notice } from '../ui/card.tsx'
import { Failure, Loading } from '../ui/states.tsx'
import { Usd } from '../ui/values.tsx'
import { useAddress } from './address.ts'
import type { Account } from './forms.ts'
import { BudgetLine } from './budget-line.tsx'
import { daysQuery } from './queries.ts'
import { KeyShares, ModelShares, SpendByDay } from './spend.tsx'
import { usdText } from './usd.ts'
import { ViewLink } from './view-link.tsx'

export function Overview({ account }: { account: Account }) {
  return (
    <>
      <Money account={account} />
      <Limits account={account} />
      <Spend />
    </>
  )
}

function Money({ account }: { account: Account }) {
  const { balance, credit_line: line, held, available, used } = account
  const hasLine = /[1-9]/.test(line)
  const isEmpty = !hasLine && (!/[1-9]/.test(balance) || balance.startsWith('-'))
  return (
    <>
      {isEmpty && (
        <Notice tone="warn">
          The balance is used up. Requests that cost money are refused with 402 until your operator
          adds a credit.
        </Notice>
      )}
      <Figures>
        <Figure
          label="Available"
          value={<Usd value={available ?? balance} />}
          note={held === null ? 'running requests not counted' : 'for new requests'}
        />
        <Figure label="Balance" value={<Usd value={balance} />} note="credits less charges" />
        {hasLine && (
          <Figure
            label="Credit line"
            value={<Usd value={line} />}
            note="how far the balance may go below zero"
          />
        )}
        <Figure label="Held" value={<Usd value={held} />} note="by running requests" />
        <Figure
          label="Spent today"
          value={<Usd value={usdText(used.day_usd)} />}
          note="since 00:00 UTC"
        />
        <Figure
          label="Spent this month"
          value={<Usd value={usdText(used.month_usd)} />}
          note="since the 1st, UTC"
        />
      </Figures>
    </>
  )
}

function Limits({ account }: { account: Account }) {
  const { limits, rpm, window_minutes: windowMinutes, tpm } = account
  const rates = [
    ...(rpm > 0 ? [ratesText(rpm, windowMinutes)] : []),
    ...(tpm > 0 ? [`${tpm.toLocaleString('en-US')} tokens per minute`] : []),
  ]
  return (
    <Card title="Limits">
      <div className="stack">
        {limits.map((limit) => (
          <BudgetLine key={limit.period} budget={limit} />
        ))}
        {limits.length === 0 && <p className="soft">Spending has no daily limit.</p>}
        <p className="soft">
          {rates.length === 0 ? 'Requests per minute have no limit.' : `${rates.join(', ')}.`} Keys
          may have limits too: <ViewLink to={{ view: 'keys' }}>see your keys</ViewLink>.
        </p>
      </div>
    </Card>
  )
}

function ratesText(rpm: number, windowMinutes: number): string {
  const rate = `${rpm.toLocaleString('en-US')} requests per minute`
  return windowMinutes === 1 ? rate : `${rate}, counted over ${windowMinutes} minutes`
}

function Spend() {
  const { days: chosen } = useAddress()
  const count = chosen === '90' ? 90 : 30
  const byModel = useQuery({ ...daysQuery('model', count), placeholderData: keepPreviousData })
  const byKey = useQuery({ ...daysQuery('key', count), placeholderData: keepPreviousData })
  const hint = `The last ${count} days`
  return (
    <>
      <Card title="Spend by day" hint={`${hint} (UTC), by model`} actions={<Span count={count} />}>
        <Shown query={byModel} rows={6}>
          {(data) => <SpendByDay {...data} />}
        </Shown>
      </Card>
      <div className="columns">
        <Card title="Spend by model" hint={hint}>
          <Shown query={byModel} rows={4}>
            {(data) => <ModelShares {...data} />}
          </Shown>
        </Card>
        <Card title="Spend by key" hint={hint}>
          <Shown query={byKey} rows={4}>
            {(data) => <KeyShares {...data} />}
          </Shown>
        </Card>
      </div>
    </>
  )
}

function Span({ count }: { count: number }) {
  return (
    <nav className="holder-span" aria-label="Days of the charts">
      <ViewLink to={{}} isCurrent={count === 30}>
        30 days
      </ViewLink>
      <ViewLink to={{ days: '90' }} isCurrent={count === 90}>
        90 days
      </ViewLink>
    </nav>
  )
}

interface ShownProps<Data> {
  readonly query: {
    readonly data: Data | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  readonly rows: number
  readonly children: (data: Data) => React.ReactNode
}

function Shown<Data>({ query, rows, children }: ShownProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error === null) return <Loading rows={rows} />
  return <Failure error={error} onRetry={() => void refetch()} />
}
