/**
 * Parses the command line into the plan of a run: parts, targets, rounds and seconds. Starts nothing. Every
 * loop of the benchmark has its bound in the plan.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { StreamFormatName } from './exchanges.ts'

/** The parts that measure the relay. They share one report and can be combined. */
const relayPartNames = [
  'slow',
  'alone',
  'short-streams',
  'sizes',
  'idle-streams',
  'requests',
] as const
export type RelayPartName = (typeof relayPartNames)[number]

/** Each of these runs alone. */
const otherPartNames = ['attacks', 'console', 'growth', 'sealing', 'soak'] as const
const partNames = [...relayPartNames, ...otherPartNames] as const
export type PartName = (typeof partNames)[number]

/** With a vendor that takes its time. */
const usualParts: readonly PartName[] = relayPartNames.filter((name) => name !== 'requests')

/** Other ways of Turnpike are measured only where they are named. */
export const targetsOnServer = ['postgres', 'two-gateways', 'two-processes'] as const
const targetNames = [
  'nginx',
  'lean',
  'envoy',
  'turnpike',
  'traced',
  ...targetsOnServer,
  'portkey',
  'litellm',
] as const
export type TargetName = (typeof targetNames)[number]

const unusualTargets: readonly TargetName[] = ['traced', 'two-gateways', 'two-processes']
const usualTargets = targetNames.filter((name) => !unusualTargets.includes(name))
const quickTargets: readonly TargetName[] = ['nginx', 'lean', 'turnpike', 'portkey']

interface RelayPlan {
  /** Requests a second with answers after half a second. */
  readonly rates: readonly number[]
  readonly formats: readonly StreamFormatName[]
  readonly bodyBytes: readonly number[]
  /** Of requests that follow each other. */
  readonly connections: readonly number[]
  readonly windowMs: number
  readonly idleStreams: readonly number[]
  /** From the start of the targets to the reading of their memory at rest, twice. */
  readonly restMs: number
  /** From the end of the idle streams to the last reading of memory. */
  readonly afterMs: number
}

export interface SoakPlan {
  readonly durationMs: number
  /** Between two readings. */
  readonly sampleMs: number
  /** By so much the memory of a process may grow; more where it is young. */
  readonly memoryMarginBytes: number
}

interface Sizes {
  readonly rounds: number
  readonly relay: RelayPlan
  readonly attackSeconds: number
  /** Requests in the store. */
  readonly console: number
  /** Requests in each store. */
  readonly growth: readonly number[]
  /** Requests in the store. */
  readonly sealing: number
  readonly soak: SoakPlan
}

export interface Plan extends Sizes {
  readonly mode: 'quick' | 'default'
  readonly parts: ReadonlySet<PartName>
  readonly targets: ReadonlySet<TargetName>
  /** Another checkout, whose gateway is measured in the same rounds. */
  readonly against: string | undefined
  /** Only attacks whose name contains it. */
  readonly attack: string
  /** Keeps the report, and its figures, in bench/results/. */
  readonly isWritten: boolean
  readonly isProfiled: boolean
}

export const usageText = `npm run bench -- [options]
  --quick                   three minutes, fewer peers and less exact figures
  --rounds N                so many rounds; more are more exact
  --only PARTS              some of ${usualParts.join(', ')}; by default all of these
  --only requests           a vendor that answers at once: what one core can do
  --only attacks            what other clients get while one client attacks
  --only console            the console's pages with 200,000 requests, 2,000 accounts and 60 channels
  --only growth             stores with a long past, and the console's pages on them
  --only sealing            what charges cost while the books are sealed
  --only soak               half an hour of mixed load with faults on two processes, and a verdict
  --targets nginx,turnpike  only these, of ${targetNames.join(', ')}
  --against PATH            measure the gateway of another checkout in the same rounds
  --attack TEXT             only attacks whose name contains it
  --profile                 keep CPU profiles of the gateway and print its slowest functions
  --write                   put tables and figures into bench/results/
`

const sizes: Readonly<Record<Plan['mode'], Sizes>> = {
  quick: {
    rounds: 1,
    relay: {
      rates: [2_000],
      formats: ['messages'],
      bodyBytes: [100_000],
      connections: [32],
      windowMs: 2_000,
      idleStreams: [1_000],
      restMs: 8_000,
      afterMs: 10_000,
    },
    attackSeconds: 4,
    console: 20_000,
    growth: [20_000, 60_000],
    sealing: 20_000,
    soak: { durationMs: 180_000, sampleMs: 5_000, memoryMarginBytes: 67_108_864 },
  },
  default: {
    rounds: 3,
    relay: {
      rates: [500, 2_000, 5_000],
      formats: ['messages', 'chat', 'responses'],
      bodyBytes: [2_000, 100_000, 1_000_000],
      connections: [1, 4, 32, 256],
      windowMs: 4_000,
      idleStreams: [1_000, 10_000],
      restMs: 25_000,
      afterMs: 60_000,
    },
    attackSeconds: 6,
    console: 200_000,
    growth: [100_000, 300_000, 1_000_000],
    sealing: 200_000,
    soak: { durationMs: 1_800_000, sampleMs: 10_000, memoryMarginBytes: 16_777_216 },
  },
}

/** Returns the plan, or a sentence that says what is wrong with the command line. */
export function parseOptions(commandLine: readonly string[]): Plan | string {
  const given = readCommandLine(commandLine)
  if (typeof given === 'string') return given
  const mode = given.quick ? 'quick' : 'default'
  const rounds = Number(given.rounds ?? sizes[mode].rounds)
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > roundsMax)
    return `--rounds: ${given.rounds} is not a number from 1 to ${roundsMax}`
  const parts = readNames(given.only ?? usualParts.join(','), partNames)
  if (typeof parts === 'string') return `--only: ${parts}`
  const usual = mode === 'quick' ? quickTargets : usualTargets
  const targets = readNames(given.targets ?? usual.join(','), targetNames)
  if (typeof targets === 'string') return `--targets: ${targets}`
  const mistake = findConflict(given, parts)
  if (mistake !== undefined) return mistake
  return {
    mode,
    parts,
    targets,
    against: given.against === undefined ? undefined : resolve(given.against),
    attack: given.attack ?? '',
    ...sizes[mode],
    rounds,
    isWritten: given.write,
    isProfiled: given.profile,
  }
}

const roundsMax = 100

function findConflict(
  { against, write }: { readonly against?: string; readonly write: boolean },
  parts: ReadonlySet<PartName>,
): string | undefined {
  const other = otherPartNames.find((name) => parts.has(name))
  if (other !== undefined && parts.size > 1)
    return `--only: ${other} cannot be combined with other parts`
  if (against === undefined || other === 'attacks') return undefined
  if (other !== undefined) return `--against cannot be combined with --only ${other}`
  // The documentation has no place for the figures of another version.
  return write ? '--against and --write exclude each other' : undefined
}

function readCommandLine(commandLine: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const
  const word = { type: 'string' } as const
  const options = {
    quick: flag,
    write: flag,
    profile: flag,
    only: word,
    targets: word,
    against: word,
    attack: word,
    rounds: word,
  }
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
