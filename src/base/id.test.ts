import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { idTimeMs, newId } from './id.ts'

test('an id begins with its kind and has a fixed length', () => {
  for (const kind of ['acc', 'key', 'ex', 'ent', 'evt'] as const)
    assert.match(newId(kind, 1_790_000_000_000), new RegExp(`^${kind}_[0-9a-hjkmnp-tv-z]{26}$`))
})

test('property: ids sort by the times they were made at', () => {
  // Up to the year 37,648, whole milliseconds or not.
  const times = fc.double({ min: 0, max: 2 ** 50 - 1, noNaN: true })
  fc.assert(
    fc.property(times, times, (one, other) => {
      const [early, late] = one < other ? [one, other] : [other, one]
      if (Math.floor(early) === Math.floor(late)) return
      assert.ok(newId('ex', early) < newId('ex', late))
    }),
  )
})

test('ids of one millisecond share their beginning and are all different', () => {
  const ids = new Set(Array.from({ length: 100_000 }, () => newId('ex', 1_790_000_000_000)))
  assert.equal(ids.size, 100_000)
  assert.equal(new Set([...ids].map((id) => id.slice(0, 13))).size, 1)
})

test('a clock that goes back makes earlier ids, never equal ones', () => {
  const later = newId('ent', 2_000)
  const earlier = newId('ent', 1_000)
  assert.ok(earlier < later)
  assert.notEqual(newId('ent', 2_000), later)
})

test('every letter of the alphabet is used evenly', () => {
  const counts = new Map<string, number>()
  const samples = 20_000
  for (let index = 0; index < samples; index++)
    for (const letter of newId('ex', 0).slice(13)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  assert.equal(counts.size, 32)
  const expected = (samples * 16) / 32
  // Twelve standard deviations: a fair generator never leaves this band.
  for (const count of counts.values())
    assert.ok(Math.abs(count - expected) < 12 * Math.sqrt(expected))
})

test('an id gives the time it was made, other text gives none', () => {
  for (const timeMs of [0, 1, 1_764_000_000_123, 2 ** 50 - 1])
    assert.equal(idTimeMs(newId('ex', timeMs)), timeMs)
  for (const text of [
    '',
    'ex_',
    'opening-balance',
    `${newId('ex', 1)}0`,
    'ex_ilouilouil0123456789abcdef',
  ])
    assert.equal(idTimeMs(text), undefined, text)
})
