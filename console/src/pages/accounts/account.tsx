/** One account: balance, spend, limits, and tabs with its keys, requests, statement and alerts. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Card, Facts, Figure, Figures, Notice } from '../../ui/card.tsx'
import { formatUsd } from '../../ui/format.ts'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Time, Usd } from '../../ui/values.tsx'
import { limitsText } from './account-columns.tsx'
import { AccountActions } from './account-actions.tsx'
import { SpendCharts } from './account-charts.tsx'
import type { AccountTab } from './address.ts'
import { AlertsTab } from './alerts-tab.tsx'
import { KeysTab } from './keys-tab.tsx'
import { accountQuery, type Account } from './queries.ts'
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
  const hasDaily = /[1-9]/.test(limits.daily_usd)
  return (
    <Figures>
      <Figure
        label="Balance"
        value={<Usd value={balance} />}
        note={
          held !== null && /[1-9]/.test(held) ? (
            <>
              <Usd value={account.available_usd} /> available, <Usd value={held} /> held
            </>
          ) : (
            'all of it available'
          )
        }
      />
      <Figure
        label="Spend today"
        value={<Usd value={spend.today_usd} />}
        note={hasDaily ? `of ${formatUsd(limits.daily_usd)} until 00:00 UTC` : 'no daily limit'}
      />
      <Figure
        label="Spend of 30 days"
        value={<Usd value={spend.total_usd} />}
        note="charges less refunds"
      />
      <Figure
        label="Limits"
        value={<LimitsInShort account={account} />}
        note={pricesText(limits)}
      />
    </Figures>
  )
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
