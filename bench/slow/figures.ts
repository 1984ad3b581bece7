/** The figures of the measurements with a slow vendor, as `bench/results/` keeps them. */
import type { Machine } from '../machine.ts'
import type { MoneyLine } from '../measure/figures.ts'
import type { Plan, SlowPartName } from '../options.ts'
import type { Target } from './targets.ts'

/** One load through one target, once. */
export interface SlowRound {
  readonly part: SlowPartName
  readonly load: string
  readonly target: Target['name']
  readonly title: string
  /** Requests or streams that were begun each second. */
  readonly ratePerSecond: number
  readonly durationUs: number
  /** Answered in the measured window. */
  readonly requests: number
  readonly events: number
  readonly failures: number
  /** Of all threads of the proxy. */
  readonly proxyCpuUs: number
  readonly busiestThreadUs: number
  /** Of the store's own processes. */
  readonly storeCpuUs: number
  /** Writing transactions of the store; NaN without one. */
  readonly transactions: number
  readonly firstP50Us: number
  readonly firstP99Us: number
  readonly lastP50Us: number
  readonly lastP99Us: number
  /** Writes of the benchmark's own vendor that were late; a row with many is worthless. */
  readonly slips: number
}

/** Memory of one target before, with and after streams that have nearly nothing to do. */
export interface IdleRound {
  readonly target: Target['name']
  readonly title: string
  readonly streams: number
  readonly restBytes: number
  /** NaN where the target relays no such streams. */
  readonly runningBytes: number
  readonly afterBytes: number
}

export interface SlowFigures {
  readonly machine: Machine
  readonly mode: Plan['mode']
  readonly plan: Plan['slow']
  /** Package → version of the peers from PyPI. */
  readonly python: Readonly<Record<string, string>>
  readonly postgres: string | undefined
  readonly rounds: readonly SlowRound[]
  readonly idle: readonly IdleRound[]
  readonly money: readonly MoneyLine[]
}
