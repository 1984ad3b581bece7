/** The figures of the stores part as plain data: every round of every measurement. */
import type { Machine } from '../machine.ts'
import type { MoneyLine } from '../measure/figures.ts'
import type { StoresPlan } from '../options.ts'

export const standNames = ['sqlite', 'postgres', 'postgres-two'] as const
export type StandName = (typeof standNames)[number]

/**
 * What is measured beside the stores: `none` is the load on the upstream itself, `free` a gateway that
 * is asked for something that costs nothing, so that all of it works but money.
 */
export type FloorName = 'none' | 'nginx' | 'free'

export interface StoreRound {
  readonly place: StandName | FloorName
  /** The accounts that ask in turn; 0 where there are none. */
  readonly accounts: number
  readonly connections: number
  readonly requests: number
  readonly failures: number
  readonly requestsPerSecond: number
  readonly p50Us: number
  readonly p99Us: number
  /** Of the gateways together; nothing where there is none. */
  readonly gatewayCpuUs: number
  /** Of PostgreSQL's processes. */
  readonly serverCpuUs: number
  /** That wrote, of the whole store; NaN where there is no store. */
  readonly transactions: number
}

export interface StoreFigures {
  readonly machine: Machine
  readonly plan: StoresPlan
  readonly server: string
  readonly rounds: readonly StoreRound[]
  readonly money: readonly MoneyLine[]
}
