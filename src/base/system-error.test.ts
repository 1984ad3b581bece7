import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainSystemError } from './system-error.ts'

function told(facts: object): string | undefined {
  const explained = explainSystemError(Object.assign(new Error('as the system says it'), facts))
  return explained && `${explained.code}: ${explained.message}`
}

test('what the system refuses is one sentence with the path or the address', () => {
  assert.equal(
    told({ code: 'EACCES', path: '/backups/a.db' }),
    'operations.conflict: /backups/a.db may not be used by this user.',
  )
  assert.equal(
    told({ code: 'ENOSPC', path: '/backups/a.db' }),
    'operations.conflict: /backups/a.db has no room left on its disk.',
  )
  assert.equal(
    told({ code: 'EACCES', address: '127.0.0.1', port: 80 }),
    'operations.conflict: 127.0.0.1:80 takes a permission that this user does not have.',
  )
  assert.equal(
    told({ code: 'ENOTFOUND', hostname: 'gateway.invalid' }),
    'operations.invalid: gateway.invalid is a host that nobody knows.',
  )
})

test('what says nothing of a path or an address, or is no refusal, stays what it is', () => {
  assert.equal(told({ code: 'ENOENT' }), undefined)
  assert.equal(told({ code: 'EBADF', path: '/backups/a.db' }), undefined)
  assert.equal(told({ path: '/backups/a.db' }), undefined)
  assert.equal(explainSystemError('a word'), undefined)
})
