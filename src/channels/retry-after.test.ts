import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRetryAfterMs } from './retry-after.ts'

const nowMs = Date.parse('2026-11-21T12:00:00Z')

function read(headers: Readonly<Record<string, string>>): number | undefined {
  return readRetryAfterMs({ header: (name) => headers[name] }, nowMs)
}

test('the time a vendor names is read in each of its forms', () => {
  const rows: readonly (readonly [Record<string, string>, number | undefined])[] = [
    [{ 'retry-after': '30' }, 30_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:42 GMT' }, 42_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '2500', 'retry-after': '3' }, 2_500],
    [{ 'retry-after-ms': '2500' }, 2_500],
    [{ 'retry-after-ms': 'x', 'retry-after': '3' }, 3_000],
  ]
  for (const [headers, expected] of rows)
    assert.equal(read(headers), expected, JSON.stringify(headers))
})

test('what names no time is no time, rather than none at all to wait', () => {
  for (const text of ['', ' ', 'soon', '-5', '1e3', 'NaN', 'Infinity'])
    assert.equal(read({ 'retry-after': text }), undefined, JSON.stringify(text))
  assert.equal(read({}), undefined)
})
