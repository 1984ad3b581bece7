/** Small parts that the pages of channels share: the state and its reason, the next step, figures. */
import { Badge } from '../../ui/card.tsx'
import {
  formatAge,
  formatCount,
  formatDuration,
  formatShare,
  formatTimeFully,
} from '../../ui/format.ts'
import { moneyTerms } from '../../ui/money-terms.ts'
import { Missing, Usd, useNow } from '../../ui/values.tsx'
import type { Sight } from './board.ts'
import type { Health, Traffic } from './queries.ts'
import { meanings, placeReason, type Place } from './states.ts'

export function StateBadge({ place }: { place: Place }) {
  const { name, tone, text } = meanings[place]
  return (
    <span data-tip={text}>
      <Badge tone={tone}>
        <span className="channel-dot" />
        {name}
      </Badge>
    </span>
  )
}

interface StateProps {
  readonly place: Place
  readonly health: Health | undefined
  readonly sights: readonly Sight[]
}

/** The state, why, since when; one line for each gateway where they differ. */
export function State({ place, health, sights }: StateProps) {
  if (sights.length === 0) return <OneState place={place} health={health} />
  return (
    <ul className="channel-sights">
      {sights.map((sight) => (
        <li key={sight.health.node}>
          <OneState {...sight} />
          <span className="soft">Gateway {sight.node}</span>
        </li>
      ))}
    </ul>
  )
}

function OneState({ place, health }: { place: Place; health: Health | undefined }) {
  const reason = health === undefined ? undefined : placeReason(place, health)
  return (
    <div className="channel-state">
      <StateBadge place={place} />
      {health === undefined ? (
        <span className="soft">no gateway has published a state</span>
      ) : (
        <span className="soft">
          {reason !== undefined && `${reason} · `}
          <Since at={health.since} />
        </span>
      )}
    </div>
  )
}

/** For how long it has been so. */
function Since({ at }: { at: string | null }) {
  const nowMs = useNow(at === null ? null : 1_000)
  if (at === null) return <>since an unknown time</>
  const moment = new Date(at)
  return (
    <time dateTime={at} data-tip={`Since ${formatTimeFully(moment)}`}>
      for {formatAge(Math.max(nowMs - moment.getTime(), 1_000)).replace(' ago', '')}
    </time>
  )
}

/** What an operator has to do next, and what the gateway does by itself, and when. */
export function NextStep({
  health,
  isLive,
}: {
  readonly health: Health | undefined
  readonly isLive: boolean
}) {
  if (health === undefined) return <>Look into the log of the gateway</>
  const { next_steps: steps } = health
  if (steps.length === 0 && !isLive)
    return <span className="soft">None: no gateway is running</span>
  if (steps.length === 0) return <Missing why="Nothing is due" />
  return steps.map(({ by, text, how, at }) => (
    <div key={by} data-tip={how ?? undefined}>
      {at === null ? text : <Until at={at} what={text} />}
    </div>
  ))
}

/** Counts down to a moment. */
function Until({ at, what }: { at: string; what: string }) {
  const nowMs = useNow(1_000)
  const leftMs = Date.parse(at) - nowMs
  return (
    <span>
      {what} <time dateTime={at}>{leftMs < 1_000 ? 'now' : `in ${secondsText(leftMs)}`}</time>
    </span>
  )
}

function secondsText(ms: number): string {
  return formatDuration(Math.ceil(ms / 1_000) * 1_000)
}

/** Slower than usual by this factor stands out. */
const slowFactor = 1.5

export function FirstEvent({ health }: { health: Health | undefined }) {
  const now = health?.first_event_ms ?? null
  const usual = health?.usual_first_event_ms ?? null
  if (now === null && usual === null) return <Missing why="Not measured yet" />
  const isSlow = now !== null && usual !== null && now.p50 > usual.p50 * slowFactor
  return (
    <div className="channel-pair">
      <span
        className={isSlow ? 'warn' : undefined}
        data-tip={now === null ? 'Not measured lately' : `Median; p95 ${formatDuration(now.p95)}`}
      >
        {now === null ? '–' : formatDuration(now.p50)}
        {isSlow && ', slow'}
      </span>
      <span className="soft">
        {usual === null ? 'usual –' : `usual ${formatDuration(usual.p50)}`}
      </span>
    </div>
  )
}

/** What failed of the attempts of the last minutes; below it, the errors of today. */
export function FailedLately({ traffic }: { traffic: Traffic | undefined }) {
  const recent = traffic?.recent ?? null
  const { requests = 0, errors = 0 } = traffic?.today ?? {}
  if ((recent?.attempts ?? 0) === 0 && requests === 0) return <Missing why="No request today" />
  return (
    <div className="channel-pair" data-tip="Attempts, also those that another channel made good">
      <Failed recent={recent} />
      <span className="soft">
        {formatCount(errors)} of {formatCount(requests)} today
      </span>
    </div>
  )
}

function Failed({ recent }: { recent: Traffic['recent'] }) {
  if (recent === null || recent.attempts === 0) return <Missing why="No attempt in ten minutes" />
  const { attempts, failed } = recent
  return (
    <span className={failed > 0 ? 'bad' : undefined}>
      {formatCount(failed)} of {formatCount(attempts)} ({formatShare(failed / attempts)})
    </span>
  )
}

type Costs = Pick<
  Traffic['today'],
  'requests' | 'own_cost_usd' | 'estimated_cost_usd' | 'unknown_cost_requests'
>

/** What vendors counted at cost prices, as far as these are known; below it what else they may bill. */
export function OwnCost({ figures }: { figures: Costs | undefined }) {
  if (figures === undefined) return <Missing why="No request" />
  const { unknown_cost_requests: unknown, requests } = figures
  const { own_cost_usd: own, estimated_cost_usd: lost } = figures
  if (requests === 0 && own === '0' && lost === '0')
    return <Missing why="No request and no check" />
  if (unknown > 0 && unknown === requests)
    return <Missing why="The catalogue has no cost prices for it" />
  return (
    <div className="channel-pair">
      <Usd value={own} />
      {lost !== '0' && (
        <span className="soft" data-tip={moneyTerms.estimated_cost_usd.name}>
          + <Usd value={lost} /> lost
        </span>
      )}
      {unknown > 0 && <span className="soft">without {unknown} of unknown cost</span>}
    </div>
  )
}
