/** One account: balance, spend, limits, and tabs with all that belongs to it. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { languageNames } from '../../messages/language.ts'
import { t } from '../../messages/t.ts'
import { Card, Facts, Figure, Figures } from '../../ui/card.tsx'
import { formatUsd } from '../../ui/format.ts'
import { Page } from '../../ui/page.tsx'
import type { Preset, RangeChange } from '../../ui/range.ts'
import { useDays } from '../../ui/range.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Time, Usd } from '../../ui/values.tsx'
import { AccountActions } from './account-actions.tsx'
import { limitsText } from './accounts.tsx'
import { readAccountSearch } from './address.ts'
import { SpendCharts } from './charts.tsx'
import { Past } from '../audit/activity.tsx'
import { AlertsTab, RequestsTab } from './events-tabs.tsx'
import { KeysTab } from './keys-tab.tsx'
import { accountQuery, type Account } from './queries.ts'
import { StandingNotice, StatusBadge } from './standing.tsx'
import { StatementTab } from './statement-tab.tsx'

export function AccountPage() {
  const { account: reference } = useParams({ from: '/shell/accounts/$account' })
  const { tab = 'keys' } = useSearch({ from: '/shell/accounts/$account' })
  const { data } = useSuspenseQuery(accountQuery(reference))
  const { account } = data
  return (
    <Page
      title={account.name}
      trail={<Link to="/accounts">{t('accounts.title')}</Link>}
      hint={<StatusBadge account={account} />}
      actions={<AccountActions tagged={data} />}
    >
      <StandingNotice account={account} />
      <AccountFigures account={account} />
      {/* A statement has figures and a period that are its own. */}
      {tab !== 'statement' && <Spend account={account} />}
      <Tabs
        label={t('accounts.about')}
        current={tab}
        tabs={{
          keys: { text: t('accounts.tabs.keys'), content: <KeysTab account={account} /> },
          requests: {
            text: t('accounts.tabs.requests'),
            content: <RequestsTab account={account} />,
          },
          statement: {
            text: t('accounts.tabs.statement'),
            content: <Statement account={account} />,
          },
          alerts: { text: t('accounts.tabs.alerts'), content: <AlertsTab account={account} /> },
          activity: {
            text: t('accounts.tabs.activity'),
            content: <Past of={{ account: account.id }} />,
          },
          details: { text: t('accounts.tabs.details'), content: <Details account={account} /> },
        }}
      />
    </Page>
  )
}

/** The period in the address, and what chooses another one. */
function usePeriod(usual: Preset, quick: readonly Preset[]) {
  const search = useSearch({ from: '/shell/accounts/$account' })
  const navigate = useNavigate({ from: '/accounts/$account' })
  const change = (range: RangeChange): void =>
    void navigate({ search: readAccountSearch({ ...search, ...range }), replace: true })
  return { ...useDays({ value: search, usual, quick, onChange: change }), change }
}

function Spend({ account: { id } }: { account: Account }) {
  const { period, words, change, picker } = usePeriod('30d', [])
  return (
    <>
      {picker}
      <SpendCharts account={id} period={period} hint={words} onPeriod={change} />
    </>
  )
}

function Statement({ account }: { account: Account }) {
  const { period, picker } = usePeriod('thisMonth', ['thisMonth', 'lastMonth'])
  return (
    <>
      {picker}
      <StatementTab account={account} period={period} />
    </>
  )
}

function AccountFigures({ account }: { account: Account }) {
  const { limits, spend } = account
  const { credit_line_usd: line, daily_usd: daily, monthly_usd: monthly } = limits
  const { price_multiplier: factor } = limits
  const isSet = (usd: string): boolean => /[1-9]/.test(usd)
  const prices =
    factor === 1 ? t('accounts.listPrices') : t('accounts.timesList', { factor: String(factor) })
  const minutes = limits.window_minutes
  return (
    <Figures>
      <Figure
        label={t('accounts.balance')}
        value={<Usd value={account.balance_usd} />}
        note={t(account.has_paid ? 'accounts.balanceNote' : 'accounts.unpaidNote')}
      />
      <Figure
        label={t('accounts.creditLine')}
        value={<Usd value={line} />}
        note={t(isSet(line) ? 'accounts.creditLineHint' : 'accounts.prepaid')}
      />
      <Figure
        label={t('accounts.held')}
        value={<Usd value={account.held_usd} />}
        note={t.rich('accounts.heldNote', {
          amount: () => <Usd value={account.available_usd} />,
        })}
      />
      <Figure
        label={t('accounts.netToday')}
        value={<Usd value={spend.today_usd} />}
        note={
          isSet(daily)
            ? t('accounts.ofLimit', { limit: formatUsd(daily) })
            : t('accounts.noDailyLimit')
        }
      />
      <Figure
        label={t('accounts.netMonth')}
        value={<Usd value={spend.month_usd} />}
        note={
          isSet(monthly)
            ? t('accounts.ofMonthlyLimit', { limit: formatUsd(monthly) })
            : t('accounts.noMonthlyLimit')
        }
      />
      <Figure
        label={t('accounts.netThirtyDays')}
        value={<Usd value={spend.total_usd} />}
        note={t('accounts.netNote')}
      />
      <Figure
        label={t('accounts.limits')}
        value={<div className="small">{limitsText(limits)}</div>}
        note={
          minutes === 1
            ? prices
            : `${prices} · ${t('accounts.windowOf', { minutes: String(minutes) })}`
        }
      />
    </Figures>
  )
}

function Details({ account }: { account: Account }) {
  const { id, contact, language, note, external_id: externalId } = account
  const none = t('accounts.noValue')
  return (
    <Card title={t('accounts.tabs.details')} hint={t('accounts.detailsHint')}>
      <Facts
        items={[
          [t('accounts.id'), <code key="id">{id}</code>],
          [t('accounts.externalId'), externalId ?? none],
          [t('accounts.contact'), contact === '' ? none : contact],
          [t('accounts.language'), languageNames[language]],
          [t('accounts.alertBelow'), <Usd key="below" value={account.alert_below_usd} />],
          [t('accounts.created'), <Time key="created" at={account.created_at} />],
          [t('accounts.note'), note === '' ? none : note],
        ]}
      />
    </Card>
  )
}
