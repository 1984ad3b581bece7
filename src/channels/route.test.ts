/** The door from an exchange to its channels, over the production health book and a manual clock. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { makeChannel, makeModel, makeSnapshot } from '../../test/support/snapshots.ts'
import { seededRandom } from '../base/random.ts'
import { HealthBook } from './health/health-book.ts'
import { createRoutes, type Route, type RouteRequest } from './route.ts'

const main = makeChannel('main')
const reserve = makeChannel('reserve', { rank: 1 })
const settings = {
  firstEventTimeoutMs: 120_000,
  answerTimeoutMs: 600_000,
  firstEventFactor: 4,
  firstEventTimeoutMinMs: 10_000,
}

function start(model = makeModel('m'), channels = [main, reserve]) {
  const clock = new ManualClock()
  const health = new HealthBook({
    clock,
    random: seededRandom(1),
    checkIntervalMs: 600_000,
    failoverTokensMax: 100,
  })
  const snapshot = makeSnapshot(channels, [model])
  health.follow(undefined, snapshot)
  const counted: string[] = []
  const openRoute = createRoutes({
    clock,
    health,
    settings,
    telemetry: {
      failedOver: (vendor) => void counted.push(`failover ${vendor}`),
      firstEvent: ({ channel }, durationMs) => void counted.push(`first ${channel} ${durationMs}`),
      attemptEnded: (channel, outcome) => void counted.push(`end ${channel} ${outcome}`),
    },
  })
  const open = (change: Partial<RouteRequest> = {}): Route =>
    openRoute({
      snapshot,
      model,
      operation: 'messages.create',
      caller: { accountId: 'acc_1', keyId: 'key_1' },
      conversation: 'key_1',
      isStream: true,
      inputTokens: 100,
      isTimed: true,
      ...change,
    })
  const callers = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ accountId: name, keyId: name }))
  return { clock, health, counted, open, callers }
}

describe('a route', () => {
  test('leaves out a channel that does not offer the operation, for ten minutes', () => {
    const { clock, open } = start()
    const firstOf = (operation: string): string | undefined => {
      const lease = open({ operation }).next()
      lease?.ended({ outcome: 'nobody' })
      return lease?.channel.name
    }
    const route = open({ operation: 'responses.create' })
    route.next()?.ended({ outcome: 'nobody', isNotOffered: true })
    assert.equal(route.next()?.channel, reserve)
    assert.equal(firstOf('responses.create'), 'reserve')
    assert.equal(firstOf('chat.completions.create'), 'main')
    clock.advance(600_000)
    assert.equal(firstOf('responses.create'), 'main')
  })

  test('tries a channel that does not offer the operation where no other is left', () => {
    const { open } = start()
    for (const channel of [main, reserve]) {
      const lease = open({ operation: 'responses.create' }).next()
      assert.equal(lease?.channel, channel)
      lease.ended({ outcome: 'nobody', isNotOffered: true })
    }
    const route = open({ operation: 'responses.create' })
    assert.equal(route.next()?.channel, main)
    assert.equal(route.next(), undefined)
    const pinned = open({ operation: 'responses.create', pinnedTo: 'reserve' })
    assert.equal(pinned.next()?.channel, reserve)
  })

  test('gives each channel once, the main one first, and counts the failover', () => {
    const { health, counted, open } = start()
    const route = open()
    const first = route.next()
    assert.equal(first?.channel, main)
    assert.equal(health.running('main'), 1)
    first.ended({ outcome: 'hard' })
    assert.equal(health.running('main'), 0)
    const second = route.next()
    assert.equal(second?.channel, reserve)
    second.answered(250)
    second.ended({ outcome: 'ok' })
    assert.equal(route.next(), undefined)
    assert.deepEqual(counted, [
      'end main hard',
      'failover alpha',
      'first reserve 250',
      'end reserve ok',
    ])
  })

  test('repeats on the same channel without counting a failover', () => {
    const { health, counted, open } = start()
    const route = open()
    const first = route.next()
    assert.ok(first !== undefined && route.mayRepeat(first))
    first.ended({ outcome: 'nobody' })
    const again = route.repeat(first)
    assert.equal(again.channel, main)
    assert.equal(health.running('main'), 1)
    again.ended({ outcome: 'ok' })
    assert.deepEqual(counted, ['end main nobody', 'end main ok'])
  })

  test('has an alternative while an untried channel is fit to serve', () => {
    const { open, callers } = start()
    const route = open()
    assert.ok(route.next()?.channel === main && route.hasAlternative())
    for (const caller of callers) {
      const other = open({ caller })
      other.next()?.ended({ outcome: 'hard' })
      other.next()?.ended({ outcome: 'hard' })
    }
    assert.equal(route.hasAlternative(), false)
  })
})

describe('a request that fails on two channels', () => {
  const fail = (isRequestSuspect: boolean) => {
    const { health, open, callers } = start()
    for (const caller of callers) {
      const route = open({ caller })
      for (let lease = route.next(); lease !== undefined; lease = route.next())
        lease.ended({ outcome: 'hard', isRequestSuspect })
    }
    return health.grade(main, 'm')
  }

  test('is blamed itself where the vendors had it', () => assert.notEqual(fail(true), 'off'))

  test('is not blamed where the connections failed', () => assert.equal(fail(false), 'off'))

  test('is not blamed for failing twice on one channel', () => {
    const { health, open, callers } = start()
    for (const caller of callers) {
      const route = open({ caller })
      const first = route.next()
      assert.ok(first !== undefined)
      first.ended({ outcome: 'hard', isRequestSuspect: true })
      route.repeat(first).ended({ outcome: 'hard', isRequestSuspect: true })
    }
    assert.equal(health.grade(main, 'm'), 'off')
  })
})

describe('the time a channel may take', () => {
  test('is the first-event limit for a stream, by the channel or the model where it has its own', () => {
    assert.equal(start().open().next()?.limitMs, 120_000)
    const slow = start(makeModel('m', { firstEventTimeoutMs: 300_000 }))
    assert.equal(slow.open().next()?.limitMs, 300_000)
    const own = makeChannel('main', { firstEventTimeoutMs: 500_000 })
    const model = makeModel('m', { firstEventTimeoutMs: 300_000 })
    assert.equal(start(model, [own]).open().next()?.limitMs, 500_000)
  })

  test('is the limit of whole answers otherwise', () => {
    const { open } = start(makeModel('m', { firstEventTimeoutMs: 300_000 }))
    assert.equal(open({ isStream: false }).next()?.limitMs, 600_000)
  })

  test('is tighter once the usual time is known, never below the minimum', () => {
    const { clock, open } = start()
    assert.equal(open().next()?.usualLimitMs, 30_000)
    const teach = (durationMs: number): void => {
      for (let index = 0; index < 200; index++) {
        const lease = open().next()
        clock.advance(durationMs)
        lease?.answered(durationMs)
        lease?.ended({ outcome: 'ok' })
      }
    }
    teach(500)
    assert.equal(open().next()?.usualLimitMs, 10_000)
    assert.equal(open({ isStream: false }).next()?.usualLimitMs, Infinity)
  })

  const establish = ({ clock, open }: ReturnType<typeof start>, durationMs: number): void => {
    for (let index = 0; index < 256; index++) {
      const lease = open().next()
      clock.advance(durationMs)
      lease?.answered(durationMs)
      lease?.ended({ outcome: 'ok' })
    }
  }

  /** The main channel runs into its limit, and the reserve answers after so long. */
  const timeOut = (started: ReturnType<typeof start>, reserveMs: number): number => {
    const { clock, open } = started
    const route = open()
    const first = route.next()
    assert.ok(first?.channel === main)
    clock.advance(first.usualLimitMs)
    first.ended({ outcome: 'hard', isRequestSuspect: true, isTimeout: true })
    const second = route.next()
    assert.ok(second?.channel === reserve)
    clock.advance(reserveMs)
    second.answered(reserveMs)
    second.ended({ outcome: 'ok' })
    // Ordinary requests go on: the failures in a row are not what this is about.
    establishOne(started)
    return first.usualLimitMs
  }

  const establishOne = ({ clock, open }: ReturnType<typeof start>): void => {
    const lease = open().next()
    clock.advance(500)
    lease?.answered(500)
    lease?.ended({ outcome: 'ok' })
  }

  test('grows where the other channel takes as long: a model that thinks is not cut for ever', () => {
    const started = start()
    establish(started, 500)
    let rounds = 0
    while (timeOut(started, 60_000) < 60_000) assert.ok(++rounds < 20, 'cut for ever')
  })

  test('does not grow where the other channel is faster than the limit: the main one hangs', () => {
    const started = start()
    establish(started, 500)
    for (let round = 0; round < 5; round++) assert.equal(timeOut(started, 9_000), 10_000)
  })

  test('does not grow where the channel failed late by itself', () => {
    const { clock, open, health } = start()
    const route = open()
    const first = route.next()
    clock.advance(40_000)
    first?.ended({ outcome: 'hard', isRequestSuspect: true })
    const second = route.next()
    clock.advance(60_000)
    second?.answered(60_000)
    const { evidence, latency } = health.state('main', 'm')
    assert.ok(evidence.stream.failures.every(({ isCounted }) => isCounted))
    assert.deepEqual(latency.baselines, [])
  })

  test('is 30 s for a stream while no time is known, and may end early on a channel that fails', () => {
    const { open, callers } = start()
    assert.equal(open().next()?.usualLimitMs, 30_000)
    for (const caller of callers) {
      const route = open({ caller })
      route.next()?.ended({ outcome: 'hard' })
      route.next()?.ended({ outcome: 'hard' })
    }
    const lease = open().next()
    assert.equal(lease?.usualLimitMs, 30_000)
    assert.equal(lease.mayStopEarly(), true)
    assert.equal(open({ isStream: false }).next()?.usualLimitMs, Infinity)
  })
})
