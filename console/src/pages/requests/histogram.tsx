/**
 * How many requests each step of the period has, by what became of them. A click on a step chooses it as the
 * period of the list; from one step to another chooses all between them.
 */
import { useQuery } from '@tanstack/react-query'
import { useState, type PointerEvent } from 'react'
import { outcomeTones } from '../../figures/outcomes.ts'
import { t } from '../../messages/t.ts'
import { formatTime } from '../../ui/format.ts'
import type { RequestFilter } from './address.ts'
import { histogramQuery, type Outcome } from './queries.ts'

/** From the top to the bottom of a bar. */
const fates = ['bad', 'warn', 'good'] as const

interface HistogramProps {
  readonly filter: RequestFilter
  readonly onChoose: (period: {
    readonly range: undefined
    readonly from: string
    readonly to: string
  }) => void
}

export function Histogram({ filter, onChoose }: HistogramProps) {
  const { data } = useQuery({ ...histogramQuery(filter), placeholderData: (before) => before })
  const [begun, setBegun] = useState<number>()
  if (data === undefined) return <div className="histogram" aria-hidden />
  const bars = data.buckets.map(({ at, requests, by_outcome: counts }) => ({
    at,
    requests,
    good: sumOf(counts, 'good'),
    warn: sumOf(counts, 'warn'),
    bad: sumOf(counts, 'bad'),
  }))
  const most = Math.max(...bars.map(({ requests }) => requests), 1)
  const failed = bars.reduce((sum, { bad }) => sum + bad, 0)
  const refused = bars.reduce((sum, { warn }) => sum + warn, 0)
  const choose = (event: PointerEvent): void => {
    const ended = indexAt(event)
    const [first, last] = [begun ?? ended, ended].sort((one, other) => one - other)
    const [from, to] = [bars[first ?? 0], bars[(last ?? 0) + 1]]
    setBegun(undefined)
    if (from !== undefined) onChoose({ range: undefined, from: from.at, to: to?.at ?? data.to })
  }
  const summary = t(data.is_complete ? 'requests.counts' : 'requests.countsAtLeast', {
    count: data.requests,
    failed,
    refused,
  })
  return (
    <figure className="stack tight small histogram">
      <figcaption>
        {summary} <span className="soft">{t('requests.chooseStep')}</span>
      </figcaption>
      <div
        className="histogram-bars"
        role="img"
        aria-label={summary}
        onPointerDown={(event) => setBegun(indexAt(event))}
        onPointerUp={choose}
      >
        {bars.map(({ at, requests, ...counts }, index) => (
          <div
            key={at}
            className="histogram-step"
            data-index={index}
            data-tip={t('requests.stepTip', {
              from: formatTime(new Date(at)),
              to: formatTime(new Date(Date.parse(at) + data.step_ms)),
              count: requests,
              failed: counts.bad,
              refused: counts.warn,
            })}
          >
            {fates.map((fate) => (
              <div
                key={fate}
                className={`histogram-${fate}`}
                style={{ height: `${(counts[fate] / most) * 100}%` }}
              />
            ))}
          </div>
        ))}
      </div>
      <div className="row row-between soft" aria-hidden>
        <span>{formatTime(new Date(data.from))}</span>
        <span>{formatTime(new Date(data.to))}</span>
      </div>
    </figure>
  )
}

function sumOf(counts: Readonly<Record<Outcome, number>>, fate: (typeof fates)[number]): number {
  const outcomes = Object.entries(counts) as [Outcome, number][]
  return outcomes.reduce(
    (sum, [outcome, count]) => sum + (outcomeTones[outcome] === fate ? count : 0),
    0,
  )
}

function indexAt({ target }: PointerEvent): number {
  const step = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null
  return Number(step?.dataset['index'] ?? 0)
}
