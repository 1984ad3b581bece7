import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FailedSignIns } from './failed-sign-ins.ts'

function withLimit(perMinuteMax: number) {
  const reached: string[] = []
  const failures = new FailedSignIns({ perMinuteMax, onReached: (group) => reached.push(group) })
  /** How many of so many failures are refused. */
  const refusedOf = (count: number, address: string | undefined, nowMs = 1_000): number => {
    let refusedCount = 0
    for (let index = 0; index < count; index++)
      if (failures.note(address, nowMs) !== undefined) refusedCount++
    return refusedCount
  }
  return { failures, reached, refusedOf }
}

describe('failed sign-ins', () => {
  it('are limited per address and minute, and the limit is reported once', () => {
    const { failures, reached, refusedOf } = withLimit(3)
    assert.equal(refusedOf(5, '192.0.2.1'), 2)
    assert.equal(refusedOf(3, '192.0.2.2'), 0)
    assert.deepEqual(reached, ['192.0.2.1'])
    const refusal = failures.note('192.0.2.1', 1_000 + 20_500)
    assert.equal(refusal?.code, 'access.too_many_failed_sign_ins')
    assert.deepEqual(refusal.headers, { 'retry-after': '40' })
    assert.equal(refusedOf(3, '192.0.2.1', 61_000), 0)
  })

  it('of one IPv6 network /64 count together', () => {
    const { reached, refusedOf } = withLimit(1)
    assert.equal(refusedOf(1, '2001:db8::1'), 0)
    assert.equal(refusedOf(1, '2001:db8::ffff:1'), 1)
    assert.equal(refusedOf(1, '2001:db8:0:1::1'), 0)
    assert.deepEqual(reached, ['2001:db8:0:0::/64'])
  })

  it('without a limit, or without an address, are never refused', () => {
    assert.equal(withLimit(0).refusedOf(1_000, '192.0.2.1'), 0)
    assert.equal(withLimit(1).refusedOf(1_000, undefined), 0)
  })

  it('are forgotten when the clock is set back', () => {
    const { refusedOf } = withLimit(1)
    assert.equal(refusedOf(2, '192.0.2.1', 100_000), 1)
    assert.equal(refusedOf(1, '192.0.2.1', 10_000), 0)
  })

  it('beyond the limit leave one look-up at a time to their address, and refuse none', async () => {
    const { failures, refusedOf } = withLimit(1)
    const begun: string[] = []
    const lookUp = (name: string, find: () => Promise<string>, address = '192.0.2.1') =>
      failures.lookUp(address, 1_000, () => {
        begun.push(name)
        return find()
      })
    refusedOf(1, '192.0.2.1')
    const first = Promise.withResolvers<string>()
    const earlier = lookUp('first', () => first.promise)
    const failing = assert.rejects(lookUp('failing', () => Promise.reject(new Error('store'))))
    const later = lookUp('later', () => Promise.resolve('valid'))
    assert.equal(await lookUp('other', () => Promise.resolve('other'), '192.0.2.2'), 'other')
    assert.deepEqual(begun.toSorted(), ['first', 'other'])
    first.resolve('found')
    await failing
    assert.deepEqual(await Promise.all([earlier, later]), ['found', 'valid'])
    assert.deepEqual(begun.slice(2), ['failing', 'later'])
    assert.equal(await lookUp('next', () => Promise.resolve('next')), 'next')
  })
})
