import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { formatDuration, parseDuration } from './duration.ts'

test('durations read as operators write them', () => {
  for (const [text, durationMs] of [
    ['0ms', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['007s', 7_000],
  ] as const)
    assert.equal(parseDuration(text), durationMs, text)
})

test('what is no whole number with a unit is not a duration', () => {
  const wrong = ['', '5', 'ms', '1.5s', '-1s', '+1s', '1 s', ' 1s', '1s ', '1S', '1w', '1m30s']
  for (const text of [...wrong, '1e3ms', 'Infinitys', '1000000000s', '1s\n', '１s', 'constructor'])
    assert.equal(parseDuration(text), undefined, JSON.stringify(text))
})

test('property: what is written is read back, in the largest unit that is exact', () => {
  fc.assert(
    fc.property(fc.nat(999_999_999), fc.constantFrom('ms', 's', 'm', 'h', 'd'), (count, unit) => {
      const durationMs = parseDuration(`${count}${unit}`)
      assert.ok(durationMs !== undefined)
      const text = formatDuration(durationMs)
      assert.equal(parseDuration(text), durationMs)
      assert.ok(text.length <= `${count}${unit}`.length || count === 0)
    }),
  )
  assert.equal(formatDuration(600_000), '10m')
  assert.equal(formatDuration(90_000), '90s')
  assert.equal(formatDuration(0), '0ms')
})
