/** Lists of models as vendors and servers that imitate them write them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readListing } from './model-listing.ts'

test('ids are read from the lists of both formats and of those that imitate them', () => {
  const ids = (parsed: unknown) => readListing(parsed)?.ids
  assert.deepEqual(ids({ data: [{ id: 'a-1' }, { id: 'b/2' }, { id: 'a-1' }] }), ['a-1', 'b/2'])
  assert.deepEqual(ids([{ id: 'a-1' }]), ['a-1'])
  assert.deepEqual(ids({ models: [{ name: 'models/gemini-4' }] }), ['gemini-4'])
  assert.deepEqual(ids({ data: [{ id: 'with space' }, { id: 5 }, null] }), [])
  assert.equal(ids({ object: 'list' }), undefined)
  assert.equal(ids('text'), undefined)
})

test('a list that has more is not complete', () => {
  assert.equal(readListing({ data: [], has_more: true })?.isComplete, false)
  assert.equal(readListing({ data: [], has_more: false })?.isComplete, true)
})
