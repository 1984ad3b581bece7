/**
 * The figures of one run as plain data, as `bench/results/` keeps them: every round of every
 * measurement. The report computes medians and ratios from them.
 */
import type { Machine } from '../machine.ts'
import type { Plan, ProxyName } from '../options.ts'

export interface RequestRound {
  readonly proxy: ProxyName
  /** The row of the table it belongs to. */
  readonly name: string
  readonly connections: number
  /** Not charged; no aim applies to it. */
  readonly isFree: boolean
  readonly requests: number
  readonly failures: number
  readonly cpuUsPerRequest: number
  readonly busiestThreadUsPerRequest: number
  readonly requestsPerSecond: number
  /** The proxy's share of its core; the rest of the time it waited for load. */
  readonly coreShare: number
  readonly p50Us: number
  readonly p99Us: number
}

export interface StreamRound {
  /** `none`: the client reads directly from the upstream. */
  readonly proxy: ProxyName | 'none'
  readonly streams: number
  readonly events: number
  readonly eventsPerSecond: number
  readonly cpuUsPerEvent: number
  readonly coreShare: number
  readonly residentBytesPerStream: number
  readonly delayP50Us: number
  readonly delayP99Us: number
  readonly firstByteP50Us: number
  readonly firstByteP99Us: number
  /** How often the upstream fell behind its schedule and dropped the backlog. */
  readonly slips: number
}

export interface HealthRound {
  readonly proxy: ProxyName
  readonly streams: number
  readonly questions: number
  readonly p50Us: number
  readonly p99Us: number
  readonly highestUs: number
}

export interface MoneyLine {
  readonly what: string
  readonly isRight: boolean
}

export interface Figures {
  readonly machine: Machine
  readonly mode: Plan['mode']
  readonly requests: readonly RequestRound[]
  readonly streams: readonly StreamRound[]
  readonly health: readonly HealthRound[]
  readonly money: readonly MoneyLine[]
}
