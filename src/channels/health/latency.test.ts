/** Whether a model has become slow: its kinds of requests, its windows and its limits, at their edges. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  compareAsAlternative,
  countOverdue,
  enterSlow,
  forgetRecent,
  freshLatency,
  isHeadKind,
  isStreamKind,
  latencyKind,
  mayLeaveSlow,
  observe,
  ownQuantiles,
  pinnedQuantiles,
  postponeComparison,
  probeKind,
  settleSuspicion,
  slowAbove,
  type LatencyState,
} from './latency.ts'

const usual = { p50: 1_000, p95: 2_000, p99: 3_000 }

/** Samples at these moments, slow or not, against a baseline that is known. */
function observed(samples: readonly (readonly [number, boolean])[], from = freshLatency) {
  let latency: LatencyState = from
  for (const [now, isSlow] of samples)
    latency = observe(
      latency,
      { latencyKind: 0, value: isSlow ? 2_001 : 2_000, inherited: usual },
      { now, mayLearn: false },
    )
  return latency
}

function many(count: number, isSlow: boolean, now = 1_000) {
  return Array.from({ length: count }, () => [now, isSlow] as const)
}

test('a kind is a form, whether it reasons, and one of four sizes', () => {
  const kinds = [0, 1_999, 2_000, 15_999, 16_000, 63_999, 64_000].map((inputTokens) =>
    latencyKind({ isStream: true, inputTokens }),
  )
  assert.deepEqual(kinds, [0, 0, 1, 1, 2, 2, 3])
  const whole = latencyKind({ isStream: false, inputTokens: 2_000 })
  const reasoning = latencyKind({ isStream: true, inputTokens: 2_000, reasons: true })
  assert.deepEqual([whole, reasoning], [5, 9])
  assert.equal(latencyKind({ isStream: false, inputTokens: 2_000, reasons: true }), whole)
  assert.deepEqual([0, 3, 4, 7, 8, 11].map(isStreamKind), [true, true, false, false, true, true])
  assert.deepEqual([0, 3, 4, 7, 8, 11].map(isHeadKind), [false, false, false, false, true, true])
  assert.equal(probeKind, 0)
})

test('a sample is slow above the 95th percentile, and well above the median', () => {
  assert.equal(slowAbove(0, usual), 2_000)
  assert.equal(slowAbove(0, { ...usual, p95: 1_100 }), 1_500)
  assert.equal(slowAbove(4, { ...usual, p50: 100, p95: 120 }), 150)
})

test('an operator pins the baseline of streams', () => {
  const channel = { baselines: new Map([['m', { p50Ms: 5, p95Ms: 9 }]]) }
  assert.deepEqual(pinnedQuantiles(channel, 'm', 0), { p50: 5, p95: 9, p99: 9 })
  assert.equal(pinnedQuantiles(channel, 'm', 4), undefined)
  assert.equal(pinnedQuantiles(channel, 'n', 0), undefined)
  assert.equal(pinnedQuantiles({ baselines: new Map() }, 'm', 0), undefined)
})

describe('a suspicion', () => {
  test('is raised where ten samples or more of the last twenty are half slow', () => {
    const since = (samples: readonly (readonly [number, boolean])[]) =>
      observed(samples).suspectedSince
    assert.equal(since(many(9, true)), undefined)
    assert.equal(since(many(10, true)), 1_000)
    assert.equal(since([...many(6, false), ...many(5, true)]), undefined)
    assert.equal(since([...many(5, false), ...many(5, true)]), 1_000)
    assert.equal(since([...many(30, false), ...many(9, true)]), undefined)
    assert.equal(since([...many(30, false), ...many(10, true)]), 1_000)
  })

  test('looks at five minutes, and ends where samples do not support it', () => {
    const suspected = observed(many(10, true, 0))
    assert.equal(settleSuspicion(suspected, 300_000), suspected)
    assert.equal(settleSuspicion(suspected, 300_001).suspectedSince, undefined)
    const better = observed(many(11, false, 5), suspected)
    assert.equal(better.suspectedSince, undefined)
    const slow = enterSlow(suspected, 7)
    assert.equal(settleSuspicion(slow, 300_001), slow)
    assert.equal(observed(many(20, true), slow).suspectedSince, undefined)
  })

  test('comes from waiting alone, and a sample that was awaited is not counted twice', () => {
    let latency: LatencyState = freshLatency
    for (let index = 0; index < 10; index++) latency = countOverdue(latency, 50)
    assert.equal(latency.suspectedSince, 50)
    const sample = { latencyKind: 0, value: 9_000, inherited: usual, isCounted: true }
    assert.equal(observe(latency, sample, { now: 60, mayLearn: false }), latency)
    const unknown = { latencyKind: 0, value: 9_000 }
    assert.equal(observe(freshLatency, unknown, { now: 1, mayLearn: false }), freshLatency)
  })

  test('drops samples that are not learned yet', () => {
    const learning = observe(freshLatency, { latencyKind: 0, value: 1 }, { now: 1, mayLearn: true })
    assert.equal(learning.pending?.count, 1)
    assert.equal(observed(many(10, true), learning).pending, undefined)
  })
})

describe('the baseline of a channel', () => {
  const learn = (count: number, from: LatencyState = freshLatency, now = 1) => {
    let latency = from
    for (let index = 0; index < count; index++)
      latency = observe(latency, { latencyKind: 4, value: 100 }, { now, mayLearn: true })
    return latency
  }

  test('learns thirty-two samples at a time, and is known from fifty on', () => {
    assert.equal(learn(31).baselines[4], undefined)
    assert.equal(learn(32).baselines[4]?.total, 32)
    assert.equal(learn(32).pending, undefined)
    assert.equal(ownQuantiles(learn(63), 4), undefined)
    assert.ok((ownQuantiles(learn(64), 4)?.p50 ?? 0) > 90)
    assert.equal(ownQuantiles(learn(64), 5), undefined)
    const other = observe(learn(31), { latencyKind: 5, value: 1 }, { now: 1, mayLearn: true })
    assert.deepEqual([other.baselines[4]?.total, other.baselines[5]?.total], [31, 1])
    assert.equal(other.baselines.length, 12)
  })

  test('learns nothing of a slow channel, nor of a suspected one for half an hour', () => {
    const slow = enterSlow(freshLatency, 1)
    assert.equal(learn(1, slow), slow)
    const suspected: LatencyState = { ...freshLatency, suspectedSince: 5_000 }
    assert.equal(learn(1, suspected, 1_804_999), suspected)
    assert.equal(learn(1, suspected, 1_805_000).pending?.count, 1)
  })
})

describe('an alternative', () => {
  test('is known from eight samples of thirty seconds on, and better with one of five slow', () => {
    const compare = (samples: readonly (readonly [number, boolean])[], now = 1_000) =>
      compareAsAlternative(observed(samples), now)
    assert.deepEqual(compare([]), { comparison: 'unknown', missing: 8 })
    assert.deepEqual(compare(many(7, false)), { comparison: 'unknown', missing: 1 })
    assert.deepEqual(compare(many(8, false)), { comparison: 'better', missing: 0 })
    assert.deepEqual(compare(many(8, false), 31_000).comparison, 'better')
    assert.deepEqual(compare(many(8, false), 31_001), { comparison: 'unknown', missing: 8 })
    const mixed = (slow: number) => compare([...many(10 - slow, false), ...many(slow, true)])
    assert.deepEqual([mixed(2).comparison, mixed(3).comparison], ['better', 'worse'])
  })
})

describe('a slow channel', () => {
  test('may return after three minutes, with ten samples of which a tenth is slow', () => {
    const slow = enterSlow(freshLatency, 1_000)
    const fast = observed(many(10, false, 2_000), slow)
    assert.equal(mayLeaveSlow(fast, 180_999), false)
    assert.equal(mayLeaveSlow(fast, 181_000), true)
    assert.equal(mayLeaveSlow(observed(many(9, false, 2_000), slow), 181_000), false)
    const one = observed([...many(9, false, 2_000), ...many(1, true, 2_000)], slow)
    assert.equal(mayLeaveSlow(one, 181_000), true)
    const two = observed([...many(8, false, 2_000), ...many(2, true, 2_000)], slow)
    assert.equal(mayLeaveSlow(two, 181_000), false)
    assert.equal(mayLeaveSlow(freshLatency, 181_000), false)
    assert.equal(mayLeaveSlow(observed(many(10, false, 999), slow), 181_000), false)
  })

  test('and one that was off forget recent samples and keep what they have learned', () => {
    const baselines = [undefined]
    const busy: LatencyState = {
      baselines,
      pending: { kind: 0, value: 1, count: 1, before: undefined },
      recent: { at: 1, isSlow: true, length: 1, before: undefined },
      slowSince: 2,
      suspectedSince: 3,
      compareAt: 4,
    }
    assert.deepEqual(forgetRecent(busy), { ...freshLatency, baselines, compareAt: 4 })
    assert.deepEqual(enterSlow(busy, 9), { ...freshLatency, baselines, compareAt: 4, slowSince: 9 })
    assert.equal(postponeComparison(busy, 1_000).compareAt, 301_000)
  })
})

test('of recent samples at most forty are kept, the latest twenty of them when there are more', () => {
  const lengthOf = (count: number) => {
    let length = 0
    for (let one = observed(many(count, false)).recent; one !== undefined; one = one.before)
      length++
    return length
  }
  assert.deepEqual([1, 40, 41, 60, 61].map(lengthOf), [1, 40, 21, 40, 21])
})
