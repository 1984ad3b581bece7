/** One account: balance, spend, limits, and tabs with its keys, requests, statement and alerts. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Card, Facts, Figure, Figures, Notice } from '../../ui/card.tsx'
import { formatUsd } from '../../ui/format.ts'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { noMoney } from '../../ui/money-terms.ts'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Time, Usd } from '../../ui/values.tsx'
import { limitsText } from './account-columns.tsx'
import { AccountActions } from './account-actions.tsx'
import { SpendCharts } from './account-charts.tsx'
import type { AccountTab } from './address.ts'
import { AlertsTab } from './alerts-tab.tsx'
import { KeysTab } from './keys-tab.tsx'
import { accountMoneyQuery, accountQuery, type Account } from './queries.ts'
import { RequestsTab } from './requests-tab.tsx'
import { standingOf, StatusBadge } from './state.tsx'
import { StatementTab } from './statement-tab.tsx'
import './account.css'

const tabs: readonly (readonly [AccountTab, string])[] = [
  ['keys', 'Keys'],
  ['requests', 'Requests'],
  ['statement', 'Statement'],
  ['alerts', 'Alerts'],
  ['details', 'Details'],
]

export function AccountPage() {
  const { account: reference } = useParams({ from: '/shell/accounts/$account' })
  const { tab = 'keys' } = useSearch({ from: '/shell/accounts/$account' })
  const { data } = useSuspenseQuery(accountQuery(reference))
  const { account } = data
  return (
    <Page
      title={account.name}
      trail={<Link to="/accounts">Accounts</Link>}
      hint={<StatusBadge account={account} />}
      actions={<AccountActions tagged={data} />}
    >
      <Standing account={account} />
      <AccountFigures account={account} />
      <AccountMoney account={account} />
      <SpendCharts account={account} />
      <Tabs label="About this account" tabs={tabs} current={tab} />
      {tab === 'keys' && <KeysTab account={account} />}
      {tab === 'requests' && <RequestsTab account={account} />}
      {tab === 'statement' && <StatementTab account={account} />}
      {tab === 'alerts' && <AlertsTab account={account} />}
      {tab === 'details' && <Details account={account} />}
    </Page>
  )
}

/** What keeps the account from sending requests, or soon will. */
function Standing({ account }: { account: Account }) {
  switch (standingOf(account)) {
    case 'active':
      return null
    case 'low':
      return (
        <Notice tone="warn">
          The balance is low: it is below the alert threshold, or below the spend since yesterday.
          Book a credit.
        </Notice>
      )
    case 'exhausted':
      return (
        <Notice tone="bad">
          There is no balance. Requests that cost something get status 402. Book a credit.
        </Notice>
      )
    case 'suspended':
      return <Notice tone="warn">Suspended: every request of its keys gets status 403.</Notice>
    case 'closed':
      return (
        <Notice>
          Closed
          {account.closed_at !== null && (
            <>
              {' '}
              <Time at={account.closed_at} />
            </>
          )}
          : it sends no requests and takes no credits. Its figures stay.
        </Notice>
      )
  }
}

function AccountFigures({ account }: { account: Account }) {
  const { balance_usd: balance, held_usd: held, limits, spend } = account
  const { credit_line_usd: line } = limits
  const hasDaily = /[1-9]/.test(limits.daily_usd)
  return (
    <Figures>
      <Figure
        label="Balance"
        value={<Usd value={balance} />}
        note="credits and refunds less charges"
      />
      <Figure
        label="Credit line"
        value={<Usd value={line} />}
        note={/[1-9]/.test(line) ? 'how far the balance may go below zero' : 'prepaid'}
      />
      <Figure
        label="Held"
        value={<Usd value={held} />}
        note={
          <>
            by running requests; <Usd value={account.available_usd} /> available
          </>
        }
      />
      <Figure
        label="Net spend today"
        value={<Usd value={spend.today_usd} />}
        note={
          hasDaily
            ? `of ${formatUsd(limits.daily_usd)} until 00:00 UTC`
            : 'spend less refunds; no daily limit'
        }
      />
      <Figure
        label="Net spend of 30 days"
        value={<Usd value={spend.total_usd} />}
        note="spend less refunds"
      />
      <Figure
        label="Limits"
        value={<LimitsInShort account={account} />}
        note={pricesText(limits)}
      />
    </Figures>
  )
}

/** Checks belong to no account. */
function AccountMoney({ account: { id, spend } }: { account: Account }) {
  const { data } = useQuery(accountMoneyQuery(id, { from: spend.from, to: spend.to }))
  return <MoneyEquation hint="The last 30 days" figures={data ?? noMoney} />
}

function LimitsInShort({ account: { limits } }: { account: Account }) {
  return <span className="account-limits">{limitsText(limits)}</span>
}

function pricesText({
  price_multiplier: factor,
  window_minutes: minutes,
}: Account['limits']): string {
  const window = minutes === 1 ? '' : ` · window of ${minutes} min`
  return `${factor === 1 ? 'list prices' : `${factor} × list prices`}${window}`
}

function Details({ account }: { account: Account }) {
  const { id, contact, note, external_id: externalId } = account
  return (
    <Card title="Details" hint="Edit changes them.">
      <Facts
        items={[
          ['Id', <code key="id">{id}</code>],
          ['External id', externalId ?? 'none'],
          ['Contact', contact === '' ? 'none' : contact],
          ['Alert below', <Usd key="below" value={account.alert_below_usd} />],
          ['Created', <Time key="created" at={account.created_at} />],
          ['Note', note === '' ? 'none' : note],
        ]}
      />
    </Card>
  )
}
