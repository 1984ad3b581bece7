/** Tests of comparing the served answers with the charges in the ledger. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { models } from '../exchanges.ts'
import { ServedCounts } from './served.ts'

/** 26 × 3 + 34 × 15 = 588 micro-dollars each. */
function isRight(requests: number, { costUsd = requests * 588e-6, audited = requests } = {}) {
  const served = new ServedCounts()
  served.add(models.chat, { complete: 90, answered: 100, outputTokens: 0 })
  const audit = { clean: true, counts: { charges: audited } }
  const lines = served.compare([{ model: models.chat, requests, cost_usd: costUsd }], audit)
  return lines.map((line) => line.isRight)
}

test('accepts a number of charges between complete and given answers', () => {
  for (const charged of [90, 95, 100]) assert.deepEqual(isRight(charged), [true, true])
})

test('reports a lost charge, an extra charge, a wrong amount and a wrong audit', () => {
  assert.deepEqual(isRight(89), [false, true])
  assert.deepEqual(isRight(101), [false, true])
  assert.deepEqual(isRight(95, { costUsd: 1 }), [false, true])
  assert.deepEqual(isRight(95, { audited: 94 }), [true, false])
})
