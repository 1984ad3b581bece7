/**
 * What one run of the benchmark shall do: the command line in, a plan of rounds and seconds out.
 * It starts nothing. Every loop of the benchmark takes its bound from the plan.
 */
import { parseArgs } from 'node:util'

/** The last two stand alone: each has a report of its own. */
export const partNames = ['requests', 'streams', 'health', 'growth', 'stores'] as const
export type PartName = (typeof partNames)[number]

export const proxyNames = ['nginx', 'haproxy', 'turnpike', 'portkey'] as const
export type ProxyName = (typeof proxyNames)[number]

export interface RequestPlan {
  readonly connections: readonly number[]
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
}

export interface StreamPlan {
  readonly rounds: number
  readonly windowMs: number
  /** Between the first event of the last stream and the window. */
  readonly settlingMs: number
}

export interface HealthPlan {
  readonly rounds: number
  readonly windowMs: number
}

export interface GrowthPlan {
  /** Sizes of the store in requests, smallest first. */
  readonly requests: readonly number[]
  /** The full audit looks at every request; beyond so many it is left out. */
  readonly fullAuditMax: number
}

export interface StoresPlan {
  /** At one and at few connections latency is read, at many the rate and how charges share a commit. */
  readonly connections: readonly [one: number, few: number, many: number]
  /** Beside the one hot account. */
  readonly accounts: number
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
}

export interface Plan {
  readonly mode: 'quick' | 'default' | 'full'
  readonly parts: ReadonlySet<PartName>
  readonly proxies: ReadonlySet<ProxyName>
  readonly requests: RequestPlan
  readonly streams: StreamPlan
  readonly health: HealthPlan
  readonly growth: GrowthPlan
  readonly stores: StoresPlan
  /** Write the table into the documentation and keep the figures. */
  readonly isWritten: boolean
  readonly isProfiled: boolean
}

export const usageText = `npm run bench -- [options]
  --quick                          two and a half minutes, rougher figures
  --full                           requests at 4 connections as well
  --only requests|streams|health   one part only
  --only growth                    how stores with a long past behave, up to 10 million requests
  --only stores                    PostgreSQL with one and two gateways beside SQLite
  --proxies nginx,turnpike         only these, of ${proxyNames.join(', ')}
  --profile                        keep a CPU profile of the gateway and print where its time went
  --write                          put the table into docs/performance.md, the figures into bench/results/
`

const sizes = {
  quick: {
    requests: { connections: [32], rounds: 2, seconds: 2, warmUpSeconds: 2 },
    streams: { rounds: 1, windowMs: 3_000, settlingMs: 1_000 },
    health: { rounds: 1, windowMs: 2_000 },
    growth: { requests: [100_000, 300_000, 1_000_000], fullAuditMax: 400_000 },
    stores: { connections: [1, 4, 32], accounts: 1_000, rounds: 1, seconds: 2, warmUpSeconds: 1 },
  },
  default: {
    requests: { connections: [32, 256], rounds: 5, seconds: 4, warmUpSeconds: 3 },
    streams: { rounds: 3, windowMs: 5_000, settlingMs: 1_500 },
    health: { rounds: 2, windowMs: 4_000 },
    growth: { requests: [1_000_000, 3_000_000, 10_000_000], fullAuditMax: 4_000_000 },
    stores: { connections: [1, 4, 32], accounts: 1_000, rounds: 4, seconds: 4, warmUpSeconds: 2 },
  },
  full: {
    requests: { connections: [4, 32, 256], rounds: 5, seconds: 4, warmUpSeconds: 3 },
    streams: { rounds: 5, windowMs: 5_000, settlingMs: 1_500 },
    health: { rounds: 3, windowMs: 4_000 },
    growth: { requests: [1_000_000, 3_000_000, 10_000_000, 30_000_000], fullAuditMax: Infinity },
    stores: { connections: [1, 4, 32], accounts: 1_000, rounds: 9, seconds: 4, warmUpSeconds: 2 },
  },
} as const

/** The plan, or the sentence that says what is wrong with the command line. */
export function parseOptions(commandLine: readonly string[]): Plan | string {
  const given = readCommandLine(commandLine)
  if (typeof given === 'string') return given
  if (given.quick && given.full) return '--quick and --full exclude each other'
  const mode = given.quick ? 'quick' : given.full ? 'full' : 'default'
  const parts = readNames(given.only ?? 'requests,streams,health', partNames)
  if (typeof parts === 'string') return `--only: ${parts}`
  for (const part of ['growth', 'stores'] as const)
    if (parts.has(part) && parts.size > 1) return `--only: ${part} stands alone`
  const proxies = readNames(given.proxies ?? proxyNames.join(','), proxyNames)
  if (typeof proxies === 'string') return `--proxies: ${proxies}`
  return {
    mode,
    parts,
    proxies,
    ...sizes[mode],
    isWritten: given.write,
    isProfiled: given.profile,
  }
}

function readCommandLine(commandLine: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const
  const options = {
    quick: flag,
    full: flag,
    write: flag,
    profile: flag,
    only: { type: 'string' },
    proxies: { type: 'string' },
  } as const
  try {
    return parseArgs({ args: [...commandLine], options, strict: true }).values
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function readNames<Name extends string>(
  text: string,
  known: readonly Name[],
): ReadonlySet<Name> | string {
  const names = new Set<Name>()
  for (const word of text.split(',')) {
    const name = known.find((candidate) => candidate === word)
    if (name === undefined) return `"${word}" is none of ${known.join(', ')}`
    names.add(name)
  }
  return names
}
