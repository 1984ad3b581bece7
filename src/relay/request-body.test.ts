/** A body is there until it is released, and then nobody may ask for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestBody } from './request-body.ts'

test('gives its bytes until it is released, and tells its size for good', () => {
  const body = new RequestBody(Buffer.from('{"model":"m"}'))
  assert.equal(body.bytes.toString(), '{"model":"m"}')
  body.release()
  body.release()
  assert.throws(() => body.bytes, { name: 'InvariantError' })
  assert.equal(body.byteLength, 13)
})
