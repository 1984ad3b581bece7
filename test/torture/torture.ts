/**
 * One run of torture: the load of many clients on the nodes of a setup, faults at moments drawn by the
 * seed, then calm, and the three-way join of what vendors, clients and ledger have written down.
 */
import assert from 'node:assert/strict'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { eventually } from '../support/eventually.ts'
import { assertClean, reconcile, type Seen } from '../support/money.ts'
import type { ProcessScenario } from '../support/scenario.ts'
import type { Nodes } from './nodes.ts'
import { sendLoad, loadMaxTokens, type StoredAnswers } from './client-load.ts'

/** Breaks a part of the setup on purpose; `inject` resolves when the fault has passed. */
export interface Fault {
  readonly name: string
  inject(): Promise<void> | void
}

export interface TorturePlan {
  readonly setup: ProcessScenario
  readonly nodes: Nodes
  readonly random: Random
  /** One after the other, each while clients send requests. */
  readonly faults: readonly Fault[]
  /** Answers seen to their end between two faults, at least. */
  readonly endsPerFault: number
  readonly name: string
}

export interface Volume {
  readonly name: string
  readonly requests: number
  readonly ends: number
  readonly charges: number
  readonly kills: number
  readonly faults: number
}

/** Requests of the last round: about one in 120 deletes an answer, so chance keeps none away for so long. */
const requestsMax = 10_000
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
  const answers: StoredAnswers = { all: [], storedCount: 0, deleted: new Set() }
  for (const [index, fault] of plan.faults.entries()) {
    // The fault comes in the middle; the load goes on until as many answers have followed it.
    const injectedAt = 1 + Math.floor(random() * plan.endsPerFault)
    let passing: Promise<void> | undefined
    let hasPassed = false
    const round = await sendLoad({
      random,
      accounts,
      answers,
      findUrl: () => nodes.findUrl(),
      name: `${name}-${index}`,
      isOver(ends, requests) {
        if (ends >= injectedAt)
          passing ??= Promise.resolve(fault.inject()).then(() => void (hasPassed = true))
        if (!hasPassed || ends < plan.endsPerFault + injectedAt) return false
        // The last round also goes on until nothing that chance decides is missing.
        return index < plan.faults.length - 1 || hasEverySort(answers) || requests >= requestsMax
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
  const { chargedCount } = await reconcile({ records, database, seen, maxTokens: loadMaxTokens })
  const ends = seen.filter(({ hasEnd }) => hasEnd).length
  assert.ok(ends >= plan.endsPerFault * plan.faults.length)
  assert.ok(
    hasEverySort(answers),
    `${answers.storedCount} answers stored and ${answers.deleted.size} deleted in ${seen.length} requests`,
  )
  return {
    name,
    requests: seen.length,
    ends,
    charges: chargedCount,
    kills: nodes.killCount,
    faults: plan.faults.length,
  }
}

/** Whether answers were stored, and some deleted by their own account. */
function hasEverySort({ storedCount, deleted }: StoredAnswers): boolean {
  return storedCount > 0 && deleted.size > 0
}

/** Holds of the living end with their exchanges, those of the dead with their lease. */
async function untilNothingIsHeld(setup: ProcessScenario): Promise<void> {
  const { database } = setup.context
  if (database.dialect === 'sqlite') return
  const countHolds = async (): Promise<number> => {
    const [row] = await database.query('SELECT count(*) AS holds FROM hold')
    return Number(row?.['holds'])
  }
  await eventually('nothing is held', countHolds, (count) => count === 0)
}

/** Each of the kinds as often, in an order drawn by the seed. */
export function shuffledFaults(
  kinds: readonly Fault[],
  timesEach: number,
  random: Random,
): readonly Fault[] {
  const all = kinds.flatMap((kind) => Array.from({ length: timesEach }, () => kind))
  return all
    .map((fault) => ({ fault, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ fault }) => fault)
}
