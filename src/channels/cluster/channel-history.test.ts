/** What a line of history tells beside its states, and that operators can look up every reason. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { describeChange } from './channel-history.ts'
import type { HealthLine } from '../health/health-line.ts'

const line: HealthLine = {
  channel: 'main',
  model: 'm',
  vendor: 'alpha',
  rank: 0,
  mode: 'off',
  isUsable: false,
  sinceMs: 0,
  why: 'failures_in_a_row',
  share: 0,
  wakeAtMs: 40_000,
  restUntilMs: undefined,
  lastOkAtMs: undefined,
  running: 0,
  firstEventMs: { p50: 400, p95: 900 },
  recentAttempts: { ended: 0, failed: 0 },
  usualFirstEventMs: undefined,
  waits: [],
  failures: [
    { outcome: 'hard', count: 7, lastAtMs: 9_000 },
    { outcome: 'throttle', count: 2, lastAtMs: 1_000 },
  ],
}

test('describes failures since the previous line, latency, and the next wake-up', () => {
  assert.deepEqual(describeChange(line, new Map([['throttle', 2]])), {
    failures: [{ outcome: 'hard', count: 7, lastAtMs: 9_000 }],
    first_event_ms: { p50: 400, p95: 900 },
    wake_at_ms: 40_000,
  })
  const calm = { ...line, wakeAtMs: undefined, firstEventMs: undefined }
  assert.deepEqual(describeChange(calm, new Map(Object.entries({ hard: 7, throttle: 2 }))), {})
  // After a new beginning there are fewer than before.
  assert.deepEqual(describeChange(calm, new Map(Object.entries({ hard: 70, throttle: 20 }))), {})
})

test('docs/operating.md explains every reason a state can have', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operating.md'), 'utf8')
  const healthFolder = join(import.meta.dirname, '../health')
  const reasons = new Set<string>()
  for (const name of readdirSync(healthFolder)) {
    if (name.endsWith('.test.ts')) continue
    const text = readFileSync(join(healthFolder, name), 'utf8')
    for (const form of [
      /\bwhy: '([a-z_]+)'/g,
      /\bwhy = [^\n]*'([a-z_]+)'/g,
      /\bwhy = [^\n]*'([a-z_]+)' :/g,
      /\b(?:toTrial|toRamp)\((?:(?!mode:)[^'])*'([a-z_]+)'/g,
      /return '(operator|reconfigured)'/g,
      /outcome === 'config' \? '([a-z_]+)'/g,
      /^ {2}([a-z_]+): (?:refusal|\{ \.\.\.refusal)/gm,
    ])
      for (const match of text.matchAll(form)) reasons.add(match[1] ?? '')
  }
  reasons.delete('config')
  assert.ok(reasons.size >= 21, [...reasons].join(', '))
  const missing = [...reasons].filter((reason) => !page.includes(`\`${reason}\``))
  assert.deepEqual(missing, [])
})
