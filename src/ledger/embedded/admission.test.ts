/**
 * Admission against a model that recomputes everything from lists: random schedules of holds,
 * charges, releases, credits and passing time must give the same decisions and the same sums.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { minuteMs } from '../../base/clock.ts'
import { addPicos, picos, zeroPicos } from '../../base/money.ts'
import type { Hold, HoldRefusal, HoldRequest } from '../ledger.ts'
import { noKeyLimits, type KeyLimits } from '../../base/key-limits.ts'
import { Admission, type BookedCharge } from './admission.ts'
import type { AccountFacts, LoadedAccount, LoadedKey } from './account-state.ts'

const accountId = 'acc_1'
/** Two hours before a new day and a new month. */
const startMs = Date.parse('2026-11-30T22:00:00Z')

function factsOf(changes: Partial<AccountFacts>): AccountFacts {
  return {
    accountId,
    balancePicos: zeroPicos,
    creditLinePicos: zeroPicos,
    dailyLimitPicos: zeroPicos,
    monthlyLimitPicos: zeroPicos,
    rpm: 0,
    windowMinutes: 1,
    tpm: 0,
    lastOperatorEntry: 0n,
    ...changes,
  }
}

/** An account as the store has it where no key has a limit. */
function loadedOf(facts: AccountFacts, usedPicos = 0n): LoadedAccount {
  const used = { dayPicos: picos(usedPicos), monthPicos: undefined }
  return { facts, used, startedAtMs: [], tokens: [], key: undefined }
}

function keyUsed(keyId: string, amount: bigint): LoadedKey {
  const used = picos(amount)
  return {
    keyId,
    used: { dayPicos: used, monthPicos: used, totalPicos: used },
    startedAtMs: undefined,
    tokens: undefined,
  }
}

type Step =
  | { readonly kind: 'place'; readonly amount: number; readonly key: number }
  | {
      readonly kind: 'settle'
      readonly which: number
      readonly amount: number
      readonly tokens: number
    }
  | { readonly kind: 'acknowledge'; readonly isWithheld: boolean }
  | { readonly kind: 'credit'; readonly amount: number }
  | { readonly kind: 'refund'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('place'), amount: fc.nat(30), key: fc.nat(1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('settle'),
      which: fc.nat(9),
      amount: fc.nat(40),
      tokens: fc.nat(60),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('acknowledge'), isWithheld: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('credit'),
      amount: fc.integer({ min: -50, max: 80 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refund'), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat(50 * minuteMs) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat(40_000) }) },
)

interface ModelHold {
  readonly exchangeId: string
  readonly keyId: string
  readonly tokens: number
  amount: bigint
  endedAtMs: number | undefined
}

interface Charge {
  readonly keyId: string
  amount: bigint
  readonly endedAtMs: number
}

interface Ended {
  readonly keyId: string
  readonly second: number
  readonly tokens: number
}

interface ModelLimits {
  readonly dailyLimit: bigint
  readonly rpm: number
  readonly windowMinutes: number
  readonly tpm: number
  readonly key: { readonly [Name in keyof KeyLimits]: bigint | number }
}

/** The same rules, spelled as sums over everything that ever happened. */
class Model {
  balance = 100n
  nowMs = startMs
  operatorEntries = 0n
  holds: ModelHold[] = []
  readonly charges: Charge[] = []
  readonly admitted: { readonly keyId: string; readonly atMs: number }[] = []
  readonly ended: Ended[] = []
  readonly limits: ModelLimits

  constructor(limits: ModelLimits) {
    this.limits = limits
  }

  get keyLimits(): KeyLimits {
    return this.limits.key as KeyLimits
  }

  held(keyId?: string): bigint {
    return sum(this.holds.filter((hold) => keyId === undefined || hold.keyId === keyId))
  }

  /** Charges whose moment, as text, begins like the current one: 10 characters are the day. */
  used(length: number, keyId?: string): bigint {
    const period = timeText(this.nowMs).slice(0, length)
    return sum(
      this.charges.filter(
        (charge) =>
          timeText(charge.endedAtMs).startsWith(period) &&
          (keyId === undefined || charge.keyId === keyId),
      ),
    )
  }

  startedAtMs(windowMs: number, keyId?: string): number[] {
    return this.admitted
      .filter((one) => one.atMs > this.nowMs - windowMs && (keyId ?? one.keyId) === one.keyId)
      .map(({ atMs }) => atMs)
  }

  tokens(keyId?: string): [second: number, tokens: number][] {
    const firstSecond = Math.floor(this.nowMs / 1_000) - 60
    return this.ended
      .filter((one) => one.second > firstSecond && (keyId ?? one.keyId) === one.keyId)
      .map(({ second, tokens }) => [second, tokens])
  }

  decide(keyId: string, amount: bigint): string {
    const { dailyLimit, rpm, windowMinutes, tpm } = this.limits
    const key = this.keyLimits
    const isFull = (limit: number, counted: number): boolean => limit > 0 && counted >= limit
    const tokensOf = (one?: string): number =>
      this.tokens(one).reduce((total, [, count]) => total + count, 0)
    const recent = this.startedAtMs(windowMinutes * minuteMs).length
    if (isFull(rpm * windowMinutes, recent)) return 'rate_limited account'
    if (isFull(key.rpm, this.startedAtMs(minuteMs, keyId).length)) return 'rate_limited key'
    if (isFull(tpm, tokensOf())) return 'token_limited account'
    if (isFull(key.tpm, tokensOf(keyId))) return 'token_limited key'
    if (this.balance - this.held() < amount) return 'insufficient_balance'
    const isOver = (limit: bigint, length: number, one?: string): boolean =>
      limit > 0n && this.used(length, one) + this.held(one) + amount > limit
    if (isOver(dailyLimit, 10)) return 'spending_limit account day'
    if (isOver(key.dailyPicos, 10, keyId)) return 'spending_limit key day'
    if (isOver(key.monthlyPicos, 7, keyId)) return 'spending_limit key month'
    return isOver(key.totalPicos, 0, keyId) ? 'spending_limit key total' : 'hold'
  }

  /** What a store would answer. */
  load(keyId: string): LoadedAccount {
    const { rpm, windowMinutes, dailyLimit, tpm } = this.limits
    return {
      facts: factsOf({
        balancePicos: picos(this.balance),
        dailyLimitPicos: picos(dailyLimit),
        rpm,
        windowMinutes,
        tpm,
        lastOperatorEntry: this.operatorEntries,
      }),
      used: { dayPicos: picos(this.used(10)), monthPicos: picos(this.used(7)) },
      startedAtMs: this.startedAtMs(windowMinutes * minuteMs),
      tokens: this.tokens(),
      key: {
        keyId,
        used: {
          dayPicos: picos(this.used(10, keyId)),
          monthPicos: picos(this.used(7, keyId)),
          totalPicos: picos(this.used(0, keyId)),
        },
        startedAtMs: this.startedAtMs(minuteMs, keyId),
        tokens: this.tokens(keyId),
      },
    }
  }
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString()
}

function sum(parts: readonly { readonly amount: bigint }[]): bigint {
  return parts.reduce((total, part) => total + part.amount, 0n)
}

function outcomeOf(decided: Hold | HoldRefusal): string {
  if (decided.kind === 'spending_limit') return `spending_limit ${decided.scope} ${decided.period}`
  return 'scope' in decided ? `${decided.kind} ${decided.scope}` : decided.kind
}

describe('admission', () => {
  it('decides as a model does that remembers everything', () => {
    const limits = fc.record({
      dailyLimit: fc.constantFrom(0n, 60n, 120n),
      rpm: fc.constantFrom(0, 0, 1, 3),
      windowMinutes: fc.constantFrom(1, 2),
      tpm: fc.constantFrom(0, 0, 50),
      key: fc.record({
        dailyPicos: fc.constantFrom(0n, 40n),
        monthlyPicos: fc.constantFrom(0n, 70n),
        totalPicos: fc.constantFrom(0n, 100n),
        rpm: fc.constantFrom(0, 0, 2),
        tpm: fc.constantFrom(0, 0, 40),
      }),
    })
    fc.assert(
      fc.property(limits, fc.array(step, { minLength: 20, maxLength: 120 }), (limits, steps) => {
        const model = new Model(limits)
        const admission = new Admission()
        for (const [index, one] of steps.entries()) {
          perform(one, `ex_${index}`, model, admission)
          assert.equal(admission.openHolds().heldPicos, model.held())
          assert.equal(admission.openHolds().count, model.holds.length)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('counts a charge that is booked first thing on a new day against its key', () => {
    const admission = new Admission()
    const facts = factsOf({ balancePicos: picos(500n) })
    admission.put({ ...loadedOf(facts), key: keyUsed('key_1', 0n) }, { atMs: startMs, nowMs: 0 })
    admission.place(requestOf('ex_1', 'key_1', 30n, startMs), 0)
    admission.settling('ex_1', picos(30n), Promise.resolve())
    const nextDayMs = startMs + 3 * 60 * minuteMs
    admission.booked(bookedOf('ex_1', nextDayMs, 30n), 0)
    const refused = admission.place(
      {
        ...requestOf('ex_2', 'key_1', 11n, nextDayMs),
        keyLimits: { ...noKeyLimits, dailyPicos: picos(40n) },
      },
      0,
    )
    assert.equal(refused?.kind, 'spending_limit')
  })

  it('has to load an account it does not know, and one whose amounts it cannot trust', () => {
    const admission = new Admission()
    const request = requestOf('ex_1', 'key_1', 1n, startMs)
    assert.equal(admission.place(request, 0), undefined)
    const loaded = loadedOf(factsOf({ balancePicos: picos(5n) }))
    admission.put(loaded, { atMs: startMs, nowMs: 0 })
    assert.equal(admission.place(request, 0)?.kind, 'hold')
    admission.invalidate(accountId)
    assert.equal(admission.place(requestOf('ex_2', 'key_1', 1n, startMs), 0), undefined)
    admission.put(loaded, { atMs: startMs, nowMs: 0 })
    assert.equal(
      admission.place(requestOf('ex_2', 'key_1', 5n, startMs), 0)?.kind,
      'insufficient_balance',
    )
    assert.equal(admission.openHolds().count, 1)
  })

  it('updates the used amounts from the store without touching holds', () => {
    const admission = new Admission()
    const facts = factsOf({ balancePicos: picos(500n), dailyLimitPicos: picos(100n) })
    admission.put(loadedOf(facts, 10n), { atMs: startMs, nowMs: 0 })
    admission.place(requestOf('ex_1', 'key_1', 20n, startMs), 0)
    admission.put(loadedOf(facts, 40n), { atMs: startMs, nowMs: 0 })
    const refused = admission.place(requestOf('ex_2', 'key_1', 41n, startMs), 0)
    assert.deepEqual(refused, {
      kind: 'spending_limit',
      scope: 'account',
      period: 'day',
      limitPicos: 100n,
      usedPicos: 40n,
      heldPicos: 20n,
    })
  })

  it('counts the first charge of a new day even before anything else happens on that day', () => {
    const admission = new Admission()
    const facts = factsOf({ balancePicos: picos(500n), dailyLimitPicos: picos(100n) })
    admission.put(loadedOf(facts, 90n), { atMs: startMs, nowMs: 0 })
    admission.place(requestOf('ex_1', 'key_1', 10n, startMs), 0)
    const tomorrowMs = startMs + 3 * 60 * minuteMs
    admission.settling('ex_1', picos(10n), Promise.resolve())
    admission.booked(bookedOf('ex_1', tomorrowMs, 10n), 0)
    const place = (exchangeId: string, amount: bigint): unknown =>
      admission.place(requestOf(exchangeId, 'key_1', amount, tomorrowMs), 0)?.kind
    assert.equal(place('ex_2', 91n), 'spending_limit')
    assert.equal(place('ex_3', 90n), 'hold')
  })

  it('keeps a key whose only hold is empty, over midnight, until that hold has ended', () => {
    const admission = new Admission()
    const facts = factsOf({ balancePicos: picos(500n) })
    admission.put({ ...loadedOf(facts), key: keyUsed('key_1', 0n) }, { atMs: startMs, nowMs: 0 })
    admission.place(requestOf('ex_1', 'key_1', 0n, startMs), 0)
    const tomorrowMs = startMs + 3 * 60 * minuteMs
    const place = (exchangeId: string, amount: bigint): unknown => {
      const request = requestOf(exchangeId, 'key_1', amount, tomorrowMs)
      return admission.place(
        { ...request, keyLimits: { ...noKeyLimits, dailyPicos: picos(50n) } },
        0,
      )?.kind
    }
    assert.equal(place('ex_2', 10n), 'hold')
    admission.settling('ex_1', picos(30n), Promise.resolve())
    admission.booked(bookedOf('ex_1', tomorrowMs, 30n), 0)
    assert.equal(place('ex_3', 11n), 'spending_limit')
    assert.equal(place('ex_4', 10n), 'hold')
  })

  it('forgets idle accounts where there are too many, and never one with a hold', () => {
    const admission = new Admission()
    const load = (id: string): void =>
      admission.put(loadedOf(factsOf({ accountId: id, balancePicos: picos(5n) })), {
        atMs: startMs,
        nowMs: 0,
      })
    load('acc_busy')
    const hold = admission.place(
      { ...requestOf('ex_1', 'k', 5n, startMs), accountId: 'acc_busy' },
      0,
    )
    assert.equal(hold?.kind, 'hold')
    for (let index = 0; index < 100_001; index++) load(`acc_${index}`)
    const known = admission.accountIds()
    assert.ok(known.length < 100_000)
    assert.ok(known.includes('acc_busy'))
  })
})

function perform(one: Step, exchangeId: string, model: Model, admission: Admission): void {
  switch (one.kind) {
    case 'place': {
      const keyId = `key_${one.key}`
      const amount = BigInt(one.amount)
      const expected = model.decide(keyId, amount)
      const request = {
        ...requestOf(exchangeId, keyId, amount, model.nowMs),
        keyLimits: model.keyLimits,
      }
      assert.equal(outcomeOf(placeLoaded(admission, request, model)), expected)
      if (expected !== 'hold') break
      const tokens = 0
      model.holds.push({ exchangeId, keyId, amount, tokens, endedAtMs: undefined })
      model.admitted.push({ keyId, atMs: model.nowMs })
      break
    }
    case 'settle': {
      const open = model.holds.filter((hold) => hold.endedAtMs === undefined)
      const hold = open[one.which % Math.max(1, open.length)]
      if (hold === undefined) break
      const { amount, tokens } = { amount: BigInt(one.amount), tokens: one.tokens }
      const ended = { ...hold, amount, tokens, endedAtMs: model.nowMs }
      model.holds = model.holds.map((other) => (other === hold ? ended : other))
      admission.settling(hold.exchangeId, picos(amount), Promise.resolve())
      break
    }
    case 'acknowledge':
      acknowledge(one.isWithheld, model, admission)
      break
    case 'credit':
      model.balance = addPicos(picos(model.balance), picos(BigInt(one.amount)))
      noteOperatorEntry(model, admission)
      break
    case 'refund': {
      const charge = model.charges[one.which % Math.max(1, model.charges.length)]
      if (charge === undefined) break
      model.balance += charge.amount
      charge.amount = 0n
      noteOperatorEntry(model, admission)
      break
    }
    case 'wait':
      model.nowMs += one.ms
      break
  }
}

/** Tokens count from the moment at which their charge is durable; here it is that of the exchange's end. */
function acknowledge(isWithheld: boolean, model: Model, admission: Admission): void {
  const hold = model.holds.find((candidate) => candidate.endedAtMs !== undefined)
  if (hold?.endedAtMs === undefined) return
  model.holds = model.holds.filter((other) => other !== hold)
  const { exchangeId, keyId, endedAtMs, tokens } = hold
  const amount = isWithheld ? 0n : hold.amount
  model.charges.push({ keyId, amount, endedAtMs })
  model.ended.push({ keyId, second: Math.floor(model.nowMs / 1_000), tokens })
  model.balance -= amount
  const booked = { exchangeId, endedAtMs, amountPicos: picos(amount), tokens }
  admission.booked(booked, model.nowMs)
  admission.setBalance(accountId, picos(model.balance))
}

function noteOperatorEntry(model: Model, admission: Admission): void {
  model.operatorEntries++
  admission.update(model.load('key_0').facts)
}

/** As the ledger does: where memory lacks an amount, it is loaded. */
function placeLoaded(admission: Admission, request: HoldRequest, model: Model): Hold | HoldRefusal {
  const moment = { atMs: model.nowMs, nowMs: model.nowMs }
  const decided = admission.place(request, model.nowMs)
  if (decided !== undefined) return decided
  admission.put(model.load(request.keyId), moment)
  const again = admission.place(request, model.nowMs)
  assert.ok(again !== undefined, 'one load is enough')
  return again
}

function bookedOf(exchangeId: string, endedAtMs: number, amount: bigint): BookedCharge {
  return { exchangeId, endedAtMs, amountPicos: picos(amount), tokens: 0 }
}

function requestOf(exchangeId: string, keyId: string, amount: bigint, atMs: number): HoldRequest {
  return {
    exchangeId,
    accountId,
    keyId,
    amountPicos: picos(amount),
    likelyPicos: picos(amount),
    keyLimits: noKeyLimits,
    atMs,
  }
}
