import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { minuteMs } from '../base/clock.ts'
import { createEarlyLeaves } from './early-leaves.ts'

function open(options: { readonly freeMax: number; readonly freePercent: number }) {
  const clock = new ManualClock()
  const leaves = createEarlyLeaves({ clock, ...options })
  const take = (count: number): number =>
    Array.from({ length: count }, () => leaves.takeFree('acc')).filter(Boolean).length
  return { clock, leaves, take }
}

test('a number of early leaves is free in an hour, for each account', () => {
  const { clock, leaves, take } = open({ freeMax: 20, freePercent: 2 })
  assert.equal(take(100), 20)
  assert.ok(leaves.takeFree('another'))
  clock.advance(60 * minuteMs - 1)
  assert.equal(take(100), 0)
  clock.advance(1)
  assert.equal(take(100), 20)
})

test('an account with many requests may leave a percentage of them', () => {
  const { leaves, take } = open({ freeMax: 20, freePercent: 2 })
  for (let index = 0; index < 5_000; index++) leaves.countRequest('acc')
  assert.equal(take(200), 100)
})

test('requests of the hour before count as far as the last hour reaches', () => {
  const { clock, leaves, take } = open({ freeMax: 0, freePercent: 2 })
  for (let index = 0; index < 1_000; index++) leaves.countRequest('acc')
  clock.advance(90 * minuteMs)
  assert.equal(take(200), 10)
  clock.advance(180 * minuteMs)
  assert.equal(take(200), 0)
})

test('no leave is free where both limits are zero', () => {
  const { leaves, take } = open({ freeMax: 0, freePercent: 0 })
  leaves.countRequest('acc')
  assert.equal(take(3), 0)
})
