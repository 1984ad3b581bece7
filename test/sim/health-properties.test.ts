/**
 * What must hold whatever happens: rules R1 to R12 of the channels' health over random schedules.
 * Some are properties of the reducer alone, fed with any events at any moments; the others of whole
 * simulated worlds with random faults. fast-check prints seed and path of a failure.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { seededRandom } from '../../src/base/random.ts'
import {
  gradeOf,
  nextWakeAt,
  startState,
  type HealthState,
} from '../../src/channels/health-state.ts'
import { jitterShare, type HealthEvent } from '../../src/channels/health-event.ts'
import { holdMaxMs } from '../../src/channels/health-off.ts'
import { step } from '../../src/channels/health.ts'
import { saveHealth, restoreHealth } from '../../src/channels/health-saved.ts'
import type { Caller } from '../../src/channels/outcome-window.ts'
import type { Behaviour, Script } from './vendor-model.ts'
import { World, type ChannelPlan } from './world.ts'

const middle = (): number => 0.5
const minuteMs = 60_000

// --- the reducer alone ----------------------------------------------------------------------------

const outcomes = [
  'ok',
  'client',
  'throttle',
  'config',
  'model_missing',
  'hard',
  'broken',
  'suspect',
] as const

function callerOf(text: string): Caller {
  return { keyId: text, accountId: text.split('/')[0] ?? text }
}

const eventArbitrary: fc.Arbitrary<HealthEvent> = fc.oneof(
  fc.constantFrom<HealthEvent>(
    { kind: 'begun' },
    { kind: 'wake' },
    { kind: 'released' },
    { kind: 'overdue' },
    { kind: 'warned' },
    { kind: 'retracted', keyId: 'a' },
    { kind: 'compared', comparison: 'better' },
    { kind: 'compared', comparison: 'worse' },
  ),
  fc.record({
    kind: fc.constant('answered' as const),
    latencyKind: fc.nat(7),
    value: fc.constantFrom(300, 900, 5_000, 60_000),
    inherited: fc.constant({ p50: 800, p95: 1_800, p99: 3_000 }),
  }),
  fc.record({
    kind: fc.constant('ended' as const),
    outcome: fc.constantFrom(...outcomes),
    caller: fc.constantFrom(callerOf('a'), callerOf('b/1'), callerOf('b/2'), undefined),
    retryAfterMs: fc.option(fc.nat(500_000), { nil: undefined }),
  }),
)

const scheduleArbitrary = fc.record({
  seed: fc.nat(),
  check: fc.constantFrom('request' as const, 'models' as const, 'none' as const),
  steps: fc.array(
    fc.record({
      waitMs: fc.oneof(fc.nat(100), fc.nat(60_000), fc.nat(700_000)),
      event: eventArbitrary,
    }),
    { maxLength: 80, size: 'max' },
  ),
})
type Schedule = typeof scheduleArbitrary extends fc.Arbitrary<infer Value> ? Value : never

interface Seen {
  readonly before: HealthState
  readonly event: HealthEvent
  readonly after: HealthState
  readonly now: number
}

function play(schedule: Schedule, see: (seen: Seen) => void = () => {}, startMs = 0) {
  const random = seededRandom(schedule.seed)
  const log: unknown[] = []
  let state = startState(schedule.check, startMs)
  let now = startMs
  for (const { waitMs, event } of schedule.steps) {
    now += waitMs
    const next = step(state, event, now, random)
    see({ before: state, event, after: next.state, now })
    log.push(next)
    state = next.state
  }
  return { state, now, log: JSON.stringify(log) }
}

describe('the reducer, whatever it is told', () => {
  test('R1: a client’s own faults change nothing', () => {
    fc.assert(
      fc.property(scheduleArbitrary, fc.constantFrom('a', 'z'), (schedule, keyId) => {
        const { state, now } = play(schedule)
        const settled = step(state, { kind: 'wake' }, now, middle).state
        const client: HealthEvent = { kind: 'ended', outcome: 'client', caller: callerOf(keyId) }
        const after = step(settled, client, now, middle)
        assert.deepEqual({ ...after.state, tryingUntil: 0 }, { ...settled, tryingUntil: 0 })
        assert.deepEqual(after.effects, [])
      }),
    )
  })

  test('R6: off always has a wake-up ahead, at most the longest hold away', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        play(schedule, ({ after, now }) => {
          if (after.mode === 'trial') assert.ok(after.probeAt !== undefined)
          if (after.mode !== 'off') return
          const wakeAt = nextWakeAt(after) ?? 0
          assert.ok(wakeAt > now)
          assert.ok(wakeAt <= after.since + holdMaxMs)
        })
      }),
    )
  })

  test('R7: from any state, without further faults, it is on again', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        let { state, now } = play(schedule)
        const quick: HealthEvent = {
          kind: 'answered',
          latencyKind: 0,
          value: 300,
          inherited: { p50: 800, p95: 1_800, p99: 3_000 },
        }
        const longestMs = 48 * minuteMs + holdMaxMs * (1 + jitterShare) + 10 * minuteMs
        for (const end = now + longestMs; now <= end; now += 1_000) {
          const woken = step(state, { kind: 'wake' }, now, middle)
          state = woken.state
          for (const effect of woken.effects)
            for (let count = effect.kind === 'probe' ? effect.count : 0; count > 0; count--) {
              state = step(state, quick, now, middle).state
              const passed: HealthEvent = { kind: 'ended', outcome: 'ok', caller: undefined }
              state = step(state, passed, now, middle).state
            }
          const grade = gradeOf(state, now)
          if (grade === 'off' || grade === 'resting') continue
          state = step(state, { kind: 'begun' }, now, middle).state
          state = step(state, quick, now, middle).state
          state = step(
            state,
            { kind: 'ended', outcome: 'ok', caller: callerOf('z') },
            now,
            middle,
          ).state
        }
        assert.equal(gradeOf(state, now), 'on')
      }),
      { numRuns: 60 },
    )
  })

  test('R9: the same seed and schedule give the same states and effects', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        assert.equal(play(schedule).log, play(schedule).log)
      }),
    )
  })

  test('R11: what is off for its configuration does not return without a passed probe or exchange', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        let hasPassed = false
        play(schedule, ({ before, event, after }) => {
          const isRefused = before.cause === 'config' || before.cause === 'missing'
          if (!isRefused) hasPassed = false
          if (event.kind === 'ended' && event.outcome === 'ok') hasPassed = true
          const isBack = after.mode === 'on' || after.mode === 'ramp'
          if (isRefused && isBack) assert.ok(hasPassed)
        })
      }),
    )
  })

  test('R12: one key alone switches nothing off while probes pass', () => {
    const attempt = fc.record({
      waitMs: fc.oneof(fc.nat(200), fc.nat(20_000)),
      isBadKey: fc.boolean(),
      outcome: fc.constantFrom('hard', 'broken', 'config', 'suspect', 'throttle'),
    })
    fc.assert(
      fc.property(fc.array(attempt, { maxLength: 300, size: 'max' }), (attempts) => {
        let state = startState('request')
        let now = 0
        for (const { waitMs, isBadKey, outcome } of attempts) {
          now += waitMs
          const event: HealthEvent = isBadKey
            ? { kind: 'ended', outcome, caller: callerOf('bad') }
            : { kind: 'ended', outcome: 'ok', caller: callerOf('good') }
          for (const each of [event, { kind: 'wake' } as const]) {
            const next = step(state, each, now, middle)
            state = next.state
            for (const effect of next.effects)
              for (let count = effect.kind === 'probe' ? effect.count : 0; count > 0; count--)
                state = step(
                  state,
                  { kind: 'ended', outcome: 'ok', caller: undefined },
                  now,
                  middle,
                ).state
          }
          assert.ok(state.mode === 'on', `${state.mode} because ${state.why}`)
        }
      }),
    )
  })

  test('a restart never turns what was not on into on, and loses no wake-up', () => {
    fc.assert(
      fc.property(scheduleArbitrary, fc.integer({ min: -1e7, max: 1e9 }), (schedule, awayMs) => {
        const { state, now } = play(schedule)
        const saved = saveHealth({ channel: 'c', model: 'm' }, state, { now, wallMs: 1e12 })
        const moment = { now: 5, wallMs: 1e12 + awayMs }
        const resumed = restoreHealth(saved, schedule.check, moment)
        if (saved.mode === 'on' || saved.mode === 'slow') assert.equal(resumed.mode, 'on')
        else assert.equal(resumed.mode, 'trial')
        if (resumed.mode === 'trial' && schedule.check !== 'none')
          assert.ok((nextWakeAt(resumed) ?? Infinity) <= 5 + 300_000)
      }),
    )
  })
})

// --- whole worlds ---------------------------------------------------------------------------------

const faultArbitrary = fc.record({
  channel: fc.nat(2),
  fromMinute: fc.nat(40),
  minutes: fc.integer({ min: 1, max: 15 }),
  fault: fc.constantFrom<Partial<Behaviour>>(
    { errorRate: 1 },
    { errorRate: 0.4 },
    { latencyFactor: 4 },
    { throttle: { retryAfterMs: 20_000 } },
    { throttle: { retryAfterMs: undefined } },
    { isRefusing: true },
  ),
})

const worldArbitrary = fc.record({
  seed: fc.nat(1_000_000),
  faults: fc.array(faultArbitrary, { maxLength: 6, size: 'max' }),
  disabled: fc.option(fc.nat(2), { nil: undefined }),
  maxConcurrent: fc.constantFrom(undefined, 3),
  keyCount: fc.constantFrom(1, 2, 20),
})
type RandomWorld = typeof worldArbitrary extends fc.Arbitrary<infer Value> ? Value : never

/** The last fault ends in minute 55; what is left is time enough to return from the longest hold. */
const worldMinutes = 130

function scriptOf(world: RandomWorld, channel: number): Script {
  const calm: Behaviour = { errorRate: 0.01, latencyFactor: 1 }
  const own = world.faults.filter((one) => one.channel === channel)
  return (at) => {
    const minute = at / minuteMs
    const active = own.filter(
      ({ fromMinute, minutes }) => minute >= fromMinute && minute < fromMinute + minutes,
    )
    return Object.assign({}, calm, ...active.map(({ fault }) => fault)) as Behaviour
  }
}

function open(world: RandomWorld): World {
  const channels = [0, 1, 2].map((index): ChannelPlan => ({
    name: ['main', 'twin', 'reserve'][index] ?? '',
    rank: index === 2 ? 1 : 0,
    script: scriptOf(world, index),
    change: {
      ...(world.disabled === index ? { override: 'disabled' as const } : {}),
      ...(index === 0 ? { maxConcurrent: world.maxConcurrent } : {}),
    },
  }))
  return new World({
    channels,
    requestsPerSecond: 1,
    keyCount: world.keyCount,
    durationMs: worldMinutes * minuteMs,
    seed: world.seed,
  })
}

describe('a whole world, whatever goes wrong in it', () => {
  test('R2, R3, R4, R5, R7, R8, R9, R10 hold', () => {
    fc.assert(
      fc.property(worldArbitrary, fc.boolean(), (world, jumps) => {
        const opened = open(world)
        const [book] = opened.books
        assert.ok(book !== undefined)
        opened.onAttempt = (channel, tried) => {
          assert.equal(channel.override, 'enabled', 'R2: a disabled channel never gets traffic')
          assert.ok(!tried.has(channel.name), 'R4: the channels of an exchange are distinct')
          assert.ok(tried.size < 3, 'R4: at most three attempts')
          if (channel.rank === 0 || tried.size > 0) return
          for (const other of opened.snapshot.channels.values()) {
            if (other.rank !== 0) continue
            const isFull: boolean =
              other.maxConcurrent !== undefined && book.running(other.name) >= other.maxConcurrent
            assert.ok(
              isFull || book.grade(other, 'm') !== 'on',
              'R5: a reserve serves only what no channel before it does',
            )
          }
        }
        if (jumps) {
          opened.clock.at(20 * minuteMs, () => opened.clock.jumpWallTime(3_600_000))
          opened.clock.at(50 * minuteMs, () => opened.clock.jumpWallTime(-7_200_000))
        }
        const record = opened.run()
        assert.equal(record.refusedExchanges > 0 && world.maxConcurrent === undefined, false)
        for (const channel of opened.snapshot.channels.values()) {
          const changes = record.changes.filter((change) => change.channel === channel.name)
          for (const { at } of changes) {
            const hour = changes.filter((one) => one.at >= at && one.at < at + 60 * minuteMs)
            assert.ok(hour.length <= 60, `R8: ${hour.length} changes within an hour`)
          }
          if (channel.override === 'disabled') continue
          const isWell = ['on', 'slow', 'ramp', 'resting'].includes(book.grade(channel, 'm'))
          assert.ok(isWell, `R7: ${channel.name} is ${book.grade(channel, 'm')} at the end`)
        }
        const again = open(world).run()
        assert.deepEqual(again.changes, record.changes, 'R9, R10: neither luck nor wall time')
      }),
      { numRuns: 25, endOnFailure: true, ...seedOfRun() },
    )
  })
})

/** `SEED=…` repeats a run of fast-check, as its failure prints it. */
function seedOfRun(): { readonly seed?: number } {
  const seed = process.env['SEED']
  return seed === undefined || seed === '' ? {} : { seed: Number(seed) }
}
