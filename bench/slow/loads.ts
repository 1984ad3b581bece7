/** The loads with a slow vendor: the body of each request, the rate, and the vendor's answer. */
import {
  requestBodies,
  sizedRequestBody,
  streamRequestBodies,
  type StreamFormatName,
} from '../exchanges.ts'
import type { Plan, SlowPartName } from '../options.ts'
import type { SlowCases, StreamCase } from '../proxies/proxy.ts'

export interface Load {
  readonly part: SlowPartName
  /** The first column of its table. */
  readonly name: string
  readonly format: StreamFormatName
  readonly body: string
  /** Of each stream; 0: JSON after one period. */
  readonly events: number
  readonly periodMs: number
  readonly ratePerSecond: number
}

const answerMs = 500
const aloneMs = 50
const aloneRate = 12
const streamEvents = 50
const streamPeriodMs = 20
const streamRate = 300

const json = { format: 'chat', events: 0, periodMs: answerMs, body: requestBodies.chat } as const

export const warmUpLoad: Load = { part: 'slow', name: 'warm-up', ...json, ratePerSecond: 2_000 }

/** Large bodies are sent less often. */
const bodyBytesPerSecond = 20_000_000
const bodyRateMax = 500

export function listLoads(plan: Plan): readonly Load[] {
  const rates = plan.slow.rates.map((ratePerSecond): Load => {
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
  const streams = plan.slow.formats.map((format): Load => ({
    part: 'short-streams',
    name: format,
    format,
    body: streamRequestBodies[format],
    events: streamEvents,
    periodMs: streamPeriodMs,
    ratePerSecond: streamRate,
  }))
  const sized = plan.slow.bodyBytes.map((bytes): Load => ({
    part: 'sizes',
    name: bytes < 1_000_000 ? `${bytes / 1_000} KB` : `${bytes / 1_000_000} MB`,
    ...json,
    body: sizedRequestBody(bytes),
    ratePerSecond: Math.min(bodyRateMax, bodyBytesPerSecond / bytes),
  }))
  return [...rates, alone, ...streams, ...sized].filter(({ part }) => plan.parts.has(part))
}

/** A load as one proxy gets it. */
export interface GivenLoad {
  readonly load: Load
  readonly given: StreamCase
  readonly ratePerSecond: number
}

/**
 * Returns what a proxy can do of the loads of one part. One that cannot do any of the rates gets the first
 * load at its own rate.
 */
export function fitLoads(loads: readonly Load[], cases: SlowCases): readonly GivenLoad[] {
  const possible = loads.flatMap((load) => {
    const isStream = load.events > 0
    const given = isStream ? cases.streams[load.format] : cases.json
    const most = (isStream ? cases.streamsPerSecondMax : cases.requestsPerSecondMax) ?? Infinity
    const ratePerSecond = Math.min(load.ratePerSecond, most)
    return given === undefined ? [] : [{ load, given, ratePerSecond }]
  })
  return possible.filter(
    (one, index) => index === 0 || one.ratePerSecond === one.load.ratePerSecond,
  )
}
