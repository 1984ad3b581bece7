/** Which alerts follow from what the counts of answers have shown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthLine } from '../../../test/support/health-line.ts'
import { findCountConditions } from './count-rules.ts'

const line = healthLine({})
const { channel, model } = line

test('what several gateways see of one place or channel is one alert', () => {
  const seen = [
    { ...line, ignoredLimits: ['max_tokens'], countRatio: 2.5 },
    { ...line, ignoredLimits: ['max_completion_tokens'], countRatio: 3 },
    { ...line, model: 'other', countRatio: 3 },
    line,
  ] as const
  const found = findCountConditions(seen)
  assert.deepEqual(
    found.map(({ kind, subject, facts }) => [kind, subject, facts]),
    [
      [
        'channel.limit_ignored',
        `${channel} ${model}`,
        { channel, models: [model], fields: ['max_completion_tokens', 'max_tokens'] },
      ],
      ['channel.counts_high', channel, { channel, ratio: 3 }],
    ],
  )
})

test('a channel that an operator has disabled raises no alert', () => {
  const disabled = {
    ...line,
    mode: 'disabled',
    ignoredLimits: ['max_tokens'],
    countRatio: 3,
  } as const
  assert.deepEqual(findCountConditions([line, disabled]), [])
})
