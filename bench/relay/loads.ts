/** The loads: the body of each request, how many, and the vendor's answer. */
import {
  requestBodies,
  sizedRequestBody,
  streamRequestBodies,
  type StreamFormatName,
} from '../exchanges.ts'
import type { Plan, RelayPartName } from '../options.ts'
import type { Case, Cases } from '../targets/target.ts'

export interface Load {
  readonly part: RelayPartName
  /** The first column of its table. */
  readonly name: string
  readonly body: string
  readonly format: StreamFormatName
  /** Of each stream; 0: JSON after one period. */
  readonly events: number
  readonly periodMs: number
  /** Requests begin at this rate; where they are bounded, as fast as answers end. */
  readonly ratePerSecond: number
  readonly runningMax?: number
  /** Sent by many accounts, or not charged. */
  readonly kind?: 'many' | 'free'
}

const answerMs = 500
const aloneMs = 50
const aloneRate = 12
const streamEvents = 50
const streamPeriodMs = 20
const streamRate = 300

const json = { format: 'chat', events: 0, periodMs: answerMs, body: requestBodies.chat } as const

export const warmUpLoad: Load = {
  part: 'slow',
  name: 'warm-up',
  ...json,
  ratePerSecond: 2_000,
}

/** Large bodies are sent less often. */
const bodyBytesPerSecond = 20_000_000
const bodyRateMax = 500

/** More than any target can do. */
const fullRate = 1_000_000
/** With so many requests at once their kinds are compared. */
const comparedConnections = 32

export function listLoads({ parts, relay }: Plan): readonly Load[] {
  const rates = relay.rates.map((ratePerSecond): Load => {
    const name = `${ratePerSecond.toLocaleString('en')}/s`
    return { part: 'slow', name, ...json, ratePerSecond }
  })
  const alone: Load = {
    part: 'alone',
    name: 'one at a time',
    ...json,
    periodMs: aloneMs,
    ratePerSecond: aloneRate,
  }
  const streams = relay.formats.map((format): Load => ({
    part: 'short-streams',
    name: format,
    format,
    body: streamRequestBodies[format],
    events: streamEvents,
    periodMs: streamPeriodMs,
    ratePerSecond: streamRate,
  }))
  const sized = relay.bodyBytes.map((bytes): Load => ({
    part: 'sizes',
    name: bytes < 1_000_000 ? `${bytes / 1_000} KB` : `${bytes / 1_000_000} MB`,
    ...json,
    body: sizedRequestBody(bytes),
    ratePerSecond: Math.min(bodyRateMax, bodyBytesPerSecond / bytes),
  }))
  const full = relay.connections.flatMap((connections): readonly Load[] => {
    const name = `${connections} at once`
    const bounds = { ratePerSecond: fullRate, runningMax: connections, periodMs: 0 }
    const one: Load = { part: 'requests', ...json, ...bounds, name }
    if (connections !== comparedConnections) return [one]
    return [
      one,
      { ...one, name: `${name}, 1,000 accounts`, kind: 'many' },
      { ...one, name: `${name}, not charged`, kind: 'free', body: requestBodies.messages },
    ]
  })
  return [...rates, alone, ...streams, ...sized, ...full].filter(({ part }) => parts.has(part))
}

/** A load as one target gets it. */
export interface GivenLoad {
  readonly load: Load
  readonly given: Case
  readonly ratePerSecond: number
}

/**
 * Returns what a target can do of the loads of one part. One that cannot do any of the rates gets the first
 * load at its own rate.
 */
export function fitLoads(loads: readonly Load[], cases: Cases): readonly GivenLoad[] {
  const possible = loads.flatMap((load) => {
    const { given, ratePerSecond } = fit(load, cases)
    return given === undefined ? [] : [{ load, given, ratePerSecond }]
  })
  return possible.filter(
    (one, index) => index === 0 || one.ratePerSecond === one.load.ratePerSecond,
  )
}

function fit(
  { kind, format, events, ratePerSecond, runningMax }: Load,
  { json: whole, streams, many, free, requestsPerSecondMax, streamsPerSecondMax }: Cases,
): { readonly given: Case | undefined; readonly ratePerSecond: number } {
  const isStream = events > 0
  const ofKind = { many, free }
  const most = (isStream ? streamsPerSecondMax : requestsPerSecondMax) ?? Infinity
  return {
    given: kind === undefined ? (isStream ? streams[format] : whole) : ofKind[kind],
    ratePerSecond: runningMax === undefined ? Math.min(ratePerSecond, most) : ratePerSecond,
  }
}
