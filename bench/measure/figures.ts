/**
 * The figures of one run as plain data, as they are kept in `bench/results/`: every round of every
 * measurement. Medians and ratios are made from them when the tables are.
 */
import type { Machine } from '../machine.ts'
import type { Plan, ProxyName } from '../options.ts'

export interface RequestRound {
  readonly proxy: ProxyName
  /** The row of the table it belongs to. */
  readonly name: string
  readonly connections: number
  /** No money is in it; the aims do not speak of it. */
  readonly isFree: boolean
  readonly requests: number
  readonly failures: number
  readonly cpuUsPerRequest: number
  readonly busiestThreadUsPerRequest: number
  readonly requestsPerSecond: number
  /** How much of its core the proxy used: the rest it waited for its load. */
  readonly coreShare: number
  readonly p50Us: number
  readonly p99Us: number
}

export interface StreamRound {
  /** `none` is the client on the upstream itself. */
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
  /** How often the upstream fell behind its schedule and gave up the backlog. */
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
