/** Tests of comparing the served answers with the charges in the ledger. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatUsd } from '../../src/base/money.ts'
import { models } from '../exchanges.ts'
import { expectedUsage, ServedCounts } from './served.ts'

const cleanAudit = (charges: number) => ({
  clean: true,
  counts: { exchanges: charges, charges, differences: 0 },
})

const chatUsage = (requests: number) => ({
  model: models.chat,
  requests,
  input_tokens: 26 * requests,
  output_tokens: 34 * requests,
  // 26 × 3 + 34 × 15 = 588 micro-dollars each.
  cost_usd: Number(`${588 * requests}e-6`),
})

test('charges the counts of an answer at the prices of the benchmark', () => {
  const nothing = { complete: 0, answered: 0, outputTokens: 0 }
  assert.equal(formatUsd(expectedUsage(models.chat, 1, nothing).costPicos), '0.000588')
  const streams = expectedUsage(models.stream, 2, { ...nothing, outputTokens: 1_000 })
  assert.equal(formatUsd(streams.costPicos), '0.015156')
})

test('accepts a number of charges between complete and given answers', () => {
  const served = new ServedCounts()
  served.add(models.chat, { complete: 90, answered: 100, outputTokens: 0 })
  for (const charged of [90, 95, 100]) {
    const lines = served.compare([chatUsage(charged)], cleanAudit(charged))
    assert.deepEqual(
      lines.map((line) => line.isRight),
      [true, true],
      String(charged),
    )
  }
})

test('reports a lost charge, an extra charge and a wrong amount', () => {
  const served = new ServedCounts()
  served.add(models.chat, { complete: 90, answered: 100, outputTokens: 0 })
  const isRight = (usage: ReturnType<typeof chatUsage>): boolean | undefined =>
    served.compare([usage], cleanAudit(usage.requests))[0]?.isRight
  assert.equal(isRight(chatUsage(89)), false)
  assert.equal(isRight(chatUsage(101)), false)
  assert.equal(isRight({ ...chatUsage(95), cost_usd: 1 }), false)
  assert.equal(isRight({ ...chatUsage(95), output_tokens: 1 }), false)
})

test('reports an audit with another number of charges than the usage figures', () => {
  const served = new ServedCounts()
  assert.equal(served.compare([chatUsage(5)], cleanAudit(4))[0]?.isRight, false)
})
