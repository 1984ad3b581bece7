/**
 * Random schedules of holds, charges, refunds and clocks over one ledger or several on one store, compared
 * step by step with the model. Every decision, with the figures that it names, has to be the model's.
 */
import assert from 'node:assert/strict'
import { newId } from '../../src/base/id.ts'
import { noKeyLimits, type KeyLimits } from '../../src/base/key-limits.ts'
import { picos } from '../../src/base/money.ts'
import { seededRandom, type Random } from '../../src/base/random.ts'
import type { Hold, HoldRequest, Ledger } from '../../src/ledger/ledger.ts'
import { findBilledExchanges, refund } from '../../src/ledger/refund-store.ts'
import { insertKey } from '../../src/access/key-store.ts'
import {
  addCredit,
  holdRequest,
  makeAccount,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'
import { decisionOf, LimitsModel } from './limits-model.ts'

export interface LimitsWorld {
  readonly harness: LedgerHarness
  /** On the same store. */
  readonly ledgers: readonly Ledger[]
  /** Moves time on; nothing that a running gateway has to do stays undone. */
  pass(durationMs: number): Promise<void>
}

export interface ScheduleCounts {
  /** How often each decision was made, by its name. */
  readonly decisions: Map<string, number>
  refunds: number
  lateRefunds: number
  /** Admitted with less left in some scope than they could cost. */
  uncovered: number
}

const dayMs = 86_400_000
const beforeMidnightMs = 10_000
const stepsPerSeed = 80
/** Of a request; and of one that passes most limits. */
const usualAmount = 120
const amountOfLimits = 1_000
/** Of a charge of `recordOf`: its input and output. */
const tokensOfCharge = 30

interface Key {
  readonly id: string
  readonly limits: KeyLimits
}

interface Open {
  readonly hold: Hold
  readonly ledger: Ledger
}

/** Runs one schedule on a new account with new keys. */
async function runSchedule(
  seed: number,
  world: LimitsWorld,
  counts: ScheduleCounts,
): Promise<void> {
  const schedule = await Schedule.start(seed, world, counts)
  try {
    for (let step = 0; step < stepsPerSeed; step++) await schedule.step()
    await schedule.end()
  } catch (error) {
    const story = schedule.story.join('\n')
    throw new Error(`TURNPIKE_TEST_SEED=${seed} fails after:\n${story}`, { cause: error })
  }
}

class Schedule {
  readonly story: string[] = []
  readonly #world: LimitsWorld
  readonly #counts: ScheduleCounts
  readonly #random: Random
  readonly #accountId: string
  readonly #keys: readonly Key[]
  readonly #model: LimitsModel
  /** Tokens are counted by time that passes, so a schedule sets its clock or counts tokens. */
  readonly #setsClock: boolean
  readonly #open: Open[] = []

  private constructor(
    given: {
      readonly world: LimitsWorld
      readonly counts: ScheduleCounts
      readonly random: Random
    },
    made: {
      readonly accountId: string
      readonly keys: readonly Key[]
      readonly model: LimitsModel
      readonly setsClock: boolean
    },
  ) {
    this.#world = given.world
    this.#counts = given.counts
    this.#random = given.random
    this.#accountId = made.accountId
    this.#keys = made.keys
    this.#model = made.model
    this.#setsClock = made.setsClock
  }

  static async start(seed: number, world: LimitsWorld, counts: ScheduleCounts): Promise<Schedule> {
    const random = seededRandom(seed)
    const setsClock = random() < 0.5
    const some = (most: number): number => (random() < 0.5 ? 1 + Math.floor(random() * most) : 0)
    const tokens = (): number => (setsClock ? 0 : some(10) * tokensOfCharge)
    const balancePicos = BigInt(200 + Math.floor(random() * 6_000))
    const limits = {
      creditLinePicos: BigInt(some(300)),
      dailyPicos: BigInt(some(400)),
      monthlyPicos: BigInt(some(900)),
      tpm: tokens(),
      setsClock,
    }
    const { harness } = world
    const accountId = await makeAccount(harness, {
      balancePicos,
      creditLinePicos: picos(limits.creditLinePicos),
      dailyLimitPicos: limits.dailyPicos,
      monthlyLimitPicos: picos(limits.monthlyPicos),
      tpm: limits.tpm,
    })
    const keys: Key[] = []
    for (let number = 0; number < 3; number++)
      keys.push(
        await makeKey(harness, accountId, {
          ...noKeyLimits,
          dailyPicos: picos(BigInt(some(250))),
          monthlyPicos: picos(BigInt(some(400))),
          totalPicos: picos(BigInt(some(900))),
          tpm: tokens(),
        }),
      )
    await harness.becomeCurrent()
    const model = new LimitsModel(balancePicos, limits)
    return new Schedule({ world, counts, random }, { accountId, keys, model, setsClock })
  }

  async step(): Promise<void> {
    const choices: readonly (readonly [number, () => Promise<void>])[] = [
      [8, () => this.#place()],
      [3, () => this.#check()],
      [1, () => this.#placeMany()],
      [this.#open.length > 0 ? 6 : 0, () => this.#settle()],
      [3, () => this.#refund()],
      [0.5, () => this.#credit()],
      [4, () => this.#passSeconds()],
      [this.#open.length === 0 ? 3 : 0, () => this.#passLong()],
      [this.#setsClock ? 1 : 0, () => this.#setClock()],
    ]
    let left = this.#random() * choices.reduce((sum, [rate]) => sum + rate, 0)
    for (const [rate, act] of choices) {
      left -= rate
      if (left < 0) return act()
    }
  }

  /** The rest of each limit, exactly: one more is refused. */
  async end(): Promise<void> {
    while (this.#open.length > 0) await this.#settle()
    for (let count = 0; count < 10; count++) await this.#check()
  }

  get #harness(): LedgerHarness {
    return this.#world.harness
  }

  #request(amountMax = usualAmount): HoldRequest {
    const key = this.#pick(this.#keys)
    const amount = BigInt(1 + Math.floor(this.#random() * amountMax))
    // Often far below the most; the most itself where the account has to have it left.
    const share = this.#random() < 0.3 ? 1 : this.#random()
    const likelyPicos = picos(BigInt(Math.ceil(Number(amount) * share)))
    const changes = { keyId: key.id, keyLimits: key.limits, likelyPicos }
    return holdRequest(this.#harness, this.#accountId, amount, changes)
  }

  async #place(): Promise<void> {
    const request = this.#request()
    const expected = this.#model.decide(request)
    const ledger = this.#pick(this.#world.ledgers)
    this.#tell(`place ${nameOf(request)}: ${expected}`)
    const placed = await ledger.place(request)
    assert.equal(decisionOf(placed), expected)
    this.#count(expected)
    if (placed.kind !== 'hold') return
    assert.equal(placed.isUncovered, this.#model.isUncovered(request))
    if (placed.isUncovered) this.#counts.uncovered++
    this.#opened(placed, request, ledger)
  }

  /** Often more than a limit leaves: the refusal names all figures of the rule. */
  async #check(): Promise<void> {
    const request = this.#request(this.#random() < 0.7 ? amountOfLimits : usualAmount)
    const expected = this.#model.decide(request)
    this.#tell(`check ${nameOf(request)}: ${expected}`)
    const refusal = await this.#pick(this.#world.ledgers).check(request)
    assert.equal(decisionOf(refusal), expected)
  }

  /** The same request many times at once, over all ledgers: exactly those that fit are admitted. */
  async #placeMany(): Promise<void> {
    const first = this.#request()
    const requests = Array.from({ length: 10 }, () => ({
      ...first,
      exchangeId: newId('ex', first.atMs),
    }))
    this.#tell(`place 10 × ${nameOf(first)}`)
    const placed = await Promise.all(
      requests.map(async (request) => {
        const ledger = this.#pick(this.#world.ledgers)
        return { request, ledger, decision: await ledger.place(request) }
      }),
    )
    for (const { request, ledger, decision } of placed) {
      if (decision.kind !== 'hold') continue
      assert.equal(this.#model.decide(request), 'hold', 'more were admitted than fit')
      this.#opened(decision, request, ledger)
    }
    const refused = placed.filter(({ decision }) => decision.kind !== 'hold')
    if (refused.length > 0) assert.notEqual(this.#model.decide(first), 'hold', 'one more had fit')
  }

  #opened(hold: Hold, request: HoldRequest, ledger: Ledger): void {
    this.#model.hold(hold.exchangeId, request)
    this.#open.push({ hold, ledger })
  }

  async #settle(): Promise<void> {
    const index = Math.floor(this.#random() * this.#open.length)
    const [settled] = this.#open.splice(index, 1)
    assert.ok(settled !== undefined)
    const { hold, ledger } = settled
    const isFree = this.#random() < 0.15
    const part = BigInt(1 + Math.floor(this.#random() * Number(hold.amountPicos)))
    const amountPicos = isFree ? 0n : part
    const endedAtMs = this.#harness.clock.now()
    this.#tell(`settle ${hold.keyId.slice(-3)} ${amountPicos} of ${hold.amountPicos}`)
    const free = { ending: 'failed', usage: undefined, priceLines: '', channel: undefined } as const
    const record = recordOf(hold, amountPicos, { endedAtMs, ...(isFree ? free : {}) })
    await ledger.settle(hold, record)
    const tokens = isFree ? 0 : tokensOfCharge
    this.#model.settle(hold.exchangeId, { amountPicos, endedAtMs, tokens })
    if (this.#random() < 0.5) await this.#check()
  }

  async #refund(): Promise<void> {
    const charges = this.#model.charges.filter(
      ({ amountPicos, refundedPicos }) => amountPicos > 0n && refundedPicos === 0n,
    )
    if (charges.length === 0) return
    const charge = this.#pick(charges)
    const isWhole = this.#random() < 0.4
    const part = BigInt(1 + Math.floor(this.#random() * Number(charge.amountPicos)))
    const amountPicos = isWhole ? charge.amountPicos : part
    const atMs = this.#harness.clock.now()
    this.#tell(`refund ${amountPicos} of ${charge.amountPicos}`)
    await this.#harness.database.transact(async (transaction) => {
      const [exchange] = await findBilledExchanges(transaction, charge.exchangeId)
      assert.ok(exchange !== undefined)
      const given = { exchange, amountPicos: picos(amountPicos), atMs }
      assert.equal((await refund(transaction, given)).kind, 'booked')
    })
    await this.#harness.becomeCurrent()
    this.#model.refund(charge, amountPicos)
    this.#counts.refunds++
    if (Math.floor(charge.endedAtMs / dayMs) !== Math.floor(atMs / dayMs))
      this.#counts.lateRefunds++
  }

  async #credit(): Promise<void> {
    const isTaken = this.#random() < 0.3
    const amount = BigInt(1 + Math.floor(this.#random() * 300))
    const amountPicos = isTaken ? -amount : amount
    this.#tell(`credit ${amountPicos}`)
    await addCredit(this.#harness, this.#accountId, amountPicos)
    await this.#harness.becomeCurrent()
    this.#model.credit(amountPicos)
  }

  /** Over midnight with the open holds, where it is near. */
  async #passSeconds(): Promise<void> {
    const leftMs = dayMs - (this.#harness.clock.now() % dayMs)
    const isNear = leftMs <= beforeMidnightMs && this.#random() < 0.5
    await this.#pass(isNear ? leftMs : Math.floor(this.#random() * 6_000))
    if (!isNear || this.#open.length === 0) return
    // The first thing that the ledger sees of the day, sometimes.
    if (this.#random() < 0.7) await this.#settle()
    for (let count = 0; count < 5; count++) await this.#check()
  }

  /** To just before a midnight, often that of a month, or to the moment at which tokens leave the window. */
  async #passLong(): Promise<void> {
    if (!this.#setsClock && this.#random() < 0.6) return this.#passWindow()
    const now = new Date(this.#harness.clock.now())
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
    const midnight =
      this.#random() < 0.4
        ? Date.UTC(year, month + 1, 1)
        : Date.UTC(year, month, now.getUTCDate() + 1)
    const beforeMs = Math.floor(this.#random() * beforeMidnightMs)
    await this.#pass(Math.max(0, midnight - beforeMs - now.getTime()))
  }

  /** The last millisecond at which the tokens of a charge count, or the first at which they do not. */
  async #passWindow(): Promise<void> {
    const nowMs = this.#harness.clock.now()
    const ends = this.#model.charges
      .map(({ endedAtMs }) => (Math.floor(endedAtMs / 1_000) + 60) * 1_000)
      .filter((atMs) => atMs > nowMs)
    if (ends.length === 0) return
    const countsYet = this.#random() < 0.5 ? 1 : 0
    await this.#pass(Math.max(0, this.#pick(ends) - countsYet - nowMs))
    await this.#check()
  }

  async #pass(durationMs: number): Promise<void> {
    await this.#world.pass(durationMs)
    this.#tell(`it is ${new Date(this.#harness.clock.now()).toISOString()}`)
  }

  /** By up to two days, back too; by whole seconds, because the windows of tokens count those. */
  async #setClock(): Promise<void> {
    const seconds = Math.floor((this.#random() - 0.5) * 4 * (dayMs / 1_000))
    this.#harness.clock.jumpWallTime(seconds * 1_000)
    await this.#pass(0)
  }

  #count(decision: string): void {
    const name = decision.replace(/:.*/, '')
    const { decisions } = this.#counts
    decisions.set(name, (decisions.get(name) ?? 0) + 1)
  }

  #tell(line: string): void {
    this.story.push(line)
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#random() * items.length)]
    assert.ok(item !== undefined)
    return item
  }
}

function nameOf({ keyId, likelyPicos, amountPicos }: HoldRequest): string {
  return `${keyId.slice(-3)} ${likelyPicos} to ${amountPicos}`
}

async function makeKey(
  { clock, database }: LedgerHarness,
  accountId: string,
  limits: KeyLimits,
): Promise<Key> {
  const createdAtMs = clock.now()
  const id = newId('key', createdAtMs)
  await database.transact((transaction) =>
    insertKey(transaction, {
      id,
      kind: 'client',
      accountId,
      name: '',
      head: 'cr_test…',
      secretHash: id,
      allowedModels: undefined,
      ipRanges: undefined,
      limits,
      createdAtMs,
      expiresAtMs: undefined,
    }),
  )
  return { id, limits }
}

/** As for the other simulations: TURNPIKE_TEST_SEEDS is their number, TURNPIKE_TEST_SEED repeats one. */
export function chooseSeeds(usualCount: number): readonly number[] {
  const only = process.env['TURNPIKE_TEST_SEED']
  const count = Number(process.env['TURNPIKE_TEST_SEEDS'] ?? usualCount)
  return only === undefined ? Array.from({ length: count }, (_, index) => index) : [Number(only)]
}

/** Runs all schedules; fails where one of the rules never decided. */
export async function runSchedules(
  seeds: readonly number[],
  world: LimitsWorld,
): Promise<ScheduleCounts> {
  const counts: ScheduleCounts = {
    decisions: new Map(),
    refunds: 0,
    lateRefunds: 0,
    uncovered: 0,
  }
  for (const seed of seeds) await runSchedule(seed, world, counts)
  if (seeds.length === 1) return counts
  for (const name of [
    'hold',
    'insufficient_balance',
    'token_limited account',
    'token_limited key',
    'spending_limit account day',
    'spending_limit account month',
    'spending_limit key day',
    'spending_limit key month',
    'spending_limit key total',
  ])
    assert.ok((counts.decisions.get(name) ?? 0) > 0, `${name} was never decided`)
  assert.ok(counts.lateRefunds > 0, 'nothing was refunded after midnight')
  assert.ok(counts.uncovered > 0, 'every request was covered')
  return counts
}
