/**
 * What no table shows: a false warning, a refused credential, a poisoned request, overflow at caps,
 * channels that are never probed. Each case is one simulated story; `SEED=…` tells it otherwise.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { during, steady } from './vendor-model.ts'
import { World, type ChannelPlan, type WorldPlan, type WorldRecord } from './world.ts'

const minuteMs = 60_000
const fault = { from: 10 * minuteMs, to: 20 * minuteMs }
const end = 60 * minuteMs

const main = (script: ChannelPlan['script'], change?: ChannelPlan['change']): ChannelPlan => ({
  name: 'main',
  rank: 0,
  script,
  ...(change === undefined ? {} : { change }),
})
const reserve = (script = steady()): ChannelPlan => ({ name: 'reserve', rank: 1, script })

function run(channels: readonly ChannelPlan[], plan: Partial<WorldPlan> = {}): WorldRecord {
  return new World({
    channels,
    requestsPerSecond: 2,
    keyCount: 20,
    durationMs: end,
    seed: Number(process.env['SEED'] ?? 1),
    ...plan,
  }).run()
}

function offs(record: WorldRecord, channel: string): number {
  return record.changes.filter(
    ({ channel: name, from, to }) => name === channel && to === 'off' && from !== 'off',
  ).length
}

test('a warning that does not hold on another node switches nothing off there', () => {
  const world = new World({
    channels: [main(steady({ errorRate: 0 })), reserve()],
    requestsPerSecond: 2,
    keyCount: 20,
    durationMs: end,
    seed: 1,
  })
  const [book] = world.books
  assert.ok(book !== undefined)
  for (let minute = 1; minute < 50; minute++)
    world.clock.at(minute * minuteMs, () => book.warn({ channel: 'main', model: 'm' }))
  assert.equal(offs(world.run(), 'main'), 0)
})

test('a refused credential takes one request, alerts once, and returns only after passed probes', () => {
  const record = run([main(during(fault, { isRefusing: true })), reserve()])
  assert.equal(record.unexplainedFailures, 0)
  assert.equal(record.alerts.length, 1)
  const off = record.changes.find(({ to }) => to === 'off')
  assert.ok(off !== undefined && off.at < fault.from + 5_000)
  const back = record.changes.find(({ at, to }) => at > off.at && to === 'ramp')
  assert.ok(back !== undefined && back.at > fault.to)
  // Those under way when the first answer came, and no more.
  const before = record.changes.filter(({ at }) => at < fault.to && at > off.at)
  assert.deepEqual(
    before.filter(({ to }) => to === 'ramp' || to === 'on'),
    [],
  )
})

test('a poisoned request switches nothing off, on one channel or on both', () => {
  const record = run([main(steady()), reserve()], { poisonedKey: 'key-3', keyCount: 4 })
  assert.equal(offs(record, 'main') + offs(record, 'reserve'), 0)
  assert.ok((record.probes.get('main') ?? 0) < 60)
})

test('a full channel overflows to the next and takes its traffic back', () => {
  const record = run([main(steady(), { maxConcurrent: 2 }), reserve()])
  const overflow = record.attempts.get('reserve') ?? 0
  assert.ok(overflow > 0.1 * record.exchanges && overflow < 0.9 * record.exchanges)
  assert.equal(offs(record, 'main'), 0)
})

test('channels that nothing but traffic can prove return as well', () => {
  const unprobed = { check: 'none' } as const
  const record = run([main(during(fault, { errorRate: 1 }), unprobed), reserve()])
  assert.equal(offs(record, 'main'), 1)
  const last = record.changes.at(-1)
  assert.equal(last?.to, 'on')
  assert.ok((last?.at ?? end) < fault.to + 5 * minuteMs)
  assert.equal(record.probes.get('main'), undefined)
})
