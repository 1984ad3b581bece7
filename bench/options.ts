/**
 * Parses the command line into the plan of a run: parts, proxies, rounds and seconds. Starts nothing. Every
 * loop of the benchmark has its bound in the plan.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { StreamFormatName } from './exchanges.ts'

/** The parts with a vendor that takes its time. They share one report and can be combined. */
const slowPartNames = ['slow', 'alone', 'short-streams', 'sizes', 'idle-streams'] as const
export type SlowPartName = (typeof slowPartNames)[number]

/** Requests, streams and health share a report; each of the last nine runs alone. */
const partNames = [
  ...slowPartNames,
  'requests',
  'streams',
  'health',
  'growth',
  'stores',
  'bodies',
  'attacks',
  'refusals',
  'traces',
  'console',
  'processes',
  'soak',
] as const
type PartName = (typeof partNames)[number]

/** `postgres` is Turnpike on PostgreSQL. */
const proxyNames = [
  'nginx',
  'haproxy',
  'envoy',
  'turnpike',
  'postgres',
  'portkey',
  'litellm',
] as const
type GivenProxyName = (typeof proxyNames)[number]
/** The baselines are the gateway of another checkout. */
export type ProxyName = GivenProxyName | 'baseline' | 'baseline-postgres'

interface SlowPlan {
  /** Requests a second with answers after half a second. */
  readonly rates: readonly number[]
  readonly formats: readonly StreamFormatName[]
  readonly bodyBytes: readonly number[]
  readonly rounds: number
  readonly windowMs: number
  readonly idleStreams: readonly number[]
  /** From the start of the proxies to the reading of their memory at rest. */
  readonly restMs: number
  /** From the end of the idle streams to the last reading of memory. */
  readonly afterMs: number
}

export interface RequestPlan {
  readonly connections: readonly number[]
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
}

interface StreamPlan {
  readonly rounds: number
  readonly windowMs: number
  /** Time from the first event of the last stream to the measured window. */
  readonly settlingMs: number
}

interface HealthPlan {
  readonly rounds: number
  readonly windowMs: number
}

export interface GrowthPlan {
  /** Sizes of the store in requests, smallest first. */
  readonly requests: readonly number[]
  /** The full audit reads every request; a larger store skips it. */
  readonly fullAuditMax: number
}

export interface StoresPlan {
  /** One and few connections show latency; many show the rate and the requests per commit. */
  readonly connections: readonly [one: number, few: number, many: number]
  /** In addition to the one busy account. */
  readonly accounts: number
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
}

export interface BodiesPlan {
  readonly mebibytes: readonly number[]
}

export interface AttacksPlan {
  readonly rounds: number
  /** Of each attack, and of the quiet before. */
  readonly seconds: number
}

export interface RefusalsPlan {
  readonly rounds: number
  readonly seconds: number
}

export interface TracesPlan {
  readonly rounds: number
  readonly seconds: number
}

/** The store always has the same size. */
export interface ConsolePlan {
  readonly rounds: number
  readonly seconds: number
}

export interface ProcessesPlan {
  readonly rounds: number
  readonly windowMs: number
  /** Without requests. */
  readonly idleMs: number
}

export interface SoakPlan {
  readonly durationMs: number
  /** Between two readings. */
  readonly sampleMs: number
  /** By so much the memory of a process may grow; more where it is young. */
  readonly memoryMarginBytes: number
}

export interface Plan {
  readonly mode: 'quick' | 'default' | 'full'
  readonly parts: ReadonlySet<PartName>
  readonly proxies: ReadonlySet<ProxyName>
  /** Another checkout, whose gateway is measured in the same rounds. */
  readonly against: string | undefined
  readonly slow: SlowPlan
  readonly requests: RequestPlan
  readonly streams: StreamPlan
  readonly health: HealthPlan
  readonly growth: GrowthPlan
  readonly stores: StoresPlan
  readonly bodies: BodiesPlan
  readonly attacks: AttacksPlan
  /** Only attacks whose name contains it. */
  readonly attack: string
  readonly refusals: RefusalsPlan
  readonly traces: TracesPlan
  readonly console: ConsolePlan
  readonly processes: ProcessesPlan
  readonly soak: SoakPlan
  /** Keeps the report, and its figures, in bench/results/. */
  readonly isWritten: boolean
  readonly isProfiled: boolean
}

export const usageText = `npm run bench -- [options]
  --quick                          three minutes, fewer peers and less exact figures
  --full                           more rounds; requests at 4 connections as well
  --only PARTS                     some of ${slowPartNames.join(', ')}; by default all of these
  --only requests,streams,health   an upstream that answers at once; one or several of these
  --only growth                    stores with a long history, up to 10 million requests
  --only bodies                    large request bodies of every shape
  --only stores                    PostgreSQL with one and two gateways, compared with SQLite
  --only attacks                   what other clients get while one client attacks
  --only refusals                  charged requests beside 2,000 refused ones a second
  --only traces                    requests with and without traces
  --only console                   the console's pages on a large store, and requests beside ten consoles
  --only processes                 one process and two on PostgreSQL, under the same steady load
  --only soak                      half an hour of mixed load with faults on two processes, and a verdict
  --proxies nginx,turnpike         only these, of ${proxyNames.join(', ')}
  --against PATH                   measure the gateway of another checkout in the same rounds
  --attack TEXT                    only attacks whose name contains it, of --only attacks
  --profile                        keep a CPU profile of the gateway and print its slowest functions
  --write                          put tables and figures into bench/results/
`

const quickProxies: readonly GivenProxyName[] = ['nginx', 'haproxy', 'turnpike', 'portkey']

const sizes = {
  quick: {
    slow: {
      rates: [2_000],
      formats: ['messages'],
      bodyBytes: [100_000],
      rounds: 1,
      windowMs: 2_000,
      idleStreams: [1_000],
      restMs: 8_000,
      afterMs: 10_000,
    },
    requests: { connections: [32], rounds: 2, seconds: 2, warmUpSeconds: 2 },
    streams: { rounds: 1, windowMs: 3_000, settlingMs: 1_000 },
    health: { rounds: 1, windowMs: 2_000 },
    growth: { requests: [100_000, 300_000, 1_000_000], fullAuditMax: 400_000 },
    stores: { connections: [1, 4, 32], accounts: 1_000, rounds: 1, seconds: 2, warmUpSeconds: 1 },
    bodies: { mebibytes: [1, 32] },
    attacks: { rounds: 1, seconds: 4 },
    refusals: { rounds: 3, seconds: 6 },
    traces: { rounds: 3, seconds: 4 },
    console: { rounds: 3, seconds: 6 },
    processes: { rounds: 3, windowMs: 4_000, idleMs: 10_000 },
    soak: { durationMs: 180_000, sampleMs: 5_000, memoryMarginBytes: 67_108_864 },
  },
  default: {
    slow: {
      rates: [500, 2_000, 5_000],
      formats: ['messages', 'chat', 'responses'],
      bodyBytes: [2_000, 100_000, 1_000_000],
      rounds: 3,
      windowMs: 4_000,
      idleStreams: [1_000, 10_000],
      restMs: 25_000,
      afterMs: 60_000,
    },
    requests: { connections: [32, 256], rounds: 5, seconds: 4, warmUpSeconds: 3 },
    streams: { rounds: 3, windowMs: 5_000, settlingMs: 1_500 },
    health: { rounds: 2, windowMs: 4_000 },
    growth: { requests: [1_000_000, 3_000_000, 10_000_000], fullAuditMax: 4_000_000 },
    stores: { connections: [1, 4, 32], accounts: 1_000, rounds: 4, seconds: 4, warmUpSeconds: 2 },
    bodies: { mebibytes: [1, 8, 32] },
    attacks: { rounds: 3, seconds: 6 },
    refusals: { rounds: 5, seconds: 10 },
    traces: { rounds: 7, seconds: 6 },
    console: { rounds: 5, seconds: 10 },
    processes: { rounds: 7, windowMs: 5_000, idleMs: 30_000 },
    soak: { durationMs: 1_800_000, sampleMs: 10_000, memoryMarginBytes: 16_777_216 },
  },
  full: {
    slow: {
      rates: [500, 2_000, 5_000],
      formats: ['messages', 'chat', 'responses'],
      bodyBytes: [2_000, 100_000, 1_000_000],
      rounds: 7,
      windowMs: 5_000,
      idleStreams: [1_000, 10_000],
      restMs: 60_000,
      afterMs: 60_000,
    },
    requests: { connections: [4, 32, 256], rounds: 5, seconds: 4, warmUpSeconds: 3 },
    streams: { rounds: 5, windowMs: 5_000, settlingMs: 1_500 },
    health: { rounds: 3, windowMs: 4_000 },
    growth: { requests: [1_000_000, 3_000_000, 10_000_000, 30_000_000], fullAuditMax: Infinity },
    stores: { connections: [1, 4, 32], accounts: 1_000, rounds: 9, seconds: 4, warmUpSeconds: 2 },
    bodies: { mebibytes: [1, 2, 4, 8, 16, 32] },
    attacks: { rounds: 5, seconds: 15 },
    refusals: { rounds: 15, seconds: 10 },
    traces: { rounds: 15, seconds: 10 },
    console: { rounds: 9, seconds: 10 },
    processes: { rounds: 15, windowMs: 5_000, idleMs: 30_000 },
    soak: { durationMs: 3_600_000, sampleMs: 10_000, memoryMarginBytes: 16_777_216 },
  },
} as const

/** Returns the plan, or a sentence that says what is wrong with the command line. */
export function parseOptions(commandLine: readonly string[]): Plan | string {
  const given = readCommandLine(commandLine)
  if (typeof given === 'string') return given
  if (given.quick && given.full) return '--quick and --full exclude each other'
  const mode = given.quick ? 'quick' : given.full ? 'full' : 'default'
  const parts = readNames(given.only ?? slowPartNames.join(','), partNames)
  if (typeof parts === 'string') return `--only: ${parts}`
  const usual = mode === 'quick' ? quickProxies : proxyNames
  const proxies = readNames(given.proxies ?? usual.join(','), proxyNames)
  if (typeof proxies === 'string') return `--proxies: ${proxies}`
  const mistake = findConflict(given, parts)
  if (mistake !== undefined) return mistake
  return {
    mode,
    parts,
    proxies,
    against: given.against === undefined ? undefined : resolve(given.against),
    attack: given.attack ?? '',
    ...sizes[mode],
    isWritten: given.write,
    isProfiled: given.profile,
  }
}

/** The vendor of its parts takes its time. */
export function isSlow({ parts }: Plan): boolean {
  return slowPartNames.some((name) => parts.has(name))
}

function findConflict(
  { against, write }: { readonly against?: string; readonly write: boolean },
  parts: ReadonlySet<PartName>,
): string | undefined {
  const slowCount = slowPartNames.filter((name) => parts.has(name)).length
  if (slowCount > 0 && slowCount < parts.size)
    return `--only: ${slowPartNames.join(', ')} cannot be combined with other parts`
  for (const part of [
    'growth',
    'stores',
    'bodies',
    'attacks',
    'refusals',
    'traces',
    'console',
    'processes',
    'soak',
  ] as const) {
    if (!parts.has(part)) continue
    if (parts.size > 1) return `--only: ${part} cannot be combined with other parts`
    // Their reports name both versions.
    if (part === 'attacks' || part === 'refusals') return undefined
    if (against !== undefined) return `--against cannot be combined with --only ${part}`
  }
  // The documentation has no place for the figures of another version.
  if (against !== undefined && write) return '--against and --write exclude each other'
  return undefined
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
    against: { type: 'string' },
    attack: { type: 'string' },
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
    if (name === undefined) return `"${word}" is not one of ${known.join(', ')}`
    names.add(name)
  }
  return names
}
