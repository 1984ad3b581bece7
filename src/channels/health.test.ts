/** The reducer's rules as examples: one event after the other at moments named in the test. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckKind } from './channel.ts'
import {
  freshState,
  gradeOf,
  nextWakeAt,
  shareOf,
  startState,
  type HealthState,
} from './health-state.ts'
import { jitterShare, type HealthEffect, type HealthEvent, type Outcome } from './health-event.ts'
import { configHoldMs } from './health-off.ts'
import { countedFailures, step } from './health.ts'
import { latencyKind } from './latency.ts'
import { accountOf, keyOf, type Caller } from './outcome-window.ts'

const middle = (): number => 0.5

/** A key of an account of its own, unless the account is given before a slash: `acme/a`. */
function callerOf(text: string): Caller {
  return { keyId: text, accountId: text.split('/')[0] ?? text }
}

function ended(outcome: Outcome, caller = 'a', retryAfterMs?: number) {
  return { kind: 'ended', outcome, caller: callerOf(caller), retryAfterMs } satisfies HealthEvent
}

function probed(outcome: Outcome) {
  return { kind: 'ended', outcome, caller: undefined } satisfies HealthEvent
}

const wake: HealthEvent = { kind: 'wake' }

/** Runs events at one moment and returns the last state with all effects. */
function run(state: HealthState, events: readonly HealthEvent[], now: number) {
  const effects: HealthEffect[] = []
  let current = state
  for (const event of events) {
    const next = step(current, event, now, middle)
    current = next.state
    effects.push(...next.effects)
  }
  return { state: current, effects }
}

function failures(keys: string, outcome: Outcome = 'hard'): readonly HealthEvent[] {
  return keys.split('').map((keyId) => ended(outcome, keyId))
}

function offAfterRun(now = 0, from: HealthState = freshState): HealthState {
  return run(from, failures('abcde'), now).state
}

/** Passes probes until it is back in use, and says when that was. */
function bringBack(state: HealthState): { state: HealthState; at: number } {
  let now = state.holdUntil
  let current = step(state, wake, now, middle).state
  while (current.mode === 'trial') {
    current = run(current, [wake, probed('ok')], now).state
    now += 5_000
  }
  return { state: current, at: now - 5_000 }
}

test('five failures in a row of different keys switch off for about thirty seconds', () => {
  assert.equal(run(freshState, failures('abcd'), 0).state.mode, 'on')
  const { state, effects } = run(freshState, failures('abcde'), 0)
  assert.equal(state.mode, 'off')
  assert.equal(state.holdUntil, 30_000)
  assert.deepEqual(effects.at(-1), {
    kind: 'changed',
    from: 'on',
    to: 'off',
    why: 'failures_in_a_row',
  })
})

test('a success in between starts the count again', () => {
  const events = [...failures('abcd', 'broken'), ended('ok', 'e'), ...failures('abcd', 'broken')]
  assert.equal(run(freshState, events, 0).state.mode, 'on')
})

test("another stream's first event ends a run of attempts that had none, not one of broken streams", () => {
  const answered: HealthEvent = { kind: 'answered', latencyKind: 0, value: 800 }
  const hard = run(freshState, [...failures('abcd'), answered, ...failures('e')], 0).state
  assert.equal(hard.mode, 'on')
  const broken = [...failures('abcd', 'broken'), answered, ...failures('e', 'broken')]
  assert.equal(run(freshState, broken, 0).state.mode, 'off')
})

test('one caller adds at most two to the count', () => {
  const entries = ['x/a', 'x/a', 'x/b', 'y/c'].map(callerOf)
  assert.equal(countedFailures(entries, accountOf), 3)
  assert.equal(countedFailures(entries, keyOf), 4)
})

test('one account cannot switch off for others, however many keys it uses', () => {
  let state = run(freshState, [ended('ok', 'b')], 0).state
  for (let index = 0; index < 100; index++) {
    const now = index * 500
    state = step(state, ended('hard', `a/${index}`), now, middle).state
    while (state.burst !== undefined) state = step(state, probed('ok'), now, middle).state
    if (index % 20 === 0) state = step(state, ended('ok', 'b'), now, middle).state
    assert.equal(state.mode, 'on')
  }
})

test('with no other account about, five failures of several of its keys switch off', () => {
  const events = ['a/1', 'a/1', 'a/2', 'a/2', 'a/3'].map((key) => ended('hard', key))
  assert.equal(run(freshState, [ended('ok', 'a/4'), ...events], 0).state.mode, 'off')
})

test('three failures in a row ask for three probes, and not again at once', () => {
  const { state, effects } = run(freshState, failures('abc'), 0)
  assert.deepEqual(effects, [{ kind: 'probe', count: 3 }])
  assert.deepEqual(step(state, ended('hard', 'a'), 1, middle).effects, [])
})

test('traffic of several keys waits for the probes; of one key alone it does not', () => {
  assert.equal(gradeOf(run(freshState, failures('abc'), 0).state, 100), 'doubted')
  const others = run(freshState, [ended('ok', 'b'), ...failures('aaa')], 0).state
  assert.equal(gradeOf(others, 100), 'on')
})

test('two bad probes of three confirm what several keys met, three what one key met', () => {
  const several = run(freshState, [...failures('abc'), probed('hard'), probed('hard')], 0)
  assert.equal(several.state.mode, 'off')
  const one = run(freshState, [...failures('aaa'), probed('hard'), probed('hard')], 0)
  assert.equal(one.state.mode, 'on')
  assert.equal(run(one.state, [probed('hard')], 0).state.mode, 'off')
})

test('passed probes clear the run and set the one key that failed aside for a while', () => {
  const { state } = run(freshState, [...failures('aaa'), probed('ok')], 0)
  assert.deepEqual(state.run, [])
  const later = run(state, failures('aaaaaaaa'), 1_000).state
  assert.equal(later.mode, 'on')
  assert.equal(gradeOf(later, 1_000), 'on')
  assert.equal(run(later, [ended('ok', 'a')], 2_000).state.ignored, undefined)
})

test('a lone failing key that probes clear switches nothing off, however long it goes on', () => {
  let state = freshState
  for (let now = 0; now < 3_600_000; now += 1_000) {
    const failed = step(state, ended('hard', 'a'), now, middle)
    state = failed.state
    const woken = step(state, wake, now, middle)
    state = woken.state
    for (const effect of [...failed.effects, ...woken.effects])
      for (let count = effect.kind === 'probe' ? effect.count : 0; count > 0; count--)
        state = step(state, probed('ok'), now, middle).state
    assert.equal(state.mode, 'on')
  }
})

test('the only key there is waits for probes after five failures, and is off when none comes back', () => {
  const five = run(freshState, failures('aaaaa'), 0).state
  assert.equal(five.mode, 'on')
  assert.equal(gradeOf(five, 1_000), 'doubted')
  assert.equal(step(five, wake, 45_000, middle).state.mode, 'off')
})

test('where nothing can be probed, five failures switch off, whoever sent them', () => {
  for (const check of ['none', 'models'] satisfies CheckKind[])
    assert.equal(run(startState(check), failures('aaaaa'), 0).state.mode, 'off')
  const others = [ended('ok', 'b'), ...failures('aaaaaaaa')]
  assert.equal(run(startState('none'), others, 0).state.mode, 'on')
})

test('a lone failure without a success soon asks for a probe; three bad ones in a row switch off', () => {
  let { state } = run(freshState, [ended('hard')], 0)
  assert.equal(nextWakeAt(state), 15_000)
  assert.equal(nextWakeAt(run(state, [ended('ok')], 1_000).state), undefined)
  for (const now of [15_000, 30_000, 45_000]) {
    assert.equal(state.mode, 'on')
    const woken = step(state, wake, now, middle)
    assert.deepEqual(woken.effects, [{ kind: 'probe', count: 1 }])
    state = step(woken.state, probed('hard'), now, middle).state
  }
  assert.equal(state.mode, 'off')
})

test('too few successes over two minutes switch off when several keys show it', () => {
  let state = freshState
  const order = 'abcdefghij'
  let now = 0
  for (let index = 0; state.mode === 'on' && index < 400; index++) {
    now += 500
    const keyId = order[index % order.length] ?? 'a'
    // Two good, one bad: no run of three ever comes about.
    state = step(state, ended(index % 3 === 2 ? 'hard' : 'ok', keyId), now, middle).state
    for (const outcome of ['ok', 'ok'] as const)
      if (state.burst !== undefined) state = step(state, probed(outcome), now, middle).state
  }
  assert.equal(state.why, 'too_few_successes')
  assert.equal(state.passesNeeded, 5)
})

test('a failure that turns out to be the request’s own is taken back', () => {
  const four = run(freshState, failures('abcd'), 0).state
  const fewer = step(four, { kind: 'retracted', keyId: 'd' }, 0, middle).state
  assert.equal(run(fewer, failures('e'), 0).state.mode, 'on')
})

test('a refused credential switches off at once, tells the operator, and is confirmed by a probe', () => {
  const { state, effects } = run(freshState, [ended('config')], 0)
  assert.equal(state.mode, 'off')
  assert.equal(state.cause, 'config')
  assert.ok(state.holdUntil <= configHoldMs && state.holdUntil >= configHoldMs * (1 - jitterShare))
  assert.deepEqual(
    effects.map((effect) => effect.kind),
    ['changed', 'alert', 'probe'],
  )
  const confirmed = step(state, probed('config'), 500, middle)
  assert.equal(confirmed.state.mode, 'off')
  assert.deepEqual(confirmed.effects, [])
})

test('a refusal that the probe does not meet is undone, and the next one waits for its probe', () => {
  const { state } = run(freshState, [ended('config'), probed('ok')], 0)
  assert.equal(state.mode, 'on')
  const again = step(state, ended('config'), 20_000, middle)
  assert.equal(again.state.mode, 'on')
  assert.deepEqual(again.effects, [{ kind: 'probe', count: 1 }])
  assert.equal(step(again.state, probed('config'), 21_000, middle).state.mode, 'off')
})

test('a refusal is asked about every two minutes, without a word while it holds', () => {
  let state = run(freshState, [ended('config'), probed('config')], 0).state
  const since = state.since
  let probes = 0
  for (let now = 0; now <= 3_600_000; now += 1_000) {
    const woken = step(state, wake, now, middle)
    state = woken.state
    for (const effect of woken.effects) {
      assert.equal(effect.kind, 'probe', 'nothing else is news')
      probes++
      state = step(state, { ...probed('config'), beganAt: now }, now, middle).state
    }
  }
  assert.deepEqual([state.mode, state.since], ['off', since])
  assert.equal(probes, 30)
})

test('a refusal that is over is on trial with the first probe that shows it', () => {
  const off = run(freshState, [ended('config'), probed('config')], 0).state
  const asked = step(off, wake, 120_000, middle)
  assert.deepEqual(asked.effects, [{ kind: 'probe', count: 1 }])
  const passed = step(asked.state, { ...probed('ok'), beganAt: 120_000 }, 121_000, middle)
  assert.deepEqual([passed.state.mode, passed.state.passed], ['trial', 1])
  const back = run(passed.state, [wake, probed('ok')], 126_000).state
  assert.equal(run(back, [wake, probed('ok')], 131_000).state.mode, 'ramp')
  // One that was under way before the refusal knows nothing of it.
  const late = step(off, { ...probed('ok'), beganAt: -1 }, 121_000, middle)
  assert.equal(late.state.mode, 'off')
})

test('each relapse has it prove itself longer, never wait longer than two minutes', () => {
  let state = freshState
  let now = 0
  const seen: (readonly number[])[] = []
  for (let count = 0; count < 7; count++) {
    state = offAfterRun(now, state)
    seen.push([(state.holdUntil - now) / 1_000, state.passesNeeded])
    const back = bringBack(state)
    state = back.state
    now = back.at + 1_000
  }
  assert.deepEqual(seen, [
    [30, 3],
    [60, 7],
    [120, 9],
    [120, 11],
    [120, 13],
    [120, 15],
    [120, 15],
  ])
})

test('an operator is told of one fault once, however often it is met again', () => {
  const off = run(freshState, [ended('config'), probed('config')], 0).state
  const again = run(off, [wake, probed('config'), ended('config')], 700_000)
  assert.equal(again.state.mode, 'off')
  assert.ok(!again.effects.some((effect) => effect.kind === 'alert'))
})

test('a missing model switches off, and a known cause is not replaced by late failures', () => {
  const { state } = run(freshState, [ended('model_missing'), ended('hard')], 0)
  assert.equal(state.cause, 'missing')
})

test('a rest lasts as the vendor asks, between one second and five minutes, five seconds unasked', () => {
  for (const [asked, expected] of [
    [20_000, 20_000],
    [undefined, 5_000],
    [10, 1_000],
    [86_400_000, 300_000],
  ] as const) {
    const { state } = run(freshState, [ended('throttle', 'a', asked)], 0)
    assert.equal(state.mode, 'on')
    assert.equal(gradeOf(state, expected - 1), 'resting')
    assert.equal(gradeOf(state, expected), 'on')
  }
})

test('a throttled probe rests the channel as traffic would, in every mode', () => {
  const throttled = { ...probed('throttle'), retryAfterMs: 40_000 }
  const trial = step(offAfterRun(), wake, 30_000, middle).state
  for (const state of [freshState, offAfterRun(), trial]) {
    const rested = step(state, throttled, 30_500, middle).state
    assert.equal(rested.restUntil, 70_500, state.mode)
    assert.equal(rested.mode, state.mode === 'off' ? 'trial' : state.mode)
  }
  assert.equal(gradeOf(step(freshState, throttled, 500, middle).state, 40_499), 'resting')
})

test('a shorter rest never ends a longer one early; throttling alone never switches off', () => {
  const rests = [ended('throttle', 'a', 60_000), ended('throttle', 'a', 2_000)]
  assert.equal(gradeOf(run(freshState, rests, 0).state, 59_000), 'resting')
  const many = Array.from({ length: 100 }, (_, index) => ended('throttle', `key-${index}`))
  assert.equal(run(freshState, many, 0).state.mode, 'on')
})

test('after the hold probes decide: three in a row, five seconds apart, then a growing share', () => {
  const off = offAfterRun()
  const first = step(off, wake, 30_000, middle)
  assert.deepEqual(
    first.effects.map((effect) => effect.kind),
    ['changed', 'probe'],
  )
  const { state, at } = bringBack(off)
  assert.equal(at, 40_000)
  assert.equal(state.mode, 'ramp')
  assert.equal(shareOf(state, at), 0.1)
  assert.ok(Math.abs(shareOf(state, at + 60_000) - 0.55) < 1e-9)
  const on = step(state, wake, at + 120_000, middle)
  assert.equal(on.state.mode, 'on')
  assert.equal(shareOf(on.state, at + 120_000), 1)
})

test('a failed probe starts the count again, after thirty seconds, after a long outage sixty', () => {
  let state = step(offAfterRun(), wake, 30_000, middle).state
  state = run(state, [probed('ok')], 30_000).state
  state = run(state, [wake, probed('hard')], 35_000).state
  assert.equal(state.passed, 0)
  assert.equal(state.probeAt, 65_000)
  assert.equal(run(state, [wake, probed('throttle')], 700_000).state.probeAt, 760_000)
})

test('a probe that is never heard of again is sent anew', () => {
  const state = step(offAfterRun(), wake, 30_000, middle).state
  const at = nextWakeAt(state) ?? 0
  assert.ok(at <= 75_000)
  assert.deepEqual(step(state, wake, at, middle).effects, [{ kind: 'probe', count: 1 }])
})

test('traffic on a channel on trial neither brings it back nor keeps it away where probes decide', () => {
  const trial = step(offAfterRun(), wake, 30_000, middle).state
  const events = [ended('ok'), ended('ok'), ended('ok'), ended('hard')]
  const { state } = run(trial, events, 60_000)
  assert.equal(state.mode, 'trial')
  assert.equal(state.probeAt, trial.probeAt)
})

test('without probes one exchange at a time decides, no more often than every five seconds', () => {
  const off = offAfterRun(0, startState('none'))
  assert.equal(gradeOf(off, off.holdUntil - 1), 'off')
  assert.equal(gradeOf(off, off.holdUntil), 'trial')
  let state = step(off, { kind: 'begun' }, 30_000, middle).state
  assert.equal(gradeOf(state, 30_001), 'off')
  for (const now of [31_000, 36_000]) {
    state = run(state, [{ kind: 'begun' }, ended('ok')], now).state
    assert.equal(gradeOf(state, now + 4_999), 'off')
    assert.equal(gradeOf(state, now + 5_000), 'trial')
  }
  assert.equal(run(state, [ended('ok')], 41_000).state.mode, 'ramp')
})

test('an attempt that began before the switch-off says nothing about the return', () => {
  const { state, at } = bringBack(offAfterRun())
  const late = failures('abcdefgh').map((event) => ({ ...event, beganAt: 0 }) as HealthEvent)
  assert.equal(run(state, late, at + 1_000).state.mode, 'ramp')
})

test('staying on for ten minutes forgets relapses', () => {
  const back = bringBack(offAfterRun())
  const on = step(back.state, wake, back.at + 120_000, middle).state
  const later = back.at + 120_000 + 600_000
  assert.equal(offAfterRun(later, on).holdUntil - later, 30_000)
})

test('a warning from elsewhere asks for probes, and switches off only what they find bad', () => {
  const warned = step(freshState, { kind: 'warned' }, 0, middle)
  assert.deepEqual(warned.effects, [{ kind: 'probe', count: 3 }])
  assert.equal(run(warned.state, [probed('ok'), probed('ok')], 100).state.mode, 'on')
  const bad = [probed('hard'), probed('hard'), probed('hard')]
  assert.equal(run(warned.state, bad, 100).state.mode, 'off')
})

// --- latency --------------------------------------------------------------------------------------

const small = latencyKind({ isStream: true, inputTokens: 500 })

function answered(value: number): HealthEvent {
  return { kind: 'answered', latencyKind: small, value }
}

/** A channel that has long answered within 500 to 1 500 ms. */
function usual(): HealthState {
  let state = freshState
  for (let index = 0; index < 320; index++)
    state = step(state, answered(500 + (index % 101) * 10), index * 1_000, middle).state
  return state
}

function slowSince(from: number): HealthState {
  let state = usual()
  let effects: readonly HealthEffect[] = []
  let now = from
  while (!effects.some((effect) => effect.kind === 'compare')) {
    now += 1_000
    ;({ state, effects } = step(state, answered(3_300), now, middle))
  }
  return step(state, { kind: 'compared', comparison: 'better' }, now, middle).state
}

test('a channel three times as slow as usual asks whether another is better, within twenty requests', () => {
  const state = slowSince(320_000)
  assert.ok((state.latency.slowSince ?? Infinity) <= 340_000)
  assert.equal(gradeOf(state, 340_000), 'slow')
  assert.equal(shareOf(state, 340_000), 0.05)
})

test('where none is better nothing moves, and it is asked again ever later', () => {
  let state = usual()
  const asked: number[] = []
  for (let now = 320_000; now < 2_500_000; now += 1_000) {
    const next = step(state, answered(3_300), now, middle)
    state = next.state
    if (!next.effects.some((effect) => effect.kind === 'compare')) continue
    asked.push(now)
    state = step(state, { kind: 'compared', comparison: 'worse' }, now, middle).state
  }
  const gaps = asked.slice(1).map((at, index) => (at - (asked[index] ?? 0)) / 1_000)
  assert.deepEqual(gaps, [60, 120, 240, 480, 960])
  assert.equal(state.mode, 'on')
})

test('a few slow requests among usual ones change nothing', () => {
  let state = usual()
  for (let index = 0; index < 300; index++) {
    const next = step(state, answered(index % 3 === 0 ? 5_000 : 900), 320_000 + index * 500, middle)
    assert.deepEqual(next.effects, [])
    state = next.state
  }
})

test('requests that wait too long count before they are answered', () => {
  let state = usual()
  let effects: readonly HealthEffect[] = []
  for (let index = 0; index < 20; index++)
    ({ state, effects } = step(state, { kind: 'overdue' }, 400_000 + index, middle))
  assert.deepEqual(effects.concat(step(state, wake, 402_500, middle).effects), [
    { kind: 'compare' },
  ])
})

test('what was slow returns by a ramp once ten samples show it, after three minutes at the least', () => {
  let state = slowSince(320_000)
  const since = state.latency.slowSince ?? 0
  let now = since
  while (state.latency.slowSince !== undefined) {
    now += 10_000
    state = step(state, answered(900), now, middle).state
  }
  assert.equal(now - since, 180_000)
  assert.equal(state.mode, 'ramp')
  assert.equal(shareOf(state, now), 0.1)
})

test('a slowdown does not become what is usual', () => {
  const before = usual().latency.baselines[small]
  const after = slowSince(320_000).latency.baselines[small]
  assert.deepEqual(after, before)
})
