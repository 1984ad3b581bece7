/** Directives: their text form, their documentation, and that each mistake is reported. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  checkDirectives,
  contentDirectives,
  directiveNames,
  directivesTable,
  parseDirectives,
} from './directives.ts'

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

test('accepts another separator, as model names need', () => {
  const { directives } = parseDirectives('status=503+retry_after=2', '+')
  assert.deepEqual(directives, { status: 503, retryAfter: '2' })
})

test('reports unknown names and wrong values instead of ignoring them', () => {
  const wrong = 'staus=429; sttus=1; status=many; usage=odd; gzip=maybe; hold=a@nowhere'
  const { directives, problems } = parseDirectives(wrong)
  assert.deepEqual(directives, {})
  assert.deepEqual(
    new Set(problems),
    new Set([
      'there is no directive "staus"',
      'there is no directive "sttus"',
      'directive "status" needs a whole number',
      'directive "usage" needs one of none, null, zero, bare, negative, fractional, text, huge, falling, twice',
      'directive "gzip" needs true, false or no value',
      'directive "hold" needs id@point with one of the points before_head, after_head, first_event, first_output, mid, before_usage, before_terminal',
    ]),
  )
})

test('checks directives that are given as an object', () => {
  const given = { error: '529', hold: 'a@mid,b', content: 'text,tool', header: 'x-a: b' }
  assert.deepEqual(checkDirectives(given), { directives: given, problems: [] })
  const wrong = checkDirectives({
    error: 'none',
    errorFirst: 'x',
    content: 'poem',
    header: 'x',
    cut: 1.5,
  })
  assert.equal(wrong.problems.length, 5)
})

test('keeps a lone percent sign', () => {
  assert.deepEqual(parseDirectives('message=100%').directives, { message: '100%' })
})

test('names every directive in snake case, once', () => {
  assert.equal(new Set(directiveNames).size, directiveNames.length)
  for (const name of directiveNames) assert.match(name, /^[a-z]+(_[a-z0-9]+)*$/)
  assert.ok(directiveNames.includes('cache_write_1h'))
  assert.ok(directiveNames.includes('event_delay_ms'))
})

test('separates directives about content from those about sending', () => {
  assert.ok(contentDirectives.has('output') && contentDirectives.has('usageAlways'))
  assert.ok(!contentDirectives.has('delayMs') && !contentDirectives.has('status'))
})

test('documents every directive in readme.md', () => {
  const page = readFileSync(new URL('readme.md', import.meta.url), 'utf8')
  const [, shown = ''] =
    /<!-- directives:begin -->\n([\s\S]*?)\n<!-- directives:end -->/.exec(page) ?? []
  const unpadded = (table: string) =>
    table.trim().replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')
  assert.equal(unpadded(shown), unpadded(directivesTable()))
})
