/** The baseline of one kind of request: its percentiles, how it forgets, and how slowly it rises. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayMs } from '../../base/clock.ts'
import { isEstablished, isTrusted, learnValues, type Baseline } from './latency-baseline.ts'

function repeated(value: number, count: number): readonly number[] {
  return Array.from({ length: count }, () => value)
}

/** Bins are twelve percent wide. */
function assertAbout(actual: number, expected: number): void {
  assert.ok(actual > expected / 1.12 && actual < expected * 1.12, `${actual}, not ${expected}`)
}

test('percentiles are those of the samples, within a bin', () => {
  const values = Array.from({ length: 1_000 }, (_, index) => index + 1)
  const { p50, p95, p99, total } = learnValues(undefined, values, 5)
  assertAbout(p50, 500)
  assertAbout(p95, 950)
  assertAbout(p99, 990)
  assert.ok(p50 < p95 && p95 < p99)
  assert.equal(total, 1_000)
})

test('values below and above the scale are at its ends', () => {
  const low = learnValues(undefined, [0, -1, 0.1], 0)
  assert.ok(low.p50 >= 0.1 && low.p50 < 0.112)
  const high = learnValues(undefined, [1e300, Infinity], 0)
  assert.ok(Number.isFinite(high.p50))
  assertAbout(high.p99, 0.1 * 1.12 ** 140)
})

test('a baseline is trusted from fifty samples on and established from two hundred on', () => {
  const of = (count: number) => learnValues(undefined, repeated(100, count), 0)
  assert.deepEqual(
    [49, 50].map((count) => isTrusted(of(count))),
    [false, true],
  )
  assert.deepEqual(
    [199, 200].map((count) => isEstablished(of(count))),
    [false, true],
  )
  assert.equal(isTrusted(undefined), false)
  assert.equal(isEstablished(undefined), false)
})

test('old samples weigh half after a day', () => {
  const first = learnValues(undefined, repeated(100, 100), 0)
  const later = learnValues(first, repeated(1_000, 10), dayMs)
  assert.equal(later.total, 60)
  assert.equal(later.at, dayMs)
  assertAbout(later.p50, 100)
  assertAbout(later.p95, 1_000)
  const twice = learnValues(first, repeated(1_000, 101), 0)
  assertAbout(twice.p50, 1_000)
  const begunLater = learnValues(undefined, repeated(100, 100), dayMs)
  assert.equal(learnValues(begunLater, [], 2 * dayMs).total, 50)
  assert.equal(learnValues(first, [], -dayMs).total, 100, 'a clock that went back forgets nothing')
})

test('an established baseline rises by at most a tenth a day and falls at once', () => {
  const first = learnValues(undefined, repeated(100, 200), 0)
  const risen = (baseline: Baseline, now: number) =>
    learnValues(baseline, repeated(1_000, 1_000), now)
  const dayLater = risen(first, dayMs)
  assert.equal(dayLater.p50, first.p50 * 1.1)
  assert.equal(dayLater.p95, first.p95 * 1.1)
  assertAbout(dayLater.p99, 1_000)
  const halfLater = risen(first, dayMs / 2)
  assert.equal(halfLater.p50, first.p50 * 1.05)
  assert.equal(risen(first, 0).p50, first.p50)
  const fallen = learnValues(first, repeated(10, 1_000), 0)
  assertAbout(fallen.p50, 10)
  const young = learnValues(undefined, repeated(100, 199), 0)
  assertAbout(risen(young, 0).p50, 1_000)
})
