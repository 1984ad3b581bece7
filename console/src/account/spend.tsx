/** Pictures of the spend: by day with the largest models, and as a list of models and keys. */
import type { ReactNode } from 'react'
import { Chart, type Series } from '../ui/chart.tsx'
import { sumUsd } from '../ui/exact.ts'
import { formatUsdExact } from '../ui/format.ts'
import { BarList } from '../ui/small-charts.tsx'
import { Empty } from '../ui/states.tsx'
import { Count, Usd } from '../ui/values.tsx'
import type { DayLine } from './forms.ts'
import { usdText } from './usd.ts'
import { ViewLink } from './view-link.tsx'

interface SpendProps {
  readonly days: readonly string[]
  readonly lines: readonly DayLine[]
}

const modelsShown = 6
const barsShown = 10
const others = 'Other models'

export function SpendByDay({ days, lines }: SpendProps) {
  if (lines.length === 0) return <NoSpend />
  const ranked = totalsOf(lines, ({ model }) => model ?? '').map(({ id }) => id)
  const shown = ranked.length <= modelsShown + 1 ? ranked : ranked.slice(0, modelsShown)
  const isShown = new Set(shown)
  const ofDay = groupBy(lines, ({ day }) => day)
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
      label="Spend by day and model"
      isStacked
      times={days.map((day) => Date.parse(day) / 1_000)}
      unit="day"
      figure="usd"
      exact={(value) => formatUsdExact(usdText(value))}
      series={[
        ...shown.map((name) => seriesOf(name, (model) => model === name)),
        ...(shown.length < ranked.length ? [seriesOf(others, (model) => !isShown.has(model))] : []),
      ]}
    />
  )
}

export function ModelShares({ lines }: SpendProps) {
  return (
    <Shares
      label="Spend by model"
      totals={totalsOf(lines, ({ model }) => model ?? '')}
      nameOf={({ id }) => <ViewLink to={{ view: 'requests', model: id }}>{id}</ViewLink>}
    />
  )
}

export function KeyShares({ lines }: SpendProps) {
  return (
    <Shares
      label="Spend by key"
      totals={totalsOf(lines, ({ key_id: id }) => id ?? '')}
      nameOf={({ id, first }) => (
        <ViewLink to={{ view: 'requests', key: id }}>{first.key ?? id}</ViewLink>
      )}
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
  const totals = [...groupBy(lines, idOf)].flatMap(([id, of]): Total[] => {
    const [first] = of
    if (first === undefined) return []
    const requests = of.reduce((sum, line) => sum + line.requests, 0)
    return [{ id, first, cost: sumUsd(of.map(({ cost }) => cost)), requests }]
  })
  return totals.sort((one, other) => Number(other.cost) - Number(one.cost))
}

function groupBy<Item>(
  items: readonly Item[],
  wordOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const word = wordOf(item)
    const group = groups.get(word)
    if (group === undefined) groups.set(word, [item])
    else group.push(item)
  }
  return groups
}

function Shares(props: {
  readonly label: string
  readonly totals: readonly Total[]
  readonly nameOf: (total: Total) => ReactNode
}) {
  const { label, totals, nameOf } = props
  if (totals.length === 0) return <NoSpend />
  const hidden = totals.slice(barsShown)
  return (
    <div className="stack">
      <BarList
        label={label}
        bars={totals.slice(0, barsShown).map((total) => ({
          id: total.id,
          name: nameOf(total),
          value: Number(total.cost),
          text: (
            <>
              <span className="soft holder-share">
                <Count value={total.requests} /> {total.requests === 1 ? 'request' : 'requests'}
              </span>{' '}
              <Usd value={total.cost} />
            </>
          ),
        }))}
      />
      {hidden.length > 0 && (
        <p className="soft">
          And {hidden.length} more with <Usd value={sumUsd(hidden.map(({ cost }) => cost))} /> in
          all.
        </p>
      )}
    </div>
  )
}

function NoSpend() {
  return (
    <Empty title="Nothing was spent in these days.">
      <ViewLink to={{ view: 'setup' }}>Set up a client</ViewLink>
    </Empty>
  )
}
