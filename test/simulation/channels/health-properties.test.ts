/**
 * Property tests of the health machine: R1, R6, R7, R9, R11 and R12 over random schedules of any events at
 * any moments. `world-properties.test.ts` has the others. A failure prints its seed; `SEED=…` repeats it.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { seededRandom } from '../../../src/base/random.ts'
import {
  gradeOf,
  isInUse,
  nextWakeAt,
  startState,
  type HealthState,
} from '../../../src/channels/health/health-state.ts'
import type { HealthEvent } from '../../../src/channels/health/health-event.ts'
import { step } from '../../../src/channels/health/rules.ts'
import { saveHealth, restoreHealth } from '../../../src/channels/health/health-store.ts'
import type { Caller } from '../../../src/channels/health/evidence.ts'
import { newPlace } from '../../../src/channels/health/health-place.ts'
import { jitterShare, waitMaxMs } from '../../../src/channels/health/timing.ts'
import { makeChannel } from '../../support/snapshots.ts'
import { propertySeed } from './seed.ts'

fc.configureGlobal({ seed: propertySeed(), numRuns: 200 })

const middle = (): number => 0.5
const minuteMs = 60_000

const outcomes = [
  'ok',
  'client',
  'nobody',
  'throttle',
  'config',
  'no_credit',
  'certificate_expired',
  'model_missing',
  'hard',
  'broken',
  'suspect',
] as const

function callerOf(text: string): Caller {
  return { keyId: text, accountId: text.split('/')[0] ?? text }
}

const formArbitrary = fc.constantFrom('stream' as const, 'whole' as const)

const sampleArbitrary = fc.record({
  latencyKind: fc.nat(11),
  value: fc.constantFrom(300, 900, 5_000, 60_000),
  inherited: fc.constant({ p50: 800, p95: 1_800, p99: 3_000 }),
})

const eventArbitrary: fc.Arbitrary<HealthEvent> = fc.oneof(
  fc.constantFrom<HealthEvent>(
    { kind: 'begun' },
    { kind: 'wake' },
    { kind: 'released' },
    { kind: 'overdue' },
    { kind: 'warned' },
    { kind: 'retracted', form: 'stream', keyId: 'a' },
    { kind: 'silent', form: 'whole' },
    { kind: 'hanging', form: 'stream' },
    { kind: 'asked' },
    { kind: 'compared', comparison: 'better' },
    { kind: 'compared', comparison: 'worse' },
  ),
  fc.record({
    kind: fc.constant('answered' as const),
    form: formArbitrary,
    beganAt: fc.nat(1_000_000),
    sample: sampleArbitrary,
  }),
  fc.record({ kind: fc.constant('headed' as const), sample: sampleArbitrary }),
  fc.record({
    kind: fc.constant('ended' as const),
    form: formArbitrary,
    beganAt: fc.nat(10_000_000),
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

/** A success of the same form as a probe that was requested. */
function okOf(of: object, caller: Caller | undefined, now: number): HealthEvent {
  const form = 'form' in of && of.form === 'whole' ? 'whole' : 'stream'
  return { kind: 'ended', outcome: 'ok', form, caller, beganAt: now }
}

interface Seen {
  readonly before: HealthState
  readonly event: HealthEvent
  readonly after: HealthState
  readonly now: number
}

function play(schedule: Schedule, see: (seen: Seen) => void = () => {}, startMs = 0) {
  const random = seededRandom(schedule.seed)
  const log: unknown[] = []
  let state: HealthState = startState(schedule.check, startMs)
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

describe('the health machine under random events', () => {
  test('R1: a client’s own faults, and faults without blame, change nothing', () => {
    const blameless = fc.constantFrom('client' as const, 'nobody' as const)
    fc.assert(
      fc.property(
        scheduleArbitrary,
        fc.constantFrom('a', 'z'),
        blameless,
        (schedule, keyId, outcome) => {
          const { state, now } = play(schedule)
          const settled = step(state, { kind: 'wake' }, now, middle).state
          const client: HealthEvent = {
            kind: 'ended',
            outcome,
            form: 'stream',
            beganAt: now,
            caller: callerOf(keyId),
          }
          const after = step(settled, client, now, middle)
          assert.deepEqual({ ...after.state, tryingUntil: 0 }, { ...settled, tryingUntil: 0 })
          assert.deepEqual(after.effects, [])
        },
      ),
    )
  })

  test('R6: off always has a wake-up ahead, at most the longest hold away', () => {
    fc.assert(
      fc.property(scheduleArbitrary, (schedule) => {
        play(schedule, ({ after, now }) => {
          if (after.mode === 'trial') assert.ok(after.probeAt !== undefined)
          if (after.mode !== 'off') return
          const wakeAt = nextWakeAt(after)
          assert.ok(wakeAt !== undefined && wakeAt <= now + waitMaxMs)
          if (wakeAt > now) return
          // It is due this moment, and being woken moves it on.
          const woken = step(after, { kind: 'wake' }, now, middle).state
          assert.ok((nextWakeAt(woken) ?? 0) > now)
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
          form: 'stream',
          beganAt: 0,
          sample: {
            latencyKind: 0,
            value: 300,
            inherited: { p50: 800, p95: 1_800, p99: 3_000 },
          },
        }
        const longestMs = 48 * minuteMs + waitMaxMs * (1 + jitterShare) + 10 * minuteMs
        for (const end = now + longestMs; now <= end; now += 1_000) {
          const woken = step(state, { kind: 'wake' }, now, middle)
          state = woken.state
          for (const effect of woken.effects)
            for (let count = effect.kind === 'probe' ? effect.count : 0; count > 0; count--) {
              state = step(state, quick, now, middle).state
              state = step(state, okOf(effect, undefined, now), now, middle).state
            }
          const grade = gradeOf(state, now)
          if (grade === 'off' || grade === 'resting') continue
          state = step(state, { kind: 'begun' }, now, middle).state
          state = step(state, quick, now, middle).state
          for (const form of ['stream', 'whole'] as const)
            state = step(state, okOf({ form }, callerOf('z'), now), now, middle).state
        }
        assert.equal(gradeOf(state, now), 'on')
      }),
      { numRuns: 100 },
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
          const isRefused = !isInUse(before) && before.cause !== 'run'
          if (!isRefused) hasPassed = false
          if (event.kind === 'ended' && event.outcome === 'ok') hasPassed = true
          const isBack = after.mode === 'on' || after.mode === 'ramp'
          if (isRefused && isBack) assert.ok(hasPassed)
        })
      }),
    )
  })

  test('R12: one key switches nothing off while probes pass and another key succeeds', () => {
    const attempt = fc.record({
      waitMs: fc.oneof(fc.nat(200), fc.nat(20_000)),
      isBadKey: fc.boolean(),
      form: formArbitrary,
      outcome: fc.constantFrom('hard', 'broken', 'config', 'suspect', 'throttle'),
    })
    fc.assert(
      fc.property(fc.array(attempt, { maxLength: 300, size: 'max' }), (attempts) => {
        let state: HealthState = startState('request')
        let now = 0
        let servedAt = Number.NEGATIVE_INFINITY
        for (const { waitMs, isBadKey, form, outcome } of attempts) {
          now += waitMs
          const events: HealthEvent[] = []
          // The other key sends requests of both forms, and never lets 40 s pass.
          if (!isBadKey || now - servedAt > 20_000) {
            servedAt = now
            for (const each of ['stream', 'whole'] as const)
              events.push(okOf({ form: each }, callerOf('good'), now))
          }
          if (isBadKey)
            events.push({ kind: 'ended', outcome, form, beganAt: now, caller: callerOf('bad') })
          for (const each of [...events, { kind: 'wake' } as const]) {
            const next = step(state, each, now, middle)
            state = next.state
            for (const effect of next.effects)
              for (let count = effect.kind === 'probe' ? effect.count : 0; count > 0; count--)
                state = step(state, okOf(effect, undefined, now), now, middle).state
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
        const { waits } = newPlace(makeChannel('c'), 0)
        const place = { channel: 'c', model: 'm' }
        const saved = saveHealth(place, { state, waits }, { now, wallMs: 1e12 })
        const moment = { now: 5, wallMs: 1e12 + awayMs }
        const { state: resumed } = restoreHealth(saved, schedule.check, moment)
        if (saved.mode === 'on' || saved.mode === 'slow') assert.equal(resumed.mode, 'on')
        else assert.equal(resumed.mode, 'trial')
        if (resumed.mode === 'trial' && schedule.check !== 'none')
          assert.ok((nextWakeAt(resumed) ?? Infinity) <= 5 + 300_000)
      }),
    )
  })
})
