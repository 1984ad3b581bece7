/** Memory that is used again: which comes back, in which state, and how long it is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { BodyMemory } from './body-memory.ts'

const mebibyte = 1_048_576

test('a block is used again for a body of about its size, and has no byte of the one before', () => {
  const memory = new BodyMemory(new ManualClock())
  const first = memory.take(200_000).fill('a')
  const { buffer } = first
  memory.giveBack(first.subarray(0, 150_000))
  assert.notEqual(memory.take(300_000).buffer, buffer, 'for a larger one')
  const second = memory.take(250_000)
  assert.equal(second.buffer, buffer)
  assert.ok(second.subarray(0, 150_000).every((byte) => byte === 0))
  assert.notEqual(memory.take(200_000).buffer, buffer, 'while another body has it')
})

test('memory of other sizes or other owners, and memory that has come back, is not taken', () => {
  const memory = new BodyMemory(new ManualClock())
  const body = memory.take(mebibyte)
  for (const other of [
    memory.take(100_000),
    memory.take(2 * mebibyte + 1),
    new BodyMemory(new ManualClock()).take(mebibyte),
    Buffer.alloc(mebibyte),
  ]) {
    memory.giveBack(other.fill('a'))
    assert.ok(other.every((byte) => byte === 0x61))
  }
  assert.equal(memory.idleBytes, 0)
  memory.giveBack(body)
  memory.giveBack(body)
  assert.equal(memory.idleBytes, mebibyte)
})

test('idle memory is bounded', () => {
  const memory = new BodyMemory(new ManualClock())
  const bodies = Array.from({ length: 40 }, () => memory.take(mebibyte))
  for (const body of bodies) memory.giveBack(body)
  assert.equal(memory.idleBytes, 32 * mebibyte)
})

test('a block that is not used is freed after some seconds, and at rest there is none', () => {
  const clock = new ManualClock()
  const memory = new BodyMemory(clock)
  const bodies = [memory.take(mebibyte), memory.take(mebibyte), memory.take(200_000)]
  const blocks = bodies.map(({ buffer }) => buffer)
  for (const body of bodies) memory.giveBack(body)
  clock.advance(9_000)
  memory.giveBack(memory.take(mebibyte))
  clock.advance(2_000)
  assert.deepEqual(
    blocks.map(({ byteLength }) => byteLength),
    [0, mebibyte, 0],
  )
  clock.advance(20_000)
  assert.equal(memory.idleBytes, 0)
  assert.equal(blocks[1]?.byteLength, 0)
  assert.equal(clock.pendingCount, 0)
})
