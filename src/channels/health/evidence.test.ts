/** The evidence against one model on one channel: what each answer adds, refutes and takes back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  countInARow,
  judgeRatio,
  noEvidence,
  withFailure,
  withFirstEvent,
  withRetraction,
  withSuccess,
  type Caller,
  type Evidence,
} from './evidence.ts'

/** `account/key`, or one word for both. */
function callerOf(text: string): Caller {
  return { accountId: text.split('/')[0] ?? text, keyId: text }
}

interface Facts {
  readonly beganAt?: number
  readonly isBroken?: boolean
  readonly isCounted?: boolean
}

function failed(evidence: Evidence, who: string, now: number, facts: Facts = {}): Evidence {
  const { beganAt = now, isBroken = false, isCounted = true } = facts
  return withFailure(evidence, { ...callerOf(who), beganAt, isBroken, isCounted }, now)
}

function served(
  evidence: Evidence,
  who: string,
  now: number,
  { beganAt = now, wasAnswered = false } = {},
): Evidence {
  return withSuccess(evidence, { caller: callerOf(who), beganAt, wasAnswered }, now)
}

/** Callers with how many of their requests succeeded and failed, in one moment. */
function outcomesOf(
  callers: Readonly<Record<string, readonly [number, number]>>,
  now = 0,
  before = noEvidence,
): Evidence {
  let evidence = before
  for (const [who, [ok, failures]] of Object.entries(callers)) {
    for (let index = 0; index < failures; index++) evidence = failed(evidence, who, now)
    for (let index = 0; index < ok; index++) evidence = served(evidence, who, now)
  }
  return evidence
}

function shown({ failures }: Evidence): readonly string[] {
  return failures.map(
    ({ keyId, isBroken, isCounted }) =>
      keyId + (isBroken ? ' broken' : '') + (isCounted ? '' : ' doubtful'),
  )
}

describe('failures', () => {
  const mixed = (): Evidence => {
    let evidence = failed(noEvidence, 'a', 10)
    evidence = failed(evidence, 'b', 20, { isBroken: true })
    evidence = failed(evidence, 'c', 30)
    return failed(evidence, 'd', 40, { isBroken: true })
  }

  test('of a first event: those that began no later and had none are refuted', () => {
    assert.deepEqual(shown(withFirstEvent(mixed(), 9)), [
      'a doubtful',
      'b broken',
      'c doubtful',
      'd broken',
    ])
    assert.deepEqual(shown(withFirstEvent(mixed(), 10)), ['b broken', 'c doubtful', 'd broken'])
    const broken = failed(noEvidence, 'a', 10, { isBroken: true })
    assert.equal(withFirstEvent(broken, 50), broken)
    assert.equal(withFirstEvent(noEvidence, 50), noEvidence)
  })

  test('of a whole answer: those that began no later are refuted, and later ones do not count', () => {
    const at = (beganAt: number, wasAnswered = false) =>
      shown(served(mixed(), 'x', 50, { beganAt, wasAnswered }))
    assert.deepEqual(at(9), ['a doubtful', 'b broken doubtful', 'c doubtful', 'd broken doubtful'])
    assert.deepEqual(at(20), ['c doubtful', 'd broken doubtful'])
    assert.deepEqual(at(40), [])
    // Its first event came earlier: it says nothing new about an attempt without one.
    assert.deepEqual(at(20, true), ['c', 'd broken doubtful'])
  })

  test('taken back: the last one of the key that counted', () => {
    let evidence = failed(noEvidence, 'a', 1)
    evidence = failed(evidence, 'a', 2)
    evidence = failed(evidence, 'b', 3)
    const once = withRetraction(evidence, 'a')
    assert.deepEqual(shown(once), ['a', 'a doubtful', 'b'])
    assert.deepEqual(shown(withRetraction(once, 'a')), ['a doubtful', 'a doubtful', 'b'])
    assert.equal(withRetraction(evidence, 'c'), evidence)
  })

  test('that do not count are kept, and are in no ratio', () => {
    let evidence = noEvidence
    for (let index = 0; index < 30; index++)
      evidence = failed(evidence, 'a', 1, { isCounted: false })
    assert.equal(evidence.failures.length, 30)
    assert.equal(countInARow(evidence, 1), 0)
    assert.equal(judgeRatio(evidence, 1), 'good')
  })

  test('are at most thirty-two, the latest ones', () => {
    let evidence = noEvidence
    for (let index = 1; index <= 33; index++) evidence = failed(evidence, `k${index}`, index)
    assert.equal(evidence.failures.length, 32)
    assert.equal(evidence.failures[0]?.keyId, 'k2')
  })

  test('of each caller are at most two in a row while another one was served within a minute', () => {
    const three = (evidence: Evidence) => outcomesOf({ a: [0, 3] }, 100, evidence)
    const other = three(served(noEvidence, 'b', 0))
    assert.equal(countInARow(other, 59_999), 2)
    assert.equal(countInARow(other, 60_000), 3)
    assert.equal(countInARow(three(noEvidence), 100), 3)
    const failing = failed(other, 'b', 100)
    assert.equal(countInARow(failing, 100), 3, 'one failure since')
    assert.equal(countInARow(failed(failing, 'b', 100), 100), 5, 'two failures since')
  })

  test('are none after an answer where there were none', () =>
    assert.deepEqual(served(noEvidence, 'a', 1).failures, []))

  test('an answer ends what a passed probe has cleared', () => {
    const cleared = { ...noEvidence, isCleared: true }
    assert.equal(served(cleared, 'a', 1).isCleared, false)
    assert.equal(served(failed(cleared, 'b', 5), 'a', 6, { beganAt: 1 }).isCleared, false)
    assert.equal(failed(cleared, 'a', 1).isCleared, true)
  })
})

describe('the success ratio', () => {
  const judge = (callers: Readonly<Record<string, readonly [number, number]>>) =>
    judgeRatio(outcomesOf(callers), 0)

  test('is judged from twenty requests on, below four of five', () => {
    assert.equal(judge({ a: [14, 5] }), 'good')
    assert.equal(judge({ a: [15, 5] }), 'doubtful')
    assert.equal(judge({ a: [16, 4] }), 'good')
    assert.equal(judge({ a: [20, 0] }), 'good')
    assert.equal(judge({}), 'good')
  })

  test('leaves out the account that has most failures, the first of several', () => {
    assert.equal(judge({ worst: [5, 10], a: [15, 4] }), 'good')
    assert.equal(judge({ worst: [5, 10], a: [15, 5] }), 'doubtful')
    assert.equal(judge({ a: [15, 5], worst: [5, 10] }), 'doubtful')
    assert.equal(judge({ worst: [5, 10], a: [16, 4] }), 'good')
    assert.equal(judge({ first: [0, 10], second: [20, 10] }), 'doubtful')
  })

  test('leaves out the key that has most failures where there is one account', () => {
    assert.equal(judge({ 'x/worst': [5, 10], 'x/a': [15, 4] }), 'good')
    assert.equal(judge({ 'x/worst': [5, 10], 'x/a': [15, 5] }), 'doubtful')
    // The keys of one account of several are one caller.
    assert.equal(judge({ 'x/a': [0, 10], 'x/b': [0, 10], y: [20, 0] }), 'good')
  })

  test('is bad from fifty requests of three failing accounts on', () => {
    assert.equal(judge({ worst: [0, 11], a: [20, 10], b: [10, 10] }), 'bad')
    assert.equal(judge({ worst: [0, 11], a: [20, 10], b: [10, 9] }), 'doubtful')
    assert.equal(judge({ worst: [0, 21], a: [30, 20] }), 'doubtful')
  })

  test('is that of the last two minutes', () => {
    const old = outcomesOf({ a: [15, 5] })
    assert.equal(judgeRatio(old, 119_999), 'doubtful')
    assert.equal(judgeRatio(old, 120_000), 'good')
    const later = outcomesOf({ a: [10, 3] }, 60_000, outcomesOf({ a: [5, 2] }))
    assert.equal(judgeRatio(later, 119_999), 'doubtful')
    assert.equal(judgeRatio(later, 120_000), 'good')
  })

  test('does not contain a failure that was taken back, also an earlier one', () => {
    const ratio = outcomesOf({ worst: [0, 10], a: [15, 4] })
    const one = failed(ratio, 'c', 12_000)
    assert.equal(judgeRatio(one, 12_000), 'doubtful')
    assert.equal(judgeRatio(withRetraction(one, 'c'), 12_000), 'good')
    const later = failed(one, 'worst', 24_000)
    assert.equal(judgeRatio(later, 24_000), 'doubtful')
    assert.equal(judgeRatio(withRetraction(later, 'c'), 24_000), 'good')
    assert.equal(judgeRatio(withRetraction(later, 'worst'), 24_000), 'doubtful')
  })

  test('counts callers beyond thirty-two of twelve seconds together', () => {
    const names = Array.from({ length: 32 }, (_, index) => `k${index}`)
    const full = outcomesOf(Object.fromEntries(names.map((name) => [name, [1, 0] as const])))
    const failing = { y: [0, 20], z: [0, 20] } as const
    assert.equal(judgeRatio(outcomesOf(failing, 0, full), 0), 'good')
    const known = { k0: [0, 20], k1: [0, 20] } as const
    assert.equal(judgeRatio(outcomesOf(known, 0, full), 0), 'doubtful')
  })

  test('keeps one more line for all callers beyond thirty-two', () => {
    let evidence = noEvidence
    for (let index = 0; index < 40; index++) evidence = served(evidence, `k${index}`, 0)
    const tallies = evidence.outcomes?.tallies ?? []
    assert.equal(tallies.length, 33)
    assert.deepEqual([tallies[0]?.ok, tallies[32]?.ok], [1, 8])
  })

  test('takes a failure back where the key failed, not where it succeeded since', () => {
    const failing = outcomesOf({ worst: [0, 10], a: [15, 4] })
    const one = failed(failing, 'c', 0)
    const later = served(one, 'c', 12_000, { beganAt: -1 })
    const back = failed(later, 'c', 24_000, { isCounted: false })
    const total = (evidence: Evidence): number => {
      let sum = 0
      for (let bucket = evidence.outcomes; bucket !== undefined; bucket = bucket.before)
        for (const tally of bucket.tallies) sum += tally.failed < 0 ? 1_000 : tally.failed
      return sum
    }
    assert.equal(total(back), 15)
    const counted = { ...back, failures: one.failures }
    assert.equal(total(withRetraction(counted, 'c')), 14)
  })

  test('keeps ten buckets, however long it is counted', () => {
    let evidence = noEvidence
    for (let index = 0; index < 30; index++) evidence = served(evidence, 'a', index * 12_000)
    let count = 0
    for (let one = evidence.outcomes; one !== undefined; one = one.before) count += 1
    assert.equal(count, 10)
  })
})
