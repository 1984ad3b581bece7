/**
 * Admission against a model that recomputes everything from lists: random schedules of holds,
 * charges, releases, credits and passing time must give the same decisions and the same sums.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { addPicos, picos, zeroPicos, type Picos } from '../../base/money.ts'
import type { HoldRequest } from '../ledger.ts'
import { Admission, dayNumber, type AccountFacts } from './admission.ts'

const accountId = 'acc_1'
const startMs = Date.parse('2026-11-21T22:00:00Z')
const minuteMs = 60_000

function factsOf(changes: Partial<AccountFacts>): AccountFacts {
  return {
    accountId,
    balancePicos: zeroPicos,
    dailyLimitPicos: zeroPicos,
    rpm: 0,
    windowMinutes: 1,
    ...changes,
  }
}

type Step =
  | { readonly kind: 'place'; readonly amount: number; readonly key: number }
  | { readonly kind: 'settle'; readonly which: number; readonly amount: number }
  | { readonly kind: 'acknowledge'; readonly isWithheld: boolean }
  | { readonly kind: 'credit'; readonly amount: number }
  | { readonly kind: 'wait'; readonly ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('place'), amount: fc.nat(30), key: fc.nat(1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('settle'), which: fc.nat(9), amount: fc.nat(40) }),
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
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat(50 * minuteMs) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat(40_000) }) },
)

interface ModelHold {
  readonly exchangeId: string
  readonly keyId: string
  amount: bigint
  endedAtMs: number | undefined
}

interface Charge {
  readonly keyId: string
  readonly amount: bigint
  readonly day: number
}

/** The same rules, spelled as sums over everything that ever happened. */
class Model {
  balance = 100n
  nowMs = startMs
  holds: ModelHold[] = []
  readonly charges: Charge[] = []
  readonly admittedAtMs: number[] = []
  readonly limits: { dailyLimit: bigint; keyLimit: bigint; rpm: number; windowMinutes: number }

  constructor(limits: Model['limits']) {
    this.limits = limits
  }

  held(keyId?: string): bigint {
    return sum(this.holds.filter((hold) => keyId === undefined || hold.keyId === keyId))
  }

  usedToday(keyId?: string): bigint {
    const day = dayNumber(this.nowMs)
    return sum(
      this.charges.filter(
        (charge) => charge.day === day && (keyId === undefined || charge.keyId === keyId),
      ),
    )
  }

  decide(keyId: string, amount: bigint): string {
    const { rpm, windowMinutes, dailyLimit, keyLimit } = this.limits
    const windowStartMs = this.nowMs - windowMinutes * minuteMs
    const recent = this.admittedAtMs.filter((atMs) => atMs > windowStartMs).length
    if (rpm > 0 && recent >= rpm * windowMinutes) return 'rate_limited'
    if (this.balance - this.held() < amount) return 'insufficient_balance'
    const isOver = (limit: bigint, key?: string): boolean =>
      limit > 0n && this.usedToday(key) + this.held(key) + amount > limit
    return isOver(dailyLimit) || isOver(keyLimit, keyId) ? 'daily_limit' : 'hold'
  }
}

function sum(parts: readonly { readonly amount: bigint }[]): bigint {
  return parts.reduce((total, part) => total + part.amount, 0n)
}

describe('admission', () => {
  it('decides as a model does that remembers everything', () => {
    const limits = fc.record({
      dailyLimit: fc.constantFrom(0n, 60n, 120n),
      keyLimit: fc.constantFrom(0n, 40n),
      rpm: fc.constantFrom(0, 1, 3),
      windowMinutes: fc.constantFrom(1, 2),
    })
    fc.assert(
      fc.property(limits, fc.array(step, { minLength: 20, maxLength: 120 }), (limits, steps) => {
        const model = new Model(limits)
        const admission = new Admission()
        const facts = (): AccountFacts =>
          factsOf({
            balancePicos: picos(model.balance),
            dailyLimitPicos: picos(limits.dailyLimit),
            rpm: limits.rpm,
            windowMinutes: limits.windowMinutes,
          })
        admission.put({ facts: facts(), usedByKey: [], startedAtMs: [] }, model.nowMs, model.nowMs)
        for (const [index, one] of steps.entries()) {
          perform(one, `ex_${index}`, model, admission)
          if (one.kind === 'credit') admission.update(facts())
          assert.equal(admission.openHolds().heldPicos, model.held())
          assert.equal(admission.openHolds().count, model.holds.length)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('counts a charge that is booked first thing on a new day against its key', () => {
    const admission = new Admission()
    const facts = factsOf({ balancePicos: picos(500n) })
    admission.put({ facts, usedByKey: [], startedAtMs: [] }, startMs, 0)
    admission.place(requestOf('ex_1', 'key_1', 30n, startMs), 0)
    admission.settling('ex_1', picos(30n), Promise.resolve())
    const nextDayMs = startMs + 3 * 60 * minuteMs
    admission.booked({ exchangeId: 'ex_1', endedAtMs: nextDayMs, amountPicos: picos(30n) })
    const refused = admission.place(
      { ...requestOf('ex_2', 'key_1', 11n, nextDayMs), keyDailyLimitPicos: picos(40n) },
      0,
    )
    assert.equal(refused?.kind, 'daily_limit')
  })

  it('has to load an account it does not know, and one whose figures it cannot trust', () => {
    const admission = new Admission()
    const request = requestOf('ex_1', 'key_1', 1n, startMs)
    assert.equal(admission.place(request, 0), undefined)
    const loaded = { facts: factsOf({ balancePicos: picos(5n) }), usedByKey: [], startedAtMs: [] }
    admission.put(loaded, startMs, 0)
    assert.equal(admission.place(request, 0)?.kind, 'hold')
    admission.invalidate(accountId)
    assert.equal(admission.place(requestOf('ex_2', 'key_1', 1n, startMs), 0), undefined)
    admission.put(loaded, startMs, 0)
    assert.equal(
      admission.place(requestOf('ex_2', 'key_1', 5n, startMs), 0)?.kind,
      'insufficient_balance',
    )
    assert.equal(admission.openHolds().count, 1)
  })

  it('updates the used amounts from the store without touching holds', () => {
    const admission = new Admission()
    const facts = factsOf({ balancePicos: picos(500n), dailyLimitPicos: picos(100n) })
    admission.put({ facts, usedByKey: [['key_1', picos(10n)]], startedAtMs: [] }, startMs, 0)
    admission.place(requestOf('ex_1', 'key_1', 20n, startMs), 0)
    const usedByKey: [string, Picos][] = [
      ['key_1', picos(30n)],
      ['key_2', picos(10n)],
    ]
    admission.put({ facts, usedByKey, startedAtMs: [] }, startMs, 0)
    const refused = admission.place(requestOf('ex_2', 'key_1', 41n, startMs), 0)
    assert.deepEqual(refused, {
      kind: 'daily_limit',
      scope: 'account',
      limitPicos: 100n,
      usedPicos: 40n,
      heldPicos: 20n,
    })
  })

  it('counts the first charge of a new day even before anything else happens on that day', () => {
    const admission = new Admission()
    const facts = factsOf({ balancePicos: picos(500n), dailyLimitPicos: picos(100n) })
    admission.put({ facts, usedByKey: [['key_1', picos(90n)]], startedAtMs: [] }, startMs, 0)
    admission.place(requestOf('ex_1', 'key_1', 10n, startMs), 0)
    const tomorrowMs = startMs + 3 * 60 * minuteMs
    admission.settling('ex_1', picos(10n), Promise.resolve())
    admission.booked({ exchangeId: 'ex_1', endedAtMs: tomorrowMs, amountPicos: picos(10n) })
    const place = (exchangeId: string, amount: bigint): unknown =>
      admission.place(requestOf(exchangeId, 'key_1', amount, tomorrowMs), 0)?.kind
    assert.equal(place('ex_2', 91n), 'daily_limit')
    assert.equal(place('ex_3', 90n), 'hold')
  })

  it('keeps a key whose only hold is empty, over midnight, until that hold has ended', () => {
    const admission = new Admission()
    const facts = factsOf({ balancePicos: picos(500n) })
    admission.put({ facts, usedByKey: [], startedAtMs: [] }, startMs, 0)
    admission.place(requestOf('ex_1', 'key_1', 0n, startMs), 0)
    const tomorrowMs = startMs + 3 * 60 * minuteMs
    const place = (exchangeId: string, amount: bigint): unknown => {
      const request = requestOf(exchangeId, 'key_1', amount, tomorrowMs)
      return admission.place({ ...request, keyDailyLimitPicos: picos(50n) }, 0)?.kind
    }
    assert.equal(place('ex_2', 10n), 'hold')
    admission.settling('ex_1', picos(30n), Promise.resolve())
    admission.booked({ exchangeId: 'ex_1', endedAtMs: tomorrowMs, amountPicos: picos(30n) })
    assert.equal(place('ex_3', 11n), 'daily_limit')
    assert.equal(place('ex_4', 10n), 'hold')
  })

  it('forgets idle accounts where there are too many, and never one with a hold', () => {
    const admission = new Admission()
    const load = (id: string): void =>
      admission.put(
        {
          facts: factsOf({ accountId: id, balancePicos: picos(5n) }),
          usedByKey: [],
          startedAtMs: [],
        },
        startMs,
        0,
      )
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
        keyDailyLimitPicos: picos(model.limits.keyLimit),
      }
      assert.equal(admission.place(request, model.nowMs)?.kind, expected)
      if (expected !== 'hold') break
      model.holds.push({ exchangeId, keyId, amount, endedAtMs: undefined })
      model.admittedAtMs.push(model.nowMs)
      break
    }
    case 'settle': {
      const open = model.holds.filter((hold) => hold.endedAtMs === undefined)
      const hold = open[one.which % Math.max(1, open.length)]
      if (hold === undefined) break
      hold.amount = BigInt(one.amount)
      hold.endedAtMs = model.nowMs
      admission.settling(hold.exchangeId, picos(hold.amount), Promise.resolve())
      break
    }
    case 'acknowledge': {
      const hold = model.holds.find((candidate) => candidate.endedAtMs !== undefined)
      if (hold?.endedAtMs === undefined) break
      model.holds = model.holds.filter((other) => other !== hold)
      const { exchangeId, endedAtMs } = hold
      const amount = one.isWithheld ? 0n : hold.amount
      model.charges.push({ ...hold, amount, day: dayNumber(endedAtMs) })
      model.balance -= amount
      admission.booked({ exchangeId, endedAtMs, amountPicos: picos(amount) })
      admission.setBalance(accountId, picos(model.balance))
      break
    }
    case 'credit':
      model.balance = addPicos(picos(model.balance), picos(BigInt(one.amount)))
      break
    case 'wait':
      model.nowMs += one.ms
      break
  }
}

function requestOf(exchangeId: string, keyId: string, amount: bigint, atMs: number): HoldRequest {
  return {
    exchangeId,
    accountId,
    keyId,
    amountPicos: picos(amount),
    keyDailyLimitPicos: zeroPicos,
    atMs,
  }
}
