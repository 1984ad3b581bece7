/** The prober against a simulated vendor: which checks it makes, one at a time, and who hears of it. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { makeChannel, makeSnapshot } from '../../../test/support/snapshots.ts'
import { startSandbox, type Sandbox } from '../../../sandbox/sandbox.ts'
import type { Channel, Snapshot } from '../channel.ts'
import { HealthBook, type AttemptEnd } from '../health/health-book.ts'
import { Prober } from './prober.ts'
import { UpstreamPools } from '../../http/client/pool.ts'

let sandbox: Sandbox
let upstream: UpstreamPools
let snapshot: Snapshot
let prober: Prober
let errors: unknown[]
let clock: ManualClock
let book: RecordedBook
let recorded: { begun: string[]; ended: AttemptEnd[]; next: () => void }

function snapshotWith(more: Partial<Channel>): Snapshot {
  const url = `${sandbox.url}/probed`
  return makeSnapshot([makeChannel('probed', { vendor: 'beta', url, ...more })])
}

before(async () => {
  sandbox = await startSandbox()
  upstream = new UpstreamPools({ connectTimeoutMs: 5_000 })
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
  recorded = { begun: [], ended: [], next: () => undefined }
  clock = new ManualClock()
  book = new RecordedBook({
    clock,
    random: () => 0.5,
    checkIntervalMs: 600_000,
    failoverTokensMax: 100,
  })
  prober = new Prober({
    clock,
    upstream,
    snapshot: () => snapshot,
    health: () => book,
    onError: (error) => errors.push(error),
  })
})

/** Records what the prober begins and ends. */
class RecordedBook extends HealthBook {
  override begin(...args: Parameters<HealthBook['begin']>): ReturnType<HealthBook['begin']> {
    const [channel, model] = args
    recorded.begun.push(`${channel.name} ${model}`)
    return super.begin(...args)
  }

  override end(...args: Parameters<HealthBook['end']>): void {
    super.end(...args)
    recorded.ended.push(args[1])
    recorded.next()
  }

  beginAsClient(...args: Parameters<HealthBook['begin']>): ReturnType<HealthBook['begin']> {
    return super.begin(...args)
  }

  endAsClient(...args: Parameters<HealthBook['end']>): void {
    super.end(...args)
  }
}

/** Resolves when the next check has been judged. */
function nextEnd(): Promise<void> {
  return new Promise((resolve) => (recorded.next = resolve))
}

/** Lets time pass; every check has been answered before it goes on. */
async function pass(durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 100) {
    while (recorded.ended.length < recorded.begun.length) await nextEnd()
    clock.advance(100)
  }
}

const place = { channel: 'probed', model: 'm' }

/** An operator gives the channel another address. */
function renew(): void {
  const before = snapshot
  snapshot = snapshotWith({ url: `${sandbox.url}/renewed` })
  book.follow(before, snapshot)
  prober.follow(before, snapshot)
}

test('probes that the gateway could not send switch nothing off', async () => {
  const openSocket = (): Socket => {
    const socket = new Socket()
    setImmediate(() => socket.destroy(Object.assign(new Error('EMFILE'), { code: 'EMFILE' })))
    return socket
  }
  const short = new UpstreamPools({ connectTimeoutMs: 5_000, openSocket })
  const checked: string[] = []
  const parts = { clock, snapshot: () => snapshot, health: () => book, onError: assert.ifError }
  const onChecked = ({ channel }: { channel: string }): void => void checked.push(channel)
  prober = new Prober({ ...parts, upstream: short, onChecked })
  prober.probe(place, { count: 3 })
  while (recorded.ended.length < 3) await nextEnd()
  assert.deepEqual(new Set(recorded.ended.map(({ outcome }) => outcome)), new Set(['nobody']))
  assert.equal(book.state('probed', 'm').mode, 'on')
  assert.deepEqual(checked, [])
  await short.close()
})

test('a check counts like an attempt without a client', async () => {
  const ended = nextEnd()
  prober.probe(place)
  await ended
  assert.deepEqual(recorded.begun, ['probed m'])
  assert.deepEqual(recorded.ended, [{ outcome: 'ok', retryAfterMs: undefined, caller: undefined }])
  assert.equal(sandbox.log.records.length, 1)
})

test('a check reports the answer of the channel as it is', async () => {
  sandbox.faults.set('probed', 'error=401')
  const ended = nextEnd()
  prober.probe(place)
  await ended
  assert.deepEqual(recorded.ended, [
    { outcome: 'config', retryAfterMs: undefined, caller: undefined },
  ])
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
  clock.advance(1_000)
  const second = nextEnd()
  prober.probe(place)
  await second
  assert.equal(sandbox.log.records.length, 2)
})

test('a check that hangs at an address of before neither blames the new one nor stands in its way', async () => {
  sandbox.faults.set('probed', 'hold=old@before_head; error=401')
  prober.probe(place)
  await sandbox.faults.reached('old')
  renew()
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
    recorded.ended.map(({ outcome }) => outcome),
    ['ok', 'config'],
  )
  assert.equal(book.state('probed', 'm').mode, 'on')
})

test("what must not be checked is not: by the operator's choice, or gone from the catalogue", async () => {
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
  assert.deepEqual(recorded.begun, [])
  assert.equal(sandbox.log.records.length, 0)
  assert.deepEqual(errors, [])
})

test('a fault of the check itself is reported and does not block the next check', async () => {
  const whole = snapshot
  let reads = 0
  prober = new Prober({
    clock,
    upstream,
    snapshot() {
      if (reads++ === 0) throw new Error('no snapshot')
      return whole
    },
    health: () =>
      new HealthBook({
        clock,
        random: () => 0.5,
        checkIntervalMs: 600_000,
        failoverTokensMax: 100,
      }),
    onError: (error) => errors.push(error),
  })
  prober.probe(place)
  await new Promise<void>((resolve) => setImmediate(resolve))
  assert.equal(errors.length, 1)
  clock.advance(1_000)
  prober.probe(place)
  await sandbox.log.waitFor((record) => record.phase === 'closed')
})

test('a burst is sent at once, and single checks of a channel stay within their number a minute', async () => {
  const models = Array.from({ length: 20 }, (_, index) => `m${index}`)
  snapshot = snapshotWith({ models: new Map(['m', ...models].map((model) => [model, undefined])) })
  prober.probe(place, { count: 3 })
  for (const model of models) prober.probe({ channel: 'probed', model })
  assert.equal(recorded.begun.length, 3)
  await pass(1_000)
  assert.equal(recorded.begun.length, 6, 'a few a second')
  await pass(58_900)
  assert.equal(recorded.begun.length, 12)
  // What had no room waits for it, in turn.
  await pass(60_000)
  assert.deepEqual(
    recorded.begun.slice(3),
    models.map((model) => `probed ${model}`),
  )
  assert.equal(sandbox.log.records.length, 23)
})

test('checks keep to the cap together with clients, and wait for room', async () => {
  snapshot = snapshotWith({ maxConcurrent: 3 })
  sandbox.faults.set('probed', 'hold=full@before_head')
  const [channel] = snapshot.channels.values()
  assert.ok(channel !== undefined)
  const client = book.beginAsClient(channel, 'm')
  prober.probe(place, { count: 4 })
  assert.equal(recorded.begun.length, 2, 'beside the one client')
  clock.advance(10_000)
  assert.equal(recorded.begun.length, 2)
  // A client that has ended makes room for one more, without anybody's telling.
  book.endAsClient(client, { outcome: 'client', caller: { keyId: 'k', accountId: 'k' } })
  clock.advance(300)
  assert.equal(recorded.begun.length, 3)
  sandbox.faults.release('full')
  while (recorded.ended.length < 4) await nextEnd()
  assert.equal(recorded.begun.length, 4)
})

test('a channel that clients keep full is checked all the same, one check at a time', async () => {
  snapshot = snapshotWith({ maxConcurrent: 1 })
  const [channel] = snapshot.channels.values()
  assert.ok(channel !== undefined)
  book.beginAsClient(channel, 'm')
  book.beginAsClient(channel, 'm')
  prober.probe(place, { count: 3 })
  for (let ended = 1; ended <= 3; ended++) {
    assert.deepEqual([recorded.begun.length, book.probing('probed')], [ended, 1])
    await nextEnd()
    // The next check may begin once the turn in which the last one was judged is over.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  assert.deepEqual([recorded.begun.length, book.running('probed')], [3, 2])
})

test('what waits for its turn is sent neither to a renewed channel nor after the end', async () => {
  const models = new Map(['m', 'n'].map((model) => [model, undefined]))
  for (const finish of [renew, (): void => prober.close()]) {
    snapshot = snapshotWith({ models })
    recorded.begun.length = 0
    const ended = nextEnd()
    prober.probe(place)
    prober.probe({ channel: 'probed', model: 'n' })
    finish()
    clock.advance(60_000)
    await ended
    assert.deepEqual(recorded.begun, ['probed m'])
  }
})

test('a paid check reports its tokens, so that they can be booked to the operator', async () => {
  const checked = Promise.withResolvers<unknown>()
  prober = new Prober({
    clock,
    upstream,
    snapshot: () => snapshot,
    health: () =>
      new HealthBook({
        clock,
        random: () => 0.5,
        checkIntervalMs: 600_000,
        failoverTokensMax: 100,
      }),
    onError: (error) => errors.push(error),
    onChecked: (at, { usage }) => checked.resolve([at.channel, usage?.reported.outputTokens]),
  })
  prober.probe(place)
  assert.deepEqual(await checked.promise, ['probed', 1])
})
