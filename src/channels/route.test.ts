/** The door from an exchange to its channels, over the production health book and a manual clock. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { makeChannel, makeModel, makeSnapshot } from '../../test/support/snapshots.ts'
import { seededRandom } from '../base/random.ts'
import { HealthBook } from './health/health-book.ts'
import { createRoutes, type Lease, type Route, type RouteRequest } from './route.ts'

const main = makeChannel('main')
const reserve = makeChannel('reserve', { rank: 1 })
const settings = {
  firstEventTimeoutMs: 600_000,
  answerTimeoutMs: 900_000,
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
      asksReasoning: false,
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
  type Started = ReturnType<typeof start>

  /** How long a lease that shows nothing goes on. */
  const limitOf = ({ clock }: Started, lease: Lease | undefined): number => {
    assert.ok(lease !== undefined)
    const from = clock.monotonic()
    do clock.advance(lease.patience.dueMs - clock.monotonic())
    while (!lease.patience.isOver())
    return clock.monotonic() - from
  }

  /** The channels answer so many requests, each after these waits. */
  const teach = (
    { clock, open }: Started,
    count: number,
    { headMs, outputMs }: { readonly headMs: number; readonly outputMs: number },
    change: Partial<RouteRequest> = {},
  ): void => {
    for (let index = 0; index < count; index++) {
      const lease = open(change).next()
      clock.advance(headMs)
      lease?.patience.onHead()
      clock.advance(outputMs)
      lease?.answered(headMs + outputMs)
      lease?.ended({ outcome: 'ok' })
    }
  }
  const quick = { headMs: 300, outputMs: 500 }

  test('is 30 s to the head while nothing is known, and 60 s from there, or from a sign of work', () => {
    const started = start()
    const { clock, open } = started
    assert.equal(limitOf(started, open().next()), 30_000)
    const other = start()
    const lease = other.open().next()
    lease?.patience.onHead()
    other.clock.advance(50_000)
    lease?.patience.onWork()
    assert.equal(limitOf(other, lease), 60_000)
    assert.ok(clock.monotonic() > 0)
  })

  test('is ten minutes behind the head where reasoning is asked for, and everywhere for a model that thinks', () => {
    const started = start()
    const lease = started.open({ asksReasoning: true }).next()
    started.clock.advance(29_000)
    lease?.patience.onHead()
    assert.equal(limitOf(started, lease), 600_000)
    const thinking = start(makeModel('m', { thinks: true }))
    assert.equal(limitOf(thinking, thinking.open().next()), 600_000)
  })

  test('is 1.5 times the longest once fifty answers are known, never below 10 s and 20 s', () => {
    const started = start()
    const { open } = started
    teach(started, 50, { headMs: 300, outputMs: 500 })
    const lease = open().next()
    assert.equal(limitOf(started, lease), 10_000)
    lease?.ended({ outcome: 'nobody' })
    const headed = open().next()
    headed?.patience.onHead()
    assert.equal(limitOf(started, headed), 20_000)
    headed?.ended({ outcome: 'nobody' })
    teach(started, 1, { headMs: 9_000, outputMs: 19_000 })
    assert.equal(limitOf(started, open().next()), 13_500)
    const late = open().next()
    late?.patience.onHead()
    assert.equal(limitOf(started, late), 28_500)
  })

  test('is learned apart for requests that ask for reasoning', () => {
    const started = start()
    teach(started, 50, { headMs: 300, outputMs: 100_000 }, { asksReasoning: true })
    const thinking = started.open({ asksReasoning: true }).next()
    thinking?.patience.onHead()
    assert.equal(limitOf(started, thinking), 150_000)
    const plain = started.open().next()
    plain?.patience.onHead()
    assert.equal(limitOf(started, plain), 60_000)
  })

  test('is long where no other channel is usable, in whatever state this one is', () => {
    const alone = start(makeModel('m'), [main])
    assert.equal(limitOf(alone, alone.open().next()), 600_000)
    const { callers, open, health } = alone
    for (const caller of callers) open({ caller }).next()?.ended({ outcome: 'hard' })
    assert.equal(health.grade(main, 'm'), 'off')
    assert.equal(limitOf(alone, open().next()), 600_000)
    teach(alone, 50, quick)
    assert.equal(limitOf(alone, open().next()), 600_000)
  })

  test('is over as soon as another channel is usable again', () => {
    const started = start()
    const { clock, open, health } = started
    const other = makeChannel('reserve', { rank: 1 })
    const throttled = health.begin(other, 'm')
    health.end(throttled, { outcome: 'throttle', caller: undefined, retryAfterMs: 45_000 })
    const lease = open().next()
    assert.equal(limitOf(started, lease), 45_000)
    assert.ok(clock.monotonic() < 46_000)
  })

  test('has a long limit by the channel, else by the model, else by the setting', () => {
    const longOf = (model: ReturnType<typeof makeModel>, channels = [main]): number => {
      const started = start(model, channels)
      return limitOf(started, started.open().next())
    }
    assert.equal(longOf(makeModel('m')), 600_000)
    assert.equal(longOf(makeModel('m', { firstEventTimeoutMs: 300_000 })), 300_000)
    const own = makeChannel('main', { firstEventTimeoutMs: 500_000 })
    assert.equal(longOf(makeModel('m', { firstEventTimeoutMs: 300_000 }), [own]), 500_000)
  })

  test('has a long limit that signs of work do not put off', () => {
    const started = start()
    const { clock, open } = started
    const lease = open({ asksReasoning: true }).next()
    assert.ok(lease !== undefined)
    lease.patience.onHead()
    while (!lease.patience.isOver()) {
      clock.advance(10_000)
      lease.patience.onWork()
    }
    assert.equal(clock.monotonic(), 600_000)
  })

  test('is that of whole answers where the answer is not streamed', () => {
    const started = start(makeModel('m', { firstEventTimeoutMs: 300_000 }))
    assert.equal(limitOf(started, started.open({ isStream: false }).next()), 900_000)
  })

  /** The main channel runs into its limit, and the reserve answers after so long. */
  const move = (started: Started, reserveMs: number): number => {
    const { clock, open } = started
    const route = open()
    const first = route.next()
    assert.ok(first?.channel.name === 'main')
    const limitMs = limitOf(started, first)
    first.ended({ outcome: 'hard', isRequestSuspect: true })
    const second = route.next()
    assert.ok(second?.channel.name === 'reserve')
    second.patience.onHead()
    clock.advance(reserveMs)
    second.answered(reserveMs)
    second.ended({ outcome: 'ok' })
    return limitMs
  }

  test('has no short limit any more where the other channel takes as long, until fifty answers are known', () => {
    const started = start()
    assert.equal(move(started, 100_000), 30_000)
    assert.equal(limitOf(started, started.open().next()), 600_000)
    const { failures } = started.health.state('main', 'm').evidence.stream
    assert.ok(failures.every(({ isCounted }) => !isCounted))
    teach(started, 50, { headMs: 80_000, outputMs: 0 })
    assert.equal(limitOf(started, started.open().next()), 120_000)
  })

  test('does not grow where the other channel is much faster: the main one hangs', () => {
    const started = start()
    teach(started, 50, quick)
    for (let round = 0; round < 4; round++) {
      assert.equal(move(started, 1_000), 10_000)
      teach(started, 1, quick)
    }
  })

  test('is over for one request at a time while nothing is known: the others wait for what it shows', () => {
    const started = start()
    const { clock, open } = started
    const [route, other] = [open(), open()]
    const [first, second] = [route.next(), other.next()]
    assert.ok(first !== undefined && second !== undefined)
    clock.advance(30_000)
    assert.deepEqual([first.patience.isOver(), second.patience.isOver()], [true, false])
    first.ended({ outcome: 'hard', isRequestSuspect: true })
    const moved = route.next()
    clock.advance(2_000)
    assert.equal(second.patience.isOver(), false)
    moved?.answered(2_000)
    assert.equal(second.patience.isOver(), true)
  })

  test('five requests that wait beyond a learned limit at once count as five failures of any callers', () => {
    const alone = start(makeModel('m'), [main])
    const { clock, open, health } = alone
    teach(alone, 50, quick)
    const leases = Array.from({ length: 5 }, () => open().next())
    clock.advance(10_000)
    const isOver = (lease: Lease | undefined): boolean | undefined => lease?.patience.isOver()
    assert.ok(leases.slice(1).every((lease) => isOver(lease) === false))
    assert.equal(health.grade(main, 'm'), 'on')
    assert.equal(isOver(leases[0]), false)
    assert.equal(health.grade(main, 'm'), 'off')
  })

  test('four, or five one after the other, do not', () => {
    const alone = start(makeModel('m'), [main])
    const { clock, open, health } = alone
    teach(alone, 50, quick)
    for (let index = 0; index < 6; index++) {
      const lease = open().next()
      clock.advance(12_000)
      assert.equal(lease?.patience.isOver(), false)
      lease.ended({ outcome: 'client' })
    }
    assert.equal(health.grade(main, 'm'), 'on')
  })

  test('is known again after a restart', () => {
    const before = start()
    teach(before, 50, { headMs: 20_000, outputMs: 500 })
    const after = start()
    after.health.restore(before.health.save())
    assert.equal(limitOf(after, after.open().next()), 30_000)
    const unlearned = start()
    teach(unlearned, 49, { headMs: 20_000, outputMs: 500 })
    const saved = start()
    saved.health.restore(unlearned.health.save())
    assert.equal(limitOf(saved, saved.open().next()), 30_000)
  })

  test('forgets what is older than a day, where fifty later answers are known', () => {
    const started = start()
    const { clock, open } = started
    teach(started, 10, { headMs: 40_000, outputMs: 500 })
    clock.advance(25 * 3_600_000)
    teach(started, 40, quick)
    assert.equal(limitOf(started, open().next()), 60_000)
    teach(started, 10, quick)
    clock.advance(3_600_000)
    teach(started, 1, quick)
    assert.equal(limitOf(started, open().next()), 10_000)
  })
})
