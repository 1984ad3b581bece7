/** Directives: their text form, and that no mistake in it is passed over. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { directiveNames, parseDirectives } from './directives.ts'

test('reads numbers, texts, flags and choices by their text names', () => {
  const { directives, problems } = parseDirectives(
    'status=429; retry_after=2; gzip; usage=huge; cut=-5; cache_write_5m=7; message=a%3Bb = c',
  )
  assert.deepEqual(problems, [])
  assert.deepEqual(directives, {
    status: 429,
    retryAfter: '2',
    gzip: true,
    usage: 'huge',
    cut: -5,
    cacheWrite5m: 7,
    message: 'a;b = c',
  })
})

test('takes another separator, as model names need', () => {
  const { directives } = parseDirectives('status=503+retry_after=2', '+')
  assert.deepEqual(directives, { status: 503, retryAfter: '2' })
})

test('reports unknown names and wrong values instead of ignoring them', () => {
  const { directives, problems } = parseDirectives('staus=429; status=many; usage=odd; gzip=maybe')
  assert.deepEqual(directives, {})
  assert.equal(problems.length, 4)
})

test('leaves a lone percent sign alone', () => {
  assert.deepEqual(parseDirectives('message=100%').directives, { message: '100%' })
})

test('names every directive in snake case, once', () => {
  assert.equal(new Set(directiveNames).size, directiveNames.length)
  for (const name of directiveNames) assert.match(name, /^[a-z]+(_[a-z0-9]+)*$/)
  assert.ok(directiveNames.includes('cache_write_1h'))
  assert.ok(directiveNames.includes('event_delay_ms'))
})
