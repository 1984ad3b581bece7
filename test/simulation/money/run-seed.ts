/** One seed of the money simulation from its first step to its audit. */
import { noCheck } from '../../../src/operations/channels/run-check.ts'
import { randomBytes } from 'node:crypto'
import type { Principal } from '../../../src/access/key.ts'
import { noKeyLimits, type KeyLimits } from '../../../src/base/key-limits.ts'
import { picos, zeroPicos } from '../../../src/base/money.ts'
import { Secret } from '../../../src/base/secret.ts'
import { loadSnapshot, type LoadedSnapshot } from '../../../src/channels/snapshot.ts'
import type { OperationContext } from '../../../src/operations/operation.ts'
import { demoCatalogueText } from '../../../sandbox/demo.ts'
import { VirtualClock } from '../channels/virtual-clock.ts'
import { MoneyInvariants } from './money-invariants.ts'
import { MoneyWorld, type WorldAccount } from './money-world.ts'
import { SimStore } from './sim-store.ts'
import { createAccount, applyCatalogue, limitAccount } from '../../support/operations.ts'

export interface SeedRun {
  steps: number
  requests: number
  /** Clients that have seen the end of their answer. */
  ends: number
  /** Those of them that continue an earlier response. */
  continuations: number
  charges: number
  refunds: number
  crashes: number
  /** Requests that a limit of their key has refused. */
  limited: number
  /** Requests that could cost more than was left. */
  uncovered: number
  readonly story: readonly string[]
}

const stepsPerSeed = 300
/** Little enough that the accounts run dry now and then. */
const balances = ['0.02', '0.05', '1']
/** Of the first account, in some seeds. */
const creditLineUsd = '0.02'
/** Of the richest account's key: reached before the balance is spent, and given back by refunds. */
const keyTotal = picos(40_000_000_000n)
/** Some seeds have these too, of the same account and key. */
const dailyUsd = '0.03'
const monthlyUsd = '0.035'
const keyDaily = picos(20_000_000_000n)
const keyMonthly = picos(30_000_000_000n)

let snapshot: Promise<LoadedSnapshot> | undefined

/** The catalogue never changes here, so that one reading serves all seeds. */
async function readDemoSnapshot(): Promise<LoadedSnapshot> {
  const store = new SimStore()
  const masterKey = new Secret(randomBytes(32).toString('base64'))
  const context = contextOf(store, () => masterKey)
  await applyCatalogue(context, { text: demoCatalogueText('http://127.0.0.1:9') })
  const loaded = await loadSnapshot(store.database, {
    masterKey: () => masterKey,
    environment: () => undefined,
    revision: 0,
  })
  store.close()
  return loaded
}

function contextOf(store: SimStore, masterKey: () => Secret): OperationContext {
  const { database } = store
  return {
    database,
    clock: new VirtualClock(),
    actor: 'simulation',
    masterKey,
    environment: () => undefined,
    runCheck: noCheck,
  }
}

export async function runSeed(seed: number): Promise<SeedRun> {
  snapshot ??= readDemoSnapshot()
  const store = new SimStore()
  const accounts: WorldAccount[] = []
  for (const [number, balance] of balances.entries()) {
    const context = contextOf(store, unneededKey)
    const name = `account-${number}`
    const made = await createAccount(context, { name, balance_usd: balance })
    const isLimited = number === balances.length - 1
    if (isLimited && seed % 2 === 1)
      await limitAccount(context, { account: name, daily_usd: dailyUsd, monthly_usd: monthlyUsd })
    if (number === 0 && seed % 3 === 0)
      await limitAccount(context, { account: name, credit_line_usd: creditLineUsd })
    const limits = isLimited ? keyLimitsOf(seed) : noKeyLimits
    accounts.push({ principal: principalOf(made.id, number, limits), secret: `secret-${number}` })
  }
  const world = new MoneyWorld({ seed, snapshot: await snapshot, accounts, store })
  const invariants = new MoneyInvariants(world)
  await world.start()
  let step = 0
  try {
    for (; step < stepsPerSeed; step++) {
      await world.step()
      invariants.check()
    }
    await world.heal()
    invariants.check()
    await invariants.checkAtRest()
  } catch (error) {
    const story = world.story.join(', ')
    throw new Error(`TURNPIKE_TEST_SEED=${seed} fails at step ${step} after: ${story}`, {
      cause: error,
    })
  } finally {
    store.close()
  }
  const answered = world.clients.filter(
    ({ hasEnd, request }) => hasEnd && request.isDeletion !== true,
  )
  return {
    steps: step,
    requests: world.clients.length,
    ends: answered.length,
    continuations: answered.filter(({ request }) => request.earlierId !== undefined).length,
    charges: invariants.chargeCount,
    refunds: world.refundCount,
    crashes: world.crashCount,
    limited: world.holds.limitedCount,
    uncovered: world.holds.uncoveredCount,
    story: world.story,
  }
}

function keyLimitsOf(seed: number): KeyLimits {
  return {
    ...noKeyLimits,
    totalPicos: keyTotal,
    dailyPicos: seed % 3 === 1 ? keyDaily : zeroPicos,
    monthlyPicos: seed % 5 < 2 ? keyMonthly : zeroPicos,
  }
}

function principalOf(accountId: string, number: number, keyLimits: KeyLimits): Principal {
  return {
    kind: 'principal',
    keyKind: 'client',
    keyId: `key-${number}`,
    accountId,
    allowedModels: undefined,
    // The second account has to have the most left.
    holds: number === 1 ? 'most' : undefined,
    priceMultiplierPpm: 1_000_000,
    keyLimits,
  }
}

function unneededKey(): never {
  throw new Error('accounts need no master key')
}
