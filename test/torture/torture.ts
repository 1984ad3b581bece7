/**
 * One run of torture: a storm of clients over the nodes of a setup, mishaps at moments drawn by the
 * seed, then calm, and the three-way join of what vendors, clients and ledger have written down.
 */
import assert from 'node:assert/strict'
import { sleep, systemClock } from '../../src/base/clock.ts'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { assertClean, reconcile, type Seen } from '../support/money.ts'
import type { ProcessScenario } from '../support/scenario.ts'
import type { Nodes } from './nodes.ts'
import { storm, stormMaxTokens } from './storm.ts'

/** Something that is done to the machinery; resolves when it has passed. */
export interface Mishap {
  readonly name: string
  happen(): Promise<void> | void
}

export interface TorturePlan {
  readonly setup: ProcessScenario
  readonly nodes: Nodes
  readonly random: Random
  /** What happens, one after the other, each while clients are at it. */
  readonly mishaps: readonly Mishap[]
  /** Answers seen to their end between two mishaps, at least. */
  readonly endsPerMishap: number
  readonly name: string
}

export interface Volume {
  readonly name: string
  readonly requests: number
  readonly ends: number
  readonly charges: number
  readonly kills: number
  readonly mishaps: number
}

/** How much more than in the ordinary tests. */
export const tortureFactor = Number(process.env['TURNPIKE_TORTURE'] ?? 1)
const tortureSeed = Number(process.env['TURNPIKE_TEST_SEED'] ?? 5)

export function tortureRandom(): Random {
  return seededRandom(tortureSeed)
}

export async function torture(plan: TorturePlan): Promise<Volume> {
  const { setup, nodes, random, name } = plan
  const accounts = await Promise.all([1, 2, 3].map(() => setup.createAccount()))
  const seen: Seen[] = []
  for (const [index, mishap] of plan.mishaps.entries()) {
    // The mishap strikes in the middle; the storm goes on until as many answers have come after it.
    const strikesAt = 1 + Math.floor(random() * plan.endsPerMishap)
    let passing: Promise<void> | undefined
    let hasPassed = false
    const round = await storm({
      random,
      accounts,
      findUrl: () => nodes.findUrl(),
      name: `${name}-${index}`,
      isOver(ends) {
        if (ends >= strikesAt)
          passing ??= Promise.resolve(mishap.happen()).then(() => void (hasPassed = true))
        return hasPassed && ends >= plan.endsPerMishap + strikesAt
      },
    })
    seen.push(...round)
    await passing
  }
  await nodes.allServe()
  await untilNothingIsHeld(setup)
  await assertClean(setup)
  const { records } = setup.sandbox.log
  const { database } = setup.context
  const { chargedCount } = await reconcile({ records, database, seen, maxTokens: stormMaxTokens })
  const ends = seen.filter(({ hasEnd }) => hasEnd).length
  assert.ok(ends >= plan.endsPerMishap * plan.mishaps.length)
  return {
    name,
    requests: seen.length,
    ends,
    charges: chargedCount,
    kills: nodes.killCount,
    mishaps: plan.mishaps.length,
  }
}

/** Holds of the living end with their exchanges, those of the dead with their lease. */
async function untilNothingIsHeld(setup: ProcessScenario): Promise<void> {
  const { database } = setup.context
  if (database.dialect === 'sqlite') return
  for (;;) {
    const [row] = await database.query('SELECT count(*) AS holds FROM hold')
    if (Number(row?.['holds']) === 0) return
    await sleep(systemClock, 50)
  }
}

/** Each of the kinds as often, in an order drawn by the seed. */
export function shuffledMishaps(
  kinds: readonly Mishap[],
  timesEach: number,
  random: Random,
): readonly Mishap[] {
  const all = kinds.flatMap((kind) => Array.from({ length: timesEach }, () => kind))
  return all
    .map((mishap) => ({ mishap, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ mishap }) => mishap)
}
