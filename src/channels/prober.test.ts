/** The prober against a simulated vendor: which checks it makes, one at a time, and who hears of it. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { systemClock } from '../base/clock.ts'
import { Secret } from '../base/secret.ts'
import { startSandbox, type Sandbox } from '../sandbox/sandbox.ts'
import type { Channel, Snapshot, Vendor } from './channel.ts'
import { createHealthBook, type AttemptEnd, type HealthBook } from './health-book.ts'
import { createProber, type Prober } from './prober.ts'
import { createUpstream } from './http-upstream.ts'
import type { Upstream } from './upstream.ts'

let sandbox: Sandbox
let upstream: Upstream
let snapshot: Snapshot
let prober: Prober
let errors: unknown[]
let book: HealthBook
let heard: { begun: string[]; ended: AttemptEnd[]; next: () => void }

const vendor: Vendor = {
  name: 'beta',
  format: 'chat',
  credential: 'bearer',
  versionHeader: undefined,
  defaultVersion: undefined,
  requireMaxTokens: true,
  allowedFeatures: new Set(),
}

function snapshotWith(more: Partial<Channel>): Snapshot {
  const channel: Channel = {
    name: 'probed',
    vendor: 'beta',
    url: `${sandbox.url}/probed`,
    credential: new Secret('check-credential'),
    models: new Map([['m', undefined]]),
    rank: 0,
    weight: 1,
    maxConcurrent: undefined,
    check: 'request',
    override: 'enabled',
    ...more,
  }
  return {
    revision: 1,
    vendors: new Map([['beta', vendor]]),
    models: new Map(),
    channels: new Map([['probed', channel]]),
    channelsByModel: new Map(),
  }
}

before(async () => {
  sandbox = await startSandbox()
  upstream = createUpstream({ connectTimeoutMs: 5_000 })
})
after(async () => {
  await upstream.close()
  await sandbox.close()
})
beforeEach(() => {
  sandbox.faults.clear()
  sandbox.log.clear()
  snapshot = snapshotWith({})
  errors = []
  heard = { begun: [], ended: [], next: () => undefined }
  book = createHealthBook({ clock: systemClock, random: () => 0.5 })
  const health: HealthBook = {
    ...book,
    begin(channel, model, kind) {
      heard.begun.push(`${channel.name} ${model}`)
      return book.begin(channel, model, kind)
    },
    end(attempt, result) {
      book.end(attempt, result)
      heard.ended.push(result)
      heard.next()
    },
  }
  prober = createProber({
    clock: systemClock,
    upstream,
    snapshot: () => snapshot,
    health: () => health,
    onError: (error) => errors.push(error),
  })
})

/** Resolves when the next check has been judged. */
function nextEnd(): Promise<void> {
  return new Promise((resolve) => (heard.next = resolve))
}

const place = { channel: 'probed', model: 'm' }

test('a check counts like an attempt that nobody asked for', async () => {
  const ended = nextEnd()
  prober.probe(place)
  await ended
  assert.deepEqual(heard.begun, ['probed m'])
  assert.deepEqual(heard.ended, [{ outcome: 'ok', retryAfterMs: undefined, caller: undefined }])
  assert.equal(sandbox.log.records.length, 1)
})

test('what the channel answers is told as it is', async () => {
  sandbox.faults.set('probed', 'error=401')
  const ended = nextEnd()
  prober.probe(place)
  await ended
  assert.deepEqual(heard.ended, [{ outcome: 'config', retryAfterMs: undefined, caller: undefined }])
})

test('a place is checked once at a time, and again when that is over', async () => {
  sandbox.faults.set('probed', 'hold=gate@before_head')
  const first = nextEnd()
  prober.probe(place)
  prober.probe(place)
  await sandbox.faults.reached('gate')
  prober.probe(place)
  assert.equal(sandbox.log.records.length, 1)
  sandbox.faults.release('gate')
  await first
  // The next check may begin once the turn in which the first one was judged is over.
  await new Promise<void>((resolve) => setImmediate(resolve))
  const second = nextEnd()
  prober.probe(place)
  await second
  assert.equal(sandbox.log.records.length, 2)
})

test('a check that hangs at an address of before neither blames the new one nor stands in its way', async () => {
  sandbox.faults.set('probed', 'hold=old@before_head; error=401')
  prober.probe(place)
  await sandbox.faults.reached('old')
  const before = snapshot
  snapshot = snapshotWith({ url: `${sandbox.url}/renewed` })
  book.follow(before, snapshot)
  prober.follow(before, snapshot)
  const asked = nextEnd()
  prober.probe(place)
  await asked
  assert.deepEqual(
    sandbox.log.records.map((record) => record.channel),
    ['probed', 'renewed'],
  )
  const late = nextEnd()
  sandbox.faults.release('old')
  await late
  assert.deepEqual(
    heard.ended.map(({ outcome }) => outcome),
    ['ok', 'config'],
  )
  assert.equal(book.state('probed', 'm').mode, 'on')
})

test('what must not be checked is not: by the operator’s word, or gone from the catalogue', async () => {
  for (const changed of [
    snapshotWith({ check: 'none' }),
    snapshotWith({ override: 'disabled' }),
    { ...snapshotWith({}), channels: new Map() },
    { ...snapshotWith({}), vendors: new Map() },
  ]) {
    snapshot = changed
    prober.probe(place)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(heard.begun, [])
  assert.equal(sandbox.log.records.length, 0)
  assert.deepEqual(errors, [])
})

test('a fault of the check itself is reported and does not block the next check', async () => {
  const whole = snapshot
  let reads = 0
  prober = createProber({
    clock: systemClock,
    upstream,
    snapshot() {
      if (reads++ === 0) throw new Error('no snapshot')
      return whole
    },
    health: () => createHealthBook({ clock: systemClock, random: () => 0.5 }),
    onError: (error) => errors.push(error),
  })
  prober.probe(place)
  await new Promise<void>((resolve) => setImmediate(resolve))
  assert.equal(errors.length, 1)
  prober.probe(place)
  await sandbox.log.waitFor((record) => record.phase === 'closed')
})

test('a burst is sent at once, and single checks of a channel stay within their number a minute', async () => {
  sandbox.faults.set('probed', 'hold=gate@before_head')
  prober.probe(place, 3)
  await sandbox.log.waitFor(() => sandbox.log.records.length === 3)
  const ended = nextEnd()
  sandbox.faults.release('gate')
  sandbox.faults.clear()
  await ended
  for (let index = 0; index < 20; index++) prober.probe({ channel: 'probed', model: `m${index}` })
  assert.equal(heard.begun.length, 12)
  await sandbox.log.waitFor(
    () => sandbox.log.records.filter((record) => record.phase === 'closed').length === 12,
  )
})

test('what a paid check took is told, so that it can be booked to the operator', async () => {
  const told = Promise.withResolvers<unknown>()
  prober = createProber({
    clock: systemClock,
    upstream,
    snapshot: () => snapshot,
    health: () => createHealthBook({ clock: systemClock, random: () => 0.5 }),
    onError: (error) => errors.push(error),
    onChecked: (at, { usage }) => told.resolve([at.channel, usage?.reported.outputTokens]),
  })
  prober.probe(place)
  assert.deepEqual(await told.promise, ['probed', 1])
})
