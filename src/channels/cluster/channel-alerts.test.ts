/** The alerts about channels and models, each fact once; the states are those of a real health book. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { pino } from 'pino'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { makeChannel, makeModel, makeSnapshot } from '../../../test/support/snapshots.ts'
import { createTelemetry } from '../../telemetry/events.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createChannelAlerts, type ChannelAlerts } from './channel-alerts.ts'
import type { Channel, Snapshot } from '../channel.ts'
import { HealthBook } from '../health/health-book.ts'
import type { Outcome } from '../health/health-event.ts'

const main = makeChannel('main')
const reserve = makeChannel('reserve', { rank: 1 })

function snapshotOf(...channels: Channel[]): Snapshot {
  return makeSnapshot(channels, [makeModel('m')])
}

let raised: string[]
let clock: ManualClock
let book: HealthBook
let alerts: ChannelAlerts
let snapshot: Snapshot

beforeEach(() => {
  raised = []
  clock = new ManualClock()
  snapshot = snapshotOf(main, reserve)
  const log = pino(
    { level: 'info' },
    {
      write(line: string) {
        const event = JSON.parse(line) as Record<string, string>
        raised.push(`${event['event']} ${event['channel'] ?? event['model']}`)
      },
    },
  )
  alerts = createChannelAlerts({
    telemetry: createTelemetry({ log, metrics: createMetrics(), clock }),
    monotonic: () => clock.monotonic(),
    snapshot: () => snapshot,
    state: (name, model) => book.state(name, model),
  })
  book = new HealthBook({
    checkIntervalMs: 600_000,
    failoverTokensMax: 100,
    clock,
    random: () => 0.5,
    onEffect(effect, place) {
      if (effect.kind === 'changed') alerts.changed(effect, place)
      if (effect.kind === 'alert') alerts.refused(effect.why, place)
    },
  })
  book.follow(undefined, snapshot)
  alerts.review()
})

function attempt(to: Channel, outcome: Outcome, key?: string): void {
  const caller = key === undefined ? undefined : { keyId: key, accountId: key }
  book.end(book.begin(to, 'm', { isProbe: key === undefined }), { outcome, caller })
}

function fail(to: Channel): void {
  for (const key of ['a', 'b', 'c', 'd', 'e']) attempt(to, 'hard', key)
}

/** Passed probes and time bring back what is off. */
function comeBack(to: Channel): void {
  clock.advance(40_000)
  for (let pass = 0; pass < 3; pass++) {
    book.wake()
    attempt(to, 'ok')
    clock.advance(6_000)
  }
}

test('a dead main route, then a dead reserve, and the way back', () => {
  assert.deepEqual(raised, [])
  fail(main)
  assert.deepEqual(raised.splice(0), ['channel.off main', 'model.reserve_only m'])
  fail(reserve)
  assert.deepEqual(raised.splice(0), ['channel.off reserve', 'model.no_usable_channel m'])
  comeBack(reserve)
  assert.deepEqual(raised.splice(0), ['channel.back reserve', 'model.reserve_only m'])
  comeBack(main)
  assert.deepEqual(raised.splice(0), ['channel.back main', 'model.recovered m'])
  clock.advance(200_000)
  book.wake()
  assert.deepEqual(raised, [], 'the end of the ramp is no news')
})

test('a rest raises no alert, and a refused credential raises one', () => {
  attempt(main, 'throttle', 'a')
  attempt(reserve, 'throttle', 'a')
  assert.deepEqual(raised, [])
  for (let number = 0; number < 3; number++) attempt(main, 'config', 'a')
  assert.deepEqual(raised.splice(0), [
    'channel.off main',
    'model.reserve_only m',
    'channel.credential_refused main',
  ])
})

test('a vendor account without credit is a separate event', () => {
  attempt(reserve, 'no_credit', 'a')
  assert.deepEqual(raised.splice(0), ['channel.off reserve', 'channel.no_credit reserve'])
})

test('an operator’s hand and a changed catalogue count like an outage', () => {
  snapshot = snapshotOf({ ...main, override: 'disabled' }, reserve)
  alerts.review()
  alerts.review()
  assert.deepEqual(raised.splice(0), ['model.reserve_only m'])
  snapshot = snapshotOf({ ...main, override: 'disabled' })
  alerts.review()
  assert.deepEqual(raised.splice(0), ['model.no_usable_channel m'])
  snapshot = snapshotOf(reserve)
  alerts.review()
  assert.deepEqual(raised.splice(0), ['model.recovered m'], 'the reserve is the main route now')
  snapshot = { ...snapshotOf(), models: new Map() }
  alerts.review()
  assert.deepEqual(raised, [])
})
