/** Which alerts follow from the states of channels right after a start, when probes have shown nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HealthLine } from '../../channels/health/health-line.ts'
import { healthLine } from '../../../test/support/health-line.ts'
import { findChannelConditions } from './channel-rules.ts'

const line = healthLine({ mode: 'trial', why: 'restarted', share: 0 })

function kindsOf(...lines: readonly HealthLine[]): readonly string[] {
  const seen = lines.map((one) => ({ node: 'node-1', line: one }))
  return findChannelConditions(seen, [], new Map()).map(({ kind }) => kind)
}

test('a start that serves raises no alert until a probe shows that no channel is usable', () => {
  assert.deepEqual(kindsOf(line), [])
  const failed = { ...line, mode: 'off', why: 'failures_confirmed' } as const
  assert.deepEqual(kindsOf(failed), ['channel.off', 'model.no_usable_channel'])
  const reserve = { ...line, channel: 'reserve', rank: 1, mode: 'on', why: 'probe' } as const
  assert.deepEqual(kindsOf(failed, reserve), ['channel.off', 'model.reserve_only'])
})

test('a channel that an operator has switched off counts like an outage of its model, and is no alert itself', () => {
  const disabled = { ...line, mode: 'disabled', why: 'operator' } as const
  assert.deepEqual(kindsOf(disabled), ['model.no_usable_channel'])
})
