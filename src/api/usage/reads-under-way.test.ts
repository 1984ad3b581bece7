import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readsPerAccountMax, ReadsUnderWay } from './reads-under-way.ts'

test('bounds the reads of each account by itself, and gives a place back', () => {
  const reads = new ReadsUnderWay()
  for (let count = 0; count < readsPerAccountMax; count++) assert.ok(reads.enter('acc_a'))
  assert.equal(reads.enter('acc_a'), false)
  assert.ok(reads.enter('acc_b'))
  reads.leave('acc_a')
  assert.ok(reads.enter('acc_a'))
  assert.equal(reads.enter('acc_a'), false)
})
