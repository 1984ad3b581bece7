/** Small parts that the pages of channels share: a state with its reason, what comes next, figures. */
import { Badge } from '../../ui/card.tsx'
import { formatAge, formatDuration, formatShare, formatTimeFully } from '../../ui/format.ts'
import { addUsd } from '../../ui/money.ts'
import { Missing, Usd, useNow } from '../../ui/values.tsx'
import type { Sight } from './board.ts'
import type { Channel, Health, ReportRow } from './queries.ts'
import { meanings, placeReason, remedyFor, type Place } from './states.ts'

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

/** What the gateway does next by itself, and when; or what only an operator can do. */
export function NextStep({
  place,
  health,
  check,
  isLive,
}: {
  readonly place: Place
  readonly health: Health | undefined
  readonly check: Channel['check']
  readonly isLive: boolean
}) {
  if (health === undefined) return <>Look into the log of the gateway</>
  if (place === 'disabled') return <>An operator enables it</>
  if (!isLive) return <span className="soft">None: no gateway is running</span>
  const remedy = place === 'off' ? remedyFor(health.why) : undefined
  return (
    <>
      {remedy !== undefined && <div data-tip={remedy.text}>{remedy.name}</div>}
      <OwnStep place={place} health={health} check={check} />
    </>
  )
}

function OwnStep({
  place,
  health: { rests_until: restsUntil, wakes_at: wakesAt },
  check,
}: {
  readonly place: Place
  readonly health: Health
  readonly check: Channel['check']
}) {
  const probe = check === 'none' ? 'Trial with one request' : 'Probe'
  if (place === 'waiting') return <Until at={restsUntil} what="Requests again" />
  if (place === 'off') return <Until at={wakesAt} what={probe} />
  if (place === 'trial')
    return wakesAt === null ? <>The next request decides</> : <Until at={wakesAt} what={probe} />
  if (place === 'ramp') return <Until at={wakesAt} what="Full share" />
  if (place === 'slow') return <Until at={wakesAt} what="Measured again" />
  if (wakesAt === null) return <Missing why="Nothing is due" />
  return <Until at={wakesAt} what={probe} />
}

/** Counts down to a moment. */
function Until({ at, what }: { at: string | null; what: string }) {
  const nowMs = useNow(1_000)
  if (at === null) return <>{what} is due</>
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

export function Errors({ figures }: { figures: ReportRow | undefined }) {
  if (figures === undefined || figures.requests === 0) return <Missing why="No request today" />
  const share = figures.errors / figures.requests
  return (
    <div className="channel-pair">
      <span className={figures.errors > 0 ? 'bad' : undefined}>
        {figures.errors} ({formatShare(share)})
      </span>
      <span className="soft">of {figures.requests}</span>
    </div>
  )
}

/** What the requests and the checks cost the operator, as far as cost prices are known. */
export function OwnCost({ figures }: { figures: ReportRow | undefined }) {
  if (figures === undefined) return <Missing why="No request" />
  const { unknown_cost_requests: unknown, requests } = figures
  const known = addUsd(figures.own_cost_usd, figures.estimated_cost_usd)
  if (unknown > 0 && unknown === requests)
    return <Missing why="The catalogue has no cost prices for it" />
  return (
    <div className="channel-pair">
      <Usd value={known} />
      {unknown > 0 && <span className="soft">without {unknown} of unknown cost</span>}
    </div>
  )
}
