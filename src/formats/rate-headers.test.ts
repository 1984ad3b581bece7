import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { flatOf } from '../../test/support/header-lists.ts'
import { answerLines } from '../http/wire/head-lines.ts'
import { limitRetryAfter, readRetryAfterMs } from './rate-headers.ts'

const nowMs = Date.parse('2026-11-21T12:00:00Z')

function read(headers: Readonly<Record<string, string>>): number | undefined {
  return readRetryAfterMs({ header: (name) => headers[name] }, nowMs)
}

test('reads the time that a vendor names, in each of its forms', () => {
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

test('reads no time, rather than zero, where no time is named', () => {
  for (const text of ['', ' ', 'soon', '-5', '1e3', 'NaN', 'Infinity'])
    assert.equal(read({ 'retry-after': text }), undefined, JSON.stringify(text))
  assert.equal(read({}), undefined)
})

describe('the retry-after that a client gets', () => {
  const limited = (headers: readonly string[], restMs: number): string[] =>
    flatOf(limitRetryAfter(answerLines(headers), { restMs, nowMs }))
  const limit = (name: string, value: string): string | undefined =>
    limited(['a', 'b', name, value], 4_200)[3]

  it('is limited, in each of its forms', () => {
    for (const [value, shown] of [
      ['0', '0'],
      ['60', '60'],
      ['61', '60'],
      ['99999999999999999999', '60'],
      ['Sat, 21 Nov 2026 12:00:30 GMT', 'Sat, 21 Nov 2026 12:00:30 GMT'],
      ['Sat, 21 Nov 2026 13:00:00 GMT', '60'],
      ['1.5', '1.5'],
    ] as const)
      assert.equal(limit('Retry-After', value), shown, value)
    assert.equal(limit('retry-after-ms', '1500'), '1500')
    assert.equal(limit('retry-after-ms', '60001'), '60000')
  })

  it('is the rest of the channel where it cannot be read', () => {
    for (const value of ['soon', '', '-5', '1e3', '2026-11-21'])
      assert.equal(limit('Retry-After', value), '5', value)
    assert.equal(limit('retry-after-ms', 'x'), '4200')
    const long = limited(['retry-after', 'soon'], 300_000)
    assert.deepEqual(long, ['retry-after', '60'])
  })

  it('is the only header that changes', () => {
    const headers = ['Retry-Afterwards', '99', 'x-retry-after', '99']
    assert.deepEqual(limited(headers, 5_000), headers)
  })
})
