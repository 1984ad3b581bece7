import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainSystemError } from './system-error.ts'

function explained(facts: object): string | undefined {
  const error = explainSystemError(Object.assign(new Error('as the system says it'), facts))
  return error && `${error.code}: ${error.message}`
}

test('explains system errors in one sentence with the path or the address', () => {
  assert.equal(
    explained({ code: 'EACCES', path: '/backups/a.db' }),
    'operations.conflict: /backups/a.db is not accessible to this user.',
  )
  assert.equal(
    explained({ code: 'ENOSPC', path: '/backups/a.db' }),
    'operations.conflict: /backups/a.db has no space left on its disk.',
  )
  assert.equal(
    explained({ code: 'EACCES', address: '127.0.0.1', port: 80 }),
    'operations.conflict: 127.0.0.1:80 needs a permission that this user does not have.',
  )
  assert.equal(
    explained({ code: 'ENOTFOUND', hostname: 'gateway.invalid' }),
    'operations.invalid: gateway.invalid is an unknown host.',
  )
})

test('explains no error without a path or an address, and no unknown code', () => {
  assert.equal(explained({ code: 'ENOENT' }), undefined)
  assert.equal(explained({ code: 'EBADF', path: '/backups/a.db' }), undefined)
  assert.equal(explained({ path: '/backups/a.db' }), undefined)
  assert.equal(explainSystemError('a word'), undefined)
})
