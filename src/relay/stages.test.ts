/** A request's body can be read until it is released; its size stays known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { BodyMemory } from './body-memory.ts'
import { RequestBody } from './stages.ts'

test('a request body gives its bytes until it is released, and its size also afterwards', () => {
  let freeCount = 0
  const room = { reserve: () => undefined, free: () => void freeCount++ }
  const body = new RequestBody(Buffer.from('{"model":"m"}'), room)
  assert.equal(body.bytes.toString(), '{"model":"m"}')
  assert.equal(freeCount, 0)
  body.release()
  body.release()
  assert.ok(freeCount > 0)
  assert.throws(() => body.bytes, { name: 'InvariantError' })
  assert.equal(body.byteLength, 13)
})

test('its memory comes back when it is released and no connection reads it any more', () => {
  const room = { reserve: () => undefined, free: () => undefined }
  for (const order of ['release first', 'release between', 'release last']) {
    const memory = new BodyMemory(new ManualClock())
    const body = new RequestBody(memory.take(200_000), room, memory)
    const steps = [body.lend(), body.lend()]
    const at = ['release first', 'release between', 'release last'].indexOf(order)
    steps.splice(at, 0, () => body.release())
    for (const step of steps) {
      assert.equal(memory.idleBytes, 0, order)
      assert.ok(step !== undefined)
      step()
    }
    assert.ok(memory.idleBytes >= 200_000, order)
  }
})

test('a small body asks no connection to report', () => {
  const room = { reserve: () => undefined, free: () => undefined }
  const memory = new BodyMemory(new ManualClock())
  assert.equal(new RequestBody(memory.take(200), room, memory).lend(), undefined)
})
