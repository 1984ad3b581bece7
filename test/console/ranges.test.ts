/** Periods of time in the console: what a preset means at a fixed moment, in UTC and in the reader's zone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf } from '../../console/src/search.ts'
import {
  endText,
  listDays,
  parseEnd,
  periodBefore,
  periodOf,
  presets,
  rangeFields,
  type Preset,
  type Range,
} from '../../console/src/ui/range.ts'

/** A Sunday; in Auckland it is the first of March already. */
const nowMs = Date.parse('2026-02-28T23:30:00.000Z')

function days(range: Range): readonly [string, string] {
  const { from, to } = periodOf(range, { unit: 'day', nowMs, usual: '30d' })
  return [from, to]
}

test('a preset of days counts UTC days, today included', () => {
  const expected: Readonly<Partial<Record<Preset, readonly string[]>>> = {
    today: ['2026-02-28', '2026-02-28'],
    yesterday: ['2026-02-27', '2026-02-27'],
    '24h': ['2026-02-27', '2026-02-28'],
    '7d': ['2026-02-22', '2026-02-28'],
    '30d': ['2026-01-30', '2026-02-28'],
    thisMonth: ['2026-02-01', '2026-02-28'],
    lastMonth: ['2026-01-01', '2026-01-31'],
  }
  for (const [range, period] of Object.entries(expected))
    assert.deepEqual(days({ range: range as Preset }), period, range)
})

test('an address without a period means the usual one, and one end alone thirty days', () => {
  assert.deepEqual(days({}), ['2026-01-30', '2026-02-28'])
  assert.deepEqual(days({ to: '2026-02-10' }), ['2026-01-12', '2026-02-10'])
  assert.deepEqual(days({ from: '2026-02-10' }), ['2026-02-10', '2026-02-28'])
  assert.deepEqual(days({ from: '2026-02-10', to: '2026-02-01' }), ['2026-02-01', '2026-02-10'])
  // The end of a moment is exclusive: midnight belongs to the day before.
  const moments = { from: '2026-02-01T05:00:00.000Z', to: '2026-02-03T00:00:00.000Z' }
  assert.deepEqual(days(moments), ['2026-02-01', '2026-02-02'])
})

for (const zone of ['UTC', 'Pacific/Auckland', 'America/Los_Angeles'])
  test(`a preset of moments begins at midnight in ${zone}`, () => {
    const before = process.env['TZ']
    process.env['TZ'] = zone
    try {
      const moments = (range: Preset) => periodOf({ range }, { unit: 'moment', nowMs })
      const clock = (text = ''): string => new Date(text).toTimeString().slice(0, 8)
      const date = (text = ''): number => new Date(text).getDate()
      const today = new Date(nowMs).getDate()
      for (const range of ['today', 'yesterday', '7d', '30d', 'thisMonth', 'lastMonth'] as const)
        assert.equal(clock(moments(range).from), '00:00:00', range)
      assert.equal(date(moments('today').from), today)
      assert.equal(moments('today').to, undefined, 'an open end has the newest')
      assert.equal(moments('yesterday').to, moments('today').from)
      assert.equal(date(moments('lastMonth').from), 1)
      assert.equal(moments('lastMonth').to, moments('thisMonth').from)
      assert.deepEqual(moments('1h'), { from: '2026-02-28T22:30:00.000Z' })
      for (const [text, end] of [
        ['2026-02-27 18:30', 'from'],
        ['2026-02-27 18:30', 'to'],
      ] as const) {
        const parsed = parseEnd(text, { unit: 'moment', end })
        assert.equal(endText(parsed, { unit: 'moment', end }), text)
      }
      const wholeDay = (['from', 'to'] as const).map((end) =>
        Date.parse(parseEnd('2026-02-27', { unit: 'moment', end }) ?? ''),
      )
      assert.equal((wholeDay[1] ?? 0) - (wholeDay[0] ?? 0), 86_400_000)
    } finally {
      if (before === undefined) delete process.env['TZ']
      else process.env['TZ'] = before
    }
  })

test('a day in an address is a UTC day, whatever the page shows', () => {
  const range = { from: '2026-02-01', to: '2026-02-03' }
  assert.deepEqual(periodOf(range, { unit: 'moment', nowMs }), range)
})

test('an address keeps a period, and what is none is left out', () => {
  const readRange = addressOf(rangeFields)
  for (const range of presets) assert.deepEqual(readRange({ range }), { range })
  const kept = { from: '2026-02-01', to: '2026-02-03T10:00:00.000Z' }
  assert.deepEqual(readRange(kept), kept)
  assert.deepEqual(readRange({ range: 'week', from: '2026-02-31', to: 'now' }), {})
})

test('what a person types is a day or a time, or is not taken', () => {
  const day = (text: string) => parseEnd(text, { unit: 'day', end: 'to' })
  assert.deepEqual(['2026-02-03', ' 2026-02-03 '].map(day), ['2026-02-03', '2026-02-03'])
  for (const wrong of ['', '3.2.2026', '2026-02-30', '2026-02-03 10:00'])
    assert.equal(day(wrong), undefined, wrong)
  for (const wrong of ['2026-02-03 25:00', '2026-02-03 10:61', '10:00'])
    assert.equal(parseEnd(wrong, { unit: 'moment', end: 'from' }), undefined, wrong)
})

test('the period before has as many days, and ends the day before', () => {
  const period = { from: '2026-02-22', to: '2026-02-28' }
  assert.deepEqual(periodBefore(period), { from: '2026-02-15', to: '2026-02-21' })
  assert.equal(listDays(period).length, 7)
  assert.deepEqual(listDays({ from: '2026-02-28', to: '2026-03-01' }), ['2026-02-28', '2026-03-01'])
})
