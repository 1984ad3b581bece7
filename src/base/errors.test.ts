import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCatalogue } from './error-catalogue.ts'
import { GatewayError, invariant, InvariantError, refuse } from './errors.ts'

test('every public code is area.reason with a status that fits its origin', () => {
  for (const [code, { status, origin }] of Object.entries(errorCatalogue)) {
    assert.match(code, /^[a-z]+\.[a-z_]+$/)
    if (origin === 'client' || origin === 'account') assert.ok(status >= 400 && status < 500, code)
    else assert.ok(status >= 500 || status === 429, code)
  }
})

test('a refusal has headers only where there are any', () => {
  assert.deepEqual(refuse('http.not_found', 'Not here.'), {
    kind: 'refusal',
    code: 'http.not_found',
    message: 'Not here.',
  })
  assert.deepEqual(refuse('access.rate_limited', 'Wait.', { 'retry-after': '3' }).headers, {
    'retry-after': '3',
  })
})

test('an error has the status of its code, and its cause', () => {
  const cause = new Error('below')
  const error = new GatewayError('ledger.unavailable', 'Later.', { cause })
  assert.deepEqual(
    [error.name, error.status, error.origin, error.cause],
    ['GatewayError', 503, 'gateway', cause],
  )
})

test('a broken invariant throws, one that holds does not', () => {
  invariant(true, 'holds')
  assert.throws(() => invariant(false, 'does not hold'), InvariantError)
})
