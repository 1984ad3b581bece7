import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  readsMax,
  readsPerAccountMax,
  ReadsUnderWay,
  unreadBytesMax,
  type ReadPlace,
} from './reads-under-way.ts'

function mustEnter(reads: ReadsUnderWay, accountId: string): ReadPlace {
  const place = reads.enter(accountId)
  assert.ok(!('code' in place), accountId)
  return place
}

function codeOf(result: ReturnType<ReadsUnderWay['enter']>): string | undefined {
  return 'code' in result ? result.code : undefined
}

test('bounds the reads of each account by itself, and gives a place back', () => {
  const reads = new ReadsUnderWay()
  const places = Array.from({ length: readsPerAccountMax }, () => mustEnter(reads, 'acc_a'))
  assert.equal(codeOf(reads.enter('acc_a')), 'access.too_many_running')
  mustEnter(reads, 'acc_b')
  places[0]?.leave()
  mustEnter(reads, 'acc_a')
  assert.equal(codeOf(reads.enter('acc_a')), 'access.too_many_running')
})

test('bounds the reads of all accounts together', () => {
  const reads = new ReadsUnderWay()
  const places = Array.from({ length: readsMax }, (_, index) => mustEnter(reads, `acc_${index}`))
  assert.equal(codeOf(reads.enter('acc_last')), 'relay.overloaded')
  places[0]?.leave()
  mustEnter(reads, 'acc_last')
})

test('bounds the bytes of answers that are not received, and gives them back', () => {
  const reads = new ReadsUnderWay()
  const first = mustEnter(reads, 'acc_a')
  const second = mustEnter(reads, 'acc_b')
  assert.equal(first.keep(unreadBytesMax - 1), undefined)
  assert.equal(second.keep(2)?.code, 'relay.overloaded')
  assert.equal(second.keep(1), undefined)
  first.leave()
  assert.equal(reads.unreadBytes, 1)
  second.leave()
  assert.equal(reads.unreadBytes, 0)
})
