/** A request's body can be read until it is released; its size stays known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
