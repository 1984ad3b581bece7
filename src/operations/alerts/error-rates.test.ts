/** When a share of failures becomes an alert, and when it ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Alert } from './alert-kind.ts'
import { ErrorRates } from './error-rates.ts'

const minute = 60_000
const none: ReadonlyMap<string, Alert> = new Map()

function newRates(): ErrorRates {
  return new ErrorRates('channel.error_rate')
}

function count(ended: number, failed: number, source = 'node-1 large-1') {
  return { subject: 'main', source, ended, failed }
}

test('fires when half of all attempts in ten minutes fail, and needs a whole window', () => {
  const rates = newRates()
  assert.equal(rates.observe([count(1_000, 0)], 0, none), undefined)
  assert.equal(rates.observe([count(1_040, 40)], 9 * minute, none), undefined)
  const [found] = rates.observe([count(1_040, 20)], 10 * minute, none) ?? []
  assert.deepEqual(found?.facts, { attempts: 40, errors: 20, percent: 50 })
  assert.equal(found.channel, 'main')
})

test('says nothing of few, of fewer errors, or of those before', () => {
  for (const [ended, failed] of [
    [19, 19],
    [40, 19],
    [0, 0],
  ] as const) {
    const rates = newRates()
    rates.observe([count(500, 400)], 0, none)
    assert.deepEqual(rates.observe([count(500 + ended, 400 + failed)], 10 * minute, none), [])
  }
})

test('says nothing after a gap that is longer than the window', () => {
  const rates = newRates()
  rates.observe([count(0, 0)], 0, none)
  assert.equal(rates.observe([count(40, 40)], 21 * minute, none), undefined)
  assert.deepEqual(rates.observe([count(80, 40)], 31 * minute, none)?.[0]?.facts, undefined)
})

test('goes on until fewer than a quarter fail', () => {
  const firing = new Map([['channel.error_rate\nmain', {} as Alert]])
  for (const [failed, findings] of [
    [10, 1],
    [9, 0],
  ] as const) {
    const rates = newRates()
    rates.observe([count(0, 0)], 0, firing)
    const found = rates.observe([count(40, failed)], 10 * minute, firing)
    assert.equal(found?.length, findings)
  }
})

test('adds the sources of a subject, and takes one that has begun anew as new', () => {
  const rates = newRates()
  rates.observe([count(900, 800, 'a'), count(100, 0, 'b')], 0, none)
  const now = [count(12, 12, 'a'), count(110, 2, 'b'), count(5, 5, 'c')]
  const [found] = rates.observe(now, 10 * minute, none) ?? []
  assert.deepEqual(found?.facts, { attempts: 27, errors: 19, percent: 70 })
})
