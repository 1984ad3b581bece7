/** When a share of failed requests becomes an alert, and when it ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Alert } from './alert-kind.ts'
import { ErrorRates } from './error-rates.ts'

const minute = 60_000
const day = '2026-11-21'
const none: ReadonlyMap<string, Alert> = new Map()

function count(requests: number, errors: number) {
  return [{ kind: 'channel.error_rate', subject: 'main', requests, errors } as const]
}

test('fires on half of the requests of ten minutes, and needs a whole window', () => {
  const rates = new ErrorRates()
  assert.equal(rates.observe(count(1_000, 0), { nowMs: 0, day }, none), undefined)
  assert.equal(rates.observe(count(1_040, 40), { nowMs: 9 * minute, day }, none), undefined)
  const [found] = rates.observe(count(1_040, 20), { nowMs: 10 * minute, day }, none) ?? []
  assert.deepEqual(found?.facts, { requests: 40, errors: 20, percent: 50 })
  assert.equal(found.channel, 'main')
})

test('says nothing of few requests, of fewer errors, or of what was before', () => {
  for (const [requests, errors] of [
    [19, 19],
    [40, 19],
    [0, 0],
  ] as const) {
    const rates = new ErrorRates()
    rates.observe(count(500, 400), { nowMs: 0, day }, none)
    const at = { nowMs: 10 * minute, day }
    assert.deepEqual(rates.observe(count(500 + requests, 400 + errors), at, none), [])
  }
})

test('goes on until fewer than a quarter fail', () => {
  const firing = new Map([['channel.error_rate\nmain', {} as Alert]])
  for (const [errors, findings] of [
    [10, 1],
    [9, 0],
  ] as const) {
    const rates = new ErrorRates()
    rates.observe(count(0, 0), { nowMs: 0, day }, firing)
    const found = rates.observe(count(40, errors), { nowMs: 10 * minute, day }, firing)
    assert.equal(found?.length, findings)
  }
})

test('begins anew with the day', () => {
  const rates = new ErrorRates()
  rates.observe(count(900, 800), { nowMs: 0, day }, none)
  const next = { nowMs: 11 * minute, day: '2026-11-22' }
  assert.equal(rates.observe(count(5, 5), next, none), undefined)
})
