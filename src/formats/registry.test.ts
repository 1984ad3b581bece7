/** An operation that is forwarded has one spelling. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findOperation, formatOf } from './registry.ts'

test('a forwarded operation is not found under a second spelling', () => {
  for (const name of ['messages', 'chat'] as const)
    for (const { method, path } of formatOf(name).operations.filter(
      ({ kind }) => kind === 'forwarded',
    )) {
      assert.equal(findOperation(name, method, path).kind, 'found')
      for (const spelling of [
        `${path}/`,
        `${path}/x`,
        `/v1/models/..${path}`,
        `/v1/models/../..${path}`,
        `/v1/models/%2e%2e%2f${path.slice(4)}`,
        path.replace('/v1/', '/v1%2f'),
        path.replace('/v1/', '/v1//'),
        path.toUpperCase(),
      ])
        assert.notEqual(findOperation(name, method, spelling).kind, 'found', spelling)
    }
})
