/** The first view: money, limits, and where the spend of a period went, by day, by model, by key. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Card, Figure, Figures, Notice } from '../ui/card.tsx'
import { Chart, type Series } from '../ui/chart.tsx'
import { sumUsd, usdText } from '../ui/exact.ts'
import { formatUsdExact } from '../ui/format.ts'
import { Columns, Stack } from '../ui/layout.tsx'
import { listDays, type Period, type RangeChange } from '../ui/range.ts'
import { useDays } from '../ui/range.tsx'
import { BarList } from '../ui/small-charts.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { Usd } from '../ui/values.tsx'
import { goTo, useAddress, ViewLink, type Address } from './address.tsx'
import type { Account, DayLine } from './answers.ts'
import { Limits } from './limits.tsx'
import { daysQuery, useAccount } from './read.ts'

export function Overview() {
  const { data: account } = useAccount()
  if (account === undefined) return null
  return (
    <>
      <Money account={account} />
      <Limits of={account}>
        {(rates) => (
          <>
            {account.limits.length === 0 && <p className="soft">{t('account.noSpendingLimit')}</p>}
            <p className="soft">
              {rates === '' ? t('account.noRates') : `${rates}.`}{' '}
              {t.rich('account.keysToo', {
                link: (text) => <ViewLink to={{ view: 'keys' }}>{text}</ViewLink>,
              })}
            </p>
          </>
        )}
      </Limits>
      <Spend />
    </>
  )
}

function Money({
  account: { balance, credit_line: line, held, available, used },
}: {
  account: Account
}) {
  const hasLine = /[1-9]/.test(line)
  const isEmpty = !hasLine && (!/[1-9]/.test(balance) || balance.startsWith('-'))
  const figures: readonly (readonly [label: string, usd: string | null, note: string])[] = [
    [
      t('account.available'),
      available ?? balance,
      t(held === null ? 'account.runningNotCounted' : 'account.forNewRequests'),
    ],
    [t('account.balance'), balance, t('account.balanceNote')],
    ...(hasLine ? [[t('account.creditLine'), line, t('account.creditLineNote')] as const] : []),
    [t('account.held'), held, t('account.heldNote')],
    [t('account.spentToday'), usdText(used.day_usd), t('account.sinceMidnight')],
    [t('account.spentMonth'), usdText(used.month_usd), t('account.sinceFirst')],
  ]
  return (
    <>
      {isEmpty && <Notice tone="warn">{t('account.usedUp')}</Notice>}
      <Figures>
        {figures.map(([label, usd, note]) => (
          <Figure key={label} label={label} value={<Usd value={usd} />} note={note} />
        ))}
      </Figures>
    </>
  )
}

const parts = [
  {
    by: 'model',
    title: t('account.spendByModel'),
    idOf: ({ model }: DayLine) => model ?? '',
  },
  { by: 'key', title: t('account.spendByKey'), idOf: ({ key_id: id }: DayLine) => id ?? '' },
] as const

function Spend() {
  const address = useAddress()
  const change = (range: RangeChange): void => goTo({ ...address, ...range }, { replaces: true })
  const { period, words, picker } = useDays({ value: address, usual: '30d', onChange: change })
  const byModel = useQuery({ ...daysQuery('model', period), placeholderData: keepPreviousData })
  const byKey = useQuery({ ...daysQuery('key', period), placeholderData: keepPreviousData })
  return (
    <>
      {picker}
      <Card
        title={t('account.spendByDay')}
        hint={t('account.byModelHint', { period: words })}
        actions={
          <ViewLink to={{ view: 'requests', range: 'yesterday', sort: 'cost' }}>
            {t('account.mostYesterday')}
          </ViewLink>
        }
      >
        <Shown query={byModel}>
          {(lines) => <SpendByDay period={period} lines={lines} onPeriod={change} />}
        </Shown>
      </Card>
      <Columns>
        {parts.map(({ by, title, idOf }) => (
          <Card key={by} title={title} hint={words}>
            <Shown query={by === 'model' ? byModel : byKey} rows={4}>
              {(lines) => (
                <Shares
                  label={title}
                  totals={totalsOf(lines, idOf)}
                  address={({ id }) => ({ ...address, view: 'requests', [by]: id, sort: 'cost' })}
                />
              )}
            </Shown>
          </Card>
        ))}
      </Columns>
    </>
  )
}

const modelsShown = 6

interface SpendProps {
  readonly period: Period
  readonly lines: readonly DayLine[]
  readonly onPeriod: (range: RangeChange) => void
}

/** Each day leads to its requests, the dearest first. */
function SpendByDay({ period, lines, onPeriod }: SpendProps) {
  if (lines.length === 0) return <NoSpend />
  const days = listDays(period)
  const ranked = totalsOf(lines, ({ model }) => model ?? '').map(({ id }) => id)
  const shown = ranked.length <= modelsShown + 1 ? ranked : ranked.slice(0, modelsShown)
  const ofDay = Map.groupBy(lines, ({ day }) => day)
  const seriesOf = (name: string, isIn: (model: string) => boolean): Series => ({
    name,
    kind: 'bars',
    values: days.map((day) => {
      const costs = (ofDay.get(day) ?? []).filter(({ model }) => isIn(model ?? ''))
      return Number(sumUsd(costs.map(({ cost }) => cost)))
    }),
  })
  return (
    <Chart
      label={t('account.spendByDayAndModel')}
      isStacked
      times={days.map((day) => Date.parse(day) / 1_000)}
      unit="day"
      figure="usd"
      exact={(value) => formatUsdExact(usdText(value))}
      series={[
        ...shown.map((name) => seriesOf(name, (model) => model === name)),
        ...(shown.length < ranked.length
          ? [seriesOf(t('account.otherModels'), (model) => !shown.includes(model))]
          : []),
      ]}
      onPeriod={(chosen) => onPeriod({ range: undefined, ...chosen })}
      onOpen={(day) => goTo({ view: 'requests', sort: 'cost', ...day })}
    />
  )
}

interface Total {
  readonly id: string
  readonly first: DayLine
  readonly cost: string
  readonly requests: number
}

/** The largest first. */
function totalsOf(lines: readonly DayLine[], idOf: (line: DayLine) => string): readonly Total[] {
  const totals = [...Map.groupBy(lines, idOf)].flatMap(([id, of]): Total[] => {
    const [first] = of
    if (first === undefined) return []
    const requests = of.reduce((sum, line) => sum + line.requests, 0)
    return [{ id, first, cost: sumUsd(of.map(({ cost }) => cost)), requests }]
  })
  return totals.sort((one, other) => Number(other.cost) - Number(one.cost))
}

const barsShown = 10

interface SharesProps {
  readonly label: string
  readonly totals: readonly Total[]
  readonly address: (total: Total) => Address
}

function Shares({ label, totals, address }: SharesProps): ReactNode {
  if (totals.length === 0) return <NoSpend />
  const hidden = totals.slice(barsShown)
  return (
    <Stack>
      <BarList
        label={label}
        bars={totals.slice(0, barsShown).map((total) => ({
          id: total.id,
          name: <ViewLink to={address(total)}>{total.first.key ?? total.id}</ViewLink>,
          value: Number(total.cost),
          text: (
            <>
              <span className="soft small">{t('figures.requests', { count: total.requests })}</span>{' '}
              <Usd value={total.cost} places={2} />
            </>
          ),
        }))}
      />
      {hidden.length > 0 && (
        <p className="soft">
          {t.rich('account.moreShares', {
            count: hidden.length,
            amount: () => <Usd value={sumUsd(hidden.map(({ cost }) => cost))} />,
          })}
        </p>
      )}
    </Stack>
  )
}

function NoSpend() {
  return (
    <Empty title={t('account.noSpend')}>
      <ViewLink to={{ view: 'setup' }}>{t('account.setUpClient')}</ViewLink>
    </Empty>
  )
}
