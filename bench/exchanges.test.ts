/** Tests of the body sizes that the documentation states. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerBodies, requestBodies } from './exchanges.ts'

test('bodies have about the size that the documentation states', () => {
  for (const body of Object.values(requestBodies)) {
    assert.ok(body.length > 150 && body.length < 250, `a request of ${body.length} bytes`)
  }
  for (const body of Object.values(answerBodies)) {
    assert.ok(body.length > 330 && body.length < 470, `an answer of ${body.length} bytes`)
  }
})
