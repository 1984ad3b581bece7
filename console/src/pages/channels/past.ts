/**
 * The states of a channel over time, put together from its changes: health of one model, and above it an
 * operator's decision for all models. A process that ends writes no change, so the present state, which is
 * known, ends each band.
 */
import { t } from '../../messages/t.ts'
import { hasRange, isDay, periodOf, type Preset, type Range } from '../../ui/range.ts'
import type { Band, Piece } from '../../ui/state-timeline.tsx'
import type { Change, ChannelDetail } from './queries.ts'
import { placeTones, places, reasonText, type Place } from './states.ts'

interface Window {
  readonly fromMs: number
  readonly untilMs: number
}

const minuteMs = 60_000
const dayMs = 86_400_000

export const pastPresets = ['1h', '24h', 'today', 'yesterday', '7d', '30d'] as const
export const usualPast: Preset = '24h'

/** Returns the part of a period that has passed; a minute at least, so that it can be drawn. */
export function windowOf(range: Range, nowMs: number) {
  const asked = hasRange(range) ? range : { range: usualPast }
  const { from, to } = periodOf(asked, { unit: 'moment', nowMs })
  const endMs = to === undefined ? nowMs : Date.parse(to) + (isDay(to) ? dayMs : 0)
  const untilMs = Math.min(endMs, nowMs)
  const fromMs = from === undefined ? untilMs - dayMs : Date.parse(from)
  return { fromMs: Math.min(fromMs, untilMs - minuteMs), untilMs, isPast: untilMs < nowMs }
}

interface Turn {
  readonly atMs: number
  /** Undefined: not known. */
  readonly place: Place | undefined
  readonly why: string | undefined
}

interface Past {
  readonly changes: readonly Change[]
  /** Whether they reach back to the beginning of the window. */
  readonly isWhole: boolean
  /** Names of operators by the ids of their tokens. */
  readonly operators: ReadonlyMap<string, string>
}

/** One band for each model; where several gateways run, one for each gateway that runs now. */
export function bandsOf(
  detail: Pick<ChannelDetail, 'models' | 'health' | 'nodes' | 'enabled'>,
  { changes, isWhole, operators }: Past,
  window: Window,
): readonly Band[] {
  const oldest = changes.at(-1)
  // Changes before the oldest one that was read are not known.
  const knownFromMs =
    isWhole || oldest === undefined ? window.fromMs : Math.max(window.fromMs, Date.parse(oldest.at))
  const gateways = detail.nodes.length > 1 ? detail.nodes : [undefined]
  return Object.keys(detail.models).flatMap((model) =>
    gateways.map((gateway) => {
      const own = changes
        .filter((change) => change.model === null || change.model === model)
        .filter(({ node }) => gateway === undefined || node === null || node === gateway.id)
        .toReversed()
      const health = detail.health.find(
        (one) => one.model === model && (gateway === undefined || one.node === gateway.id),
      )
      const startMs =
        gateway === undefined ? knownFromMs : Math.max(knownFromMs, Date.parse(gateway.started_at))
      const label =
        gateway === undefined ? model : t('channels.modelAt', { model, gateway: gateway.name })
      const now = { health, isDisabled: !detail.enabled, operators }
      const turns = turnsOf(own, { fromMs: startMs, untilMs: window.untilMs }, now)
      return {
        id: label,
        name: label,
        label,
        pieces: piecesOf(turns, window.untilMs),
      }
    }),
  )
}

interface Present {
  readonly health: ChannelDetail['health'][number] | undefined
  readonly isDisabled: boolean
  readonly operators: Past['operators']
}

function turnsOf(
  changes: readonly Change[],
  { fromMs, untilMs }: Window,
  { health, isDisabled, operators }: Present,
): readonly Turn[] {
  const decisions = changes.filter(isDecision)
  const moves = changes.filter((change) => !isDecision(change))
  const presentPlace = health === undefined ? 'unknown' : placeNamed(health.state)
  let decided = stateAt(decisions, fromMs) ?? (isDisabled ? 'disabled' : 'enabled')
  let place = placeBefore(moves, { fromMs, presentPlace })
  let why: string | undefined
  let decidedWhy: string | undefined
  const turns: Turn[] = []
  const add = (atMs: number): void => {
    const isOff = decided === 'disabled'
    turns.push({
      atMs,
      place: isOff ? 'disabled' : place,
      why: isOff ? decidedWhy : why,
    })
  }
  add(fromMs)
  for (const change of changes) {
    const atMs = Date.parse(change.at)
    if (atMs < fromMs || atMs > untilMs) continue
    if (isDecision(change)) {
      decided = change.to
      decidedWhy =
        change.actor === null
          ? reasonText(change.why)
          : t('channels.byOperator', { name: operators.get(change.actor) ?? change.actor })
    } else {
      place = placeNamed(change.to)
      why = reasonText(change.why)
    }
    add(atMs)
  }
  if (decided !== 'disabled' && health !== undefined && presentPlace !== place) {
    place = presentPlace
    why = reasonText(health.why)
    const sinceMs = health.since === null ? untilMs : Date.parse(health.since)
    add(Math.min(Math.max(sinceMs, turns.at(-1)?.atMs ?? fromMs), untilMs))
  }
  return turns
}

/** An operator's "disable" or "enable". */
function isDecision({ from, to }: Change): boolean {
  return [from, to].some((state) => state === 'disabled' || state === 'enabled')
}

/** From the last decision before a moment, or else from the first one after it. */
function stateAt(changes: readonly Change[], atMs: number): string | undefined {
  return findBefore(changes, atMs)?.to ?? changes[0]?.from
}

function findBefore(changes: readonly Change[], atMs: number): Change | undefined {
  return changes.findLast(({ at }) => Date.parse(at) < atMs)
}

/** Without an earlier change it was on, as each channel begins; any other state may be of any age. */
function placeBefore(
  moves: readonly Change[],
  { fromMs, presentPlace }: { readonly fromMs: number; readonly presentPlace: Place },
): Place | undefined {
  const before = findBefore(moves, fromMs)
  if (before !== undefined) return placeNamed(before.to)
  const [first] = moves
  const place = first === undefined ? presentPlace : placeNamed(first.from)
  return place === 'on' || place === 'disabled' ? 'on' : undefined
}

function placeNamed(state: string): Place {
  return places.find((place) => place === state) ?? 'unknown'
}

function piecesOf(turns: readonly Turn[], untilMs: number): readonly Piece[] {
  const pieces: Piece[] = []
  for (const [index, { atMs, place, why }] of turns.entries()) {
    const endMs = turns[index + 1]?.atMs ?? untilMs
    if (place === undefined) continue
    const name = t(`channels.places.${place}`)
    const last = pieces.at(-1)
    if (last?.name === name && last.untilMs === atMs)
      pieces[pieces.length - 1] = { ...last, untilMs: endMs }
    else if (endMs > atMs)
      pieces.push({
        fromMs: atMs,
        untilMs: endMs,
        name,
        tone: placeTones[place],
        isCalm: place === 'on',
        why,
      })
  }
  return pieces
}
