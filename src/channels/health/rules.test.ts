/** The rules as examples: one event after the other at moments that the test names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckKind } from '../channel.ts'
import {
  countInARow,
  noEvidence,
  withFailure,
  withSuccess,
  type Caller,
  type Form,
} from './evidence.ts'
import type { HealthEffect, HealthEvent, Outcome } from './health-event.ts'
import {
  freshState,
  gradeOf,
  isInUse,
  nextWakeAt,
  shareOf,
  startState,
  type HealthState,
  type InUse,
  type Off,
  type Trial,
} from './health-state.ts'
import { step } from './rules.ts'
import { latencyKind } from './latency.ts'
import { passesNeeded } from './out-of-use.ts'
import { jitterShare, waitMaxMs } from './timing.ts'

const middle = (): number => 0.5

/** An event as these tests write it: of a stream and begun at the moment of the event unless given. */
type Told = HealthEvent extends infer Event
  ? Event extends HealthEvent
    ? Omit<Event, 'form' | 'beganAt'> & { form?: Form; beganAt?: number }
    : never
  : never

function apply(state: HealthState, event: Told, now: number) {
  const whole = { form: 'stream', beganAt: now, ...event } as HealthEvent
  return step(state, whole, now, middle)
}

/** A key of a separate account, unless the account is given before a slash: `acme/a`. */
function callerOf(text: string): Caller {
  return { keyId: text, accountId: text.split('/')[0] ?? text }
}

function ended(outcome: Outcome, caller = 'a', retryAfterMs?: number) {
  return { kind: 'ended', outcome, caller: callerOf(caller), retryAfterMs } satisfies Told
}

function probed(outcome: Outcome) {
  return { kind: 'ended', outcome, caller: undefined } satisfies Told
}

function asOff(state: HealthState): Off {
  assert.ok(state.mode === 'off', state.mode)
  return state
}

function asTrial(state: HealthState): Trial {
  assert.ok(state.mode === 'trial', state.mode)
  return state
}

function asInUse(state: HealthState): InUse {
  assert.ok(isInUse(state), state.mode)
  return state
}

const wake: Told = { kind: 'wake' }

/** Runs events at one moment and returns the last state with all effects. */
function run(state: HealthState, events: readonly Told[], now: number) {
  const effects: HealthEffect[] = []
  let current = state
  for (const event of events) {
    const next = apply(current, event, now)
    current = next.state
    effects.push(...next.effects)
  }
  return { state: current, effects }
}

function failures(keys: string, outcome: Outcome = 'hard'): readonly Told[] {
  return keys.split('').map((keyId) => ended(outcome, keyId))
}

function offAfterRun(now = 0, from: HealthState = freshState): HealthState {
  return run(from, failures('abcde'), now).state
}

/** Passes probes until it is back in use, and says when that was. */
function bringBack(state: HealthState): { state: HealthState; at: number } {
  let now = asOff(state).backOffUntil
  let current = apply(state, wake, now).state
  while (current.mode === 'trial') {
    current = run(current, [wake, probed('ok')], now).state
    now += 5_000
    assert.ok(now < 86_400_000, 'it is not back within a day')
  }
  return { state: current, at: now - 5_000 }
}

test('five failures in a row of different keys switch off for about thirty seconds', () => {
  assert.equal(run(freshState, failures('abcd'), 0).state.mode, 'on')
  const { state, effects } = run(freshState, failures('abcde'), 0)
  assert.equal(asOff(state).backOffUntil, 30_000)
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
  const answered: Told = { kind: 'answered', sample: { latencyKind: 0, value: 800 } }
  const hard = run(freshState, [...failures('abcd'), answered, ...failures('e')], 0).state
  assert.equal(hard.mode, 'on')
  const broken = [...failures('abcd', 'broken'), answered, ...failures('e', 'broken')]
  assert.equal(run(freshState, broken, 0).state.mode, 'off')
})

test('a caller adds at most two failures in a row while another one succeeds', () => {
  const inARow = (callers: string, served?: string, now = 3): number => {
    let evidence = noEvidence
    if (served !== undefined) {
      const success = { caller: callerOf(served), beganAt: 0, wasAnswered: false }
      evidence = withSuccess(evidence, success, 1)
    }
    for (const name of callers.split(' ')) {
      const failure = { ...callerOf(name), isBroken: false, beganAt: 2, isCounted: true }
      evidence = withFailure(evidence, failure, 2)
    }
    return countInARow(evidence, now)
  }
  assert.equal(inARow('x/a x/a x/a x/b y/c'), 5)
  assert.equal(inARow('x/a x/a x/a x/b y/c', 'z'), 3)
  assert.equal(inARow('x/a x/a x/a x/b y/c', 'z', 61_000), 5, 'its success is a minute old')
  // Of one account: by key.
  assert.equal(inARow('x/a x/a x/a x/b', 'x/c'), 3)
  // One failure by chance leaves its caller among those who succeed, two do not.
  assert.equal(inARow('x/a x/a x/a y/c', 'y/c'), 3)
  assert.equal(inARow('x/a x/a x/a y/c y/c', 'y/c'), 5)
})

test('one account cannot switch off for others, however many keys it uses', () => {
  let state = run(freshState, [ended('ok', 'b')], 0).state
  for (let index = 0; index < 100; index++) {
    const now = index * 500
    state = apply(state, ended('hard', `a/${index}`), now).state
    if (asInUse(state).burst !== undefined) state = apply(state, probed('ok'), now).state
    if (index % 20 === 0) state = apply(state, ended('ok', 'b'), now).state
    assert.equal(state.mode, 'on')
  }
})

test('with no other account about, five failures of several of its keys switch off', () => {
  const events = ['a/1', 'a/1', 'a/2', 'a/2', 'a/3'].map((key) => ended('hard', key))
  assert.equal(run(freshState, [ended('ok', 'a/4'), ...events], 0).state.mode, 'off')
})

test('three failures in a row ask for three probes, and not again at once', () => {
  const { state, effects } = run(freshState, failures('abc'), 0)
  assert.deepEqual(effects, [{ kind: 'probe', count: 3, form: 'stream' }])
  assert.deepEqual(apply(state, ended('hard', 'a'), 1).effects, [])
})

test('traffic waits elsewhere while a burst is under way', () => {
  const doubted = run(freshState, failures('abc'), 0).state
  assert.equal(gradeOf(doubted, 100), 'doubted')
  assert.equal(gradeOf(run(doubted, [probed('ok')], 200).state, 200), 'on')
})

test('a burst switches off when all three probes fail, and one that passes clears the channel', () => {
  const two = run(freshState, [...failures('abc'), probed('hard'), probed('hard')], 0).state
  assert.equal(two.mode, 'on')
  assert.equal(run(two, [probed('hard')], 0).state.why, 'failures_confirmed')
  const clear = run(two, [probed('ok')], 0).state
  assert.deepEqual(asInUse(clear).evidence.stream.failures, [])
})

test('a probe clears only evidence of its own form', () => {
  const failing = run(freshState, failures('ab'), 0).state
  const whole = run(failing, [{ ...probed('ok'), form: 'whole' }], 1).state
  assert.equal(asInUse(whole).evidence.stream.failures.length, 2)
  const answered = run(whole, [{ ...ended('ok', 'c'), form: 'whole' }], 2).state
  assert.equal(run(answered, failures('cde'), 3).state.mode, 'off')
})

test('failures of both forms add up to five', () => {
  const events = [
    ...failures('abc'),
    ...failures('de').map((one) => ({ ...one, form: 'whole' as const })),
  ]
  assert.equal(run(freshState, events, 0).state.mode, 'off')
})

test('probes clear a form once: the next five failures in a row switch off without probes', () => {
  const cleared = run(freshState, [...failures('aaa'), probed('ok')], 0).state
  const four = run(cleared, failures('aaaa'), 60_000)
  assert.deepEqual(four.effects, [])
  assert.equal(run(four.state, failures('a'), 60_000).state.why, 'failures_in_a_row')
  // An answer of this form to a request makes it as it was.
  const again = run(cleared, [ended('ok', 'a'), ...failures('aaa')], 60_000)
  assert.deepEqual(again.effects, [{ kind: 'probe', count: 3, form: 'stream' }])
})

test('failures that are far apart add up, although a probe passes after each', () => {
  let state: HealthState = freshState
  let failed = 0
  while (state.mode !== 'off') {
    state = apply(state, ended('hard', 'a'), failed * 60_000).state
    state = apply(state, probed('ok'), failed * 60_000 + 15_000).state
    failed++
    assert.ok(failed <= 6, `${failed} failures in a row`)
  }
  assert.equal(state.why, 'failures_in_a_row')
})

test('a key that fails while another succeeds switches nothing off, however long it goes on', () => {
  let state: HealthState = freshState
  for (let now = 0; now < 3_600_000; now += 1_000) {
    const served = now % 30_000 === 0 ? apply(state, ended('ok', 'b'), now).state : state
    const failed = apply(served, ended('hard', 'a'), now)
    const woken = apply(failed.state, wake, now)
    state = woken.state
    for (const effect of [...failed.effects, ...woken.effects])
      for (let count = effect.kind === 'probe' ? effect.count : 0; count > 0; count--)
        state = apply(state, probed('ok'), now).state
    assert.equal(state.mode, 'on')
  }
})

test('a warning from elsewhere sends a burst and moves no traffic', () => {
  const { state, effects } = run(freshState, [{ kind: 'warned' }], 0)
  assert.deepEqual(effects, [{ kind: 'probe', count: 3, form: 'stream' }])
  assert.equal(gradeOf(state, 100), 'on')
})

test('a burst whose probes are lost ends without a result', () => {
  const doubted = run(freshState, failures('aaa'), 0).state
  const lost = apply(doubted, wake, 45_000).state
  assert.deepEqual([lost.mode, gradeOf(lost, 45_000)], ['on', 'on'])
})

test('where nothing can be probed, five failures of any accounts switch off', () => {
  for (const check of ['none', 'models'] satisfies CheckKind[])
    assert.equal(run(startState(check), failures('aaaaa'), 0).state.mode, 'off')
  const others = [ended('ok', 'b'), ...failures('aaaaaaaa')]
  assert.equal(run(startState('none'), others, 0).state.mode, 'on')
})

test('a lone failure without a success soon asks for a probe, and a bad one for a burst', () => {
  const { state } = run(freshState, [ended('hard')], 0)
  assert.equal(nextWakeAt(state), 15_000)
  assert.equal(nextWakeAt(run(state, [ended('ok')], 1_000).state), undefined)
  const woken = apply(state, wake, 15_000)
  assert.deepEqual(woken.effects, [{ kind: 'probe', count: 1, form: 'stream' }])
  const doubted = apply(woken.state, probed('hard'), 15_500)
  assert.deepEqual(doubted.effects, [{ kind: 'probe', count: 3, form: 'stream' }])
  const bad = [probed('hard'), probed('broken'), probed('hard')]
  assert.equal(run(doubted.state, bad, 16_000).state.mode, 'off')
})

test('an exchange that failed on two channels asks for probes and switches nothing off', () => {
  const suspects = Array.from({ length: 9 }, () => ended('suspect', 'a'))
  const { state, effects } = run(freshState, suspects, 0)
  assert.equal(state.mode, 'on')
  assert.deepEqual(effects, [{ kind: 'probe', count: 3, form: 'stream' }])
})

test('silence asks for a probe of the form that waits', () => {
  const { effects } = run(freshState, [{ kind: 'silent', form: 'whole' }], 0)
  assert.deepEqual(effects, [{ kind: 'probe', count: 1, form: 'whole' }])
})

test('too few successes over two minutes switch off when several keys show it', () => {
  let state: HealthState = freshState
  const order = 'abcdefghij'
  let now = 0
  for (let index = 0; state.mode === 'on' && index < 400; index++) {
    now += 500
    const keyId = order[index % order.length] ?? 'a'
    // Two good, one bad: no run of three ever comes about.
    state = apply(state, ended(index % 3 === 2 ? 'hard' : 'ok', keyId), now).state
    if (isInUse(state) && state.burst !== undefined) state = apply(state, probed('ok'), now).state
  }
  assert.equal(state.why, 'too_few_successes')
})

test('a failure that turns out to be the request’s own is taken back', () => {
  const four = run(freshState, failures('abcd'), 0).state
  const fewer = apply(four, { kind: 'retracted', keyId: 'd' }, 0).state
  assert.equal(run(fewer, failures('e'), 0).state.mode, 'on')
})

test('a refused credential switches off at once, tells the operator, and is confirmed by a probe', () => {
  const { state, effects } = run(freshState, [ended('config')], 0)
  assert.equal(state.mode, 'off')
  const { cause, backOffUntil } = asOff(state)
  assert.equal(cause, 'config')
  assert.ok(backOffUntil <= waitMaxMs && backOffUntil >= waitMaxMs * (1 - jitterShare))
  assert.deepEqual(
    effects.map((effect) => effect.kind),
    ['changed', 'alert', 'probe'],
  )
  const confirmed = apply(state, probed('config'), 500)
  assert.equal(confirmed.state.mode, 'off')
  assert.deepEqual(confirmed.effects, [])
})

test('a refusal that the probe does not meet is undone, and the next one waits for its probe', () => {
  const { state } = run(freshState, [ended('config'), probed('ok')], 0)
  assert.equal(state.mode, 'on')
  const again = apply(state, ended('config'), 20_000)
  assert.equal(again.state.mode, 'on')
  assert.deepEqual(again.effects, [{ kind: 'probe', count: 1, form: 'stream' }])
  assert.equal(apply(again.state, probed('config'), 21_000).state.mode, 'off')
})

test('a refusal is asked about every two minutes, without a word while it holds', () => {
  let state = run(freshState, [ended('config'), probed('config')], 0).state
  const since = state.since
  let probes = 0
  for (let now = 0; now <= 3_600_000; now += 1_000) {
    const woken = apply(state, wake, now)
    state = woken.state
    for (const effect of woken.effects) {
      assert.equal(effect.kind, 'probe', 'nothing else is news')
      probes++
      state = apply(state, { ...probed('config'), beganAt: now }, now).state
    }
  }
  assert.deepEqual([state.mode, state.since], ['off', since])
  assert.equal(probes, 30)
})

test('a refusal that is over is on trial with the first probe that shows it', () => {
  const off = run(freshState, [ended('config'), probed('config')], 0).state
  const asked = apply(off, wake, 120_000)
  assert.deepEqual(asked.effects, [{ kind: 'probe', count: 1, form: 'stream' }])
  const passed = apply(asked.state, { ...probed('ok'), beganAt: 120_000 }, 121_000)
  assert.deepEqual([passed.state.mode, asTrial(passed.state).passed], ['trial', 1])
  const back = run(passed.state, [wake, probed('ok')], 126_000).state
  assert.equal(run(back, [wake, probed('ok')], 131_000).state.mode, 'ramp')
  // One that was under way before the refusal knows nothing of it.
  const late = apply(off, { ...probed('ok'), beganAt: -1 }, 121_000)
  assert.equal(late.state.mode, 'off')
})

test('each relapse needs two more passes, and no hold exceeds two minutes', () => {
  let state: HealthState = freshState
  let now = 0
  const seen: (readonly number[])[] = []
  for (let count = 0; count < 7; count++) {
    state = offAfterRun(now, state)
    seen.push([(asOff(state).backOffUntil - now) / 1_000, passesNeeded(state)])
    const back = bringBack(state)
    state = back.state
    now = back.at + 1_000
  }
  assert.deepEqual(seen, [
    [30, 3],
    [60, 5],
    [120, 7],
    [120, 9],
    [120, 11],
    [120, 13],
    [120, 15],
  ])
})

test('one fault alerts the operator once, however often it is met again', () => {
  const off = run(freshState, [ended('config'), probed('config')], 0).state
  const again = run(off, [wake, probed('config'), ended('config')], 700_000)
  assert.equal(again.state.mode, 'off')
  assert.ok(!again.effects.some((effect) => effect.kind === 'alert'))
})

test('a credential that is refused and then lacks credit is news, where a probe shows it', () => {
  const off = run(freshState, [ended('config'), probed('config')], 0).state
  assert.equal(off.why, 'credential_refused')
  // What a client's request meets may be its own doing.
  assert.equal(apply(off, ended('no_credit'), 1_000).state.why, 'credential_refused')
  const changed = apply(off, probed('no_credit'), 120_000)
  assert.deepEqual(
    changed.effects.map((effect) => ('why' in effect ? `${effect.kind} ${effect.why}` : '')),
    ['changed no_credit', 'alert no_credit'],
  )
  assert.deepEqual(apply(changed.state, probed('no_credit'), 240_000).effects, [])
})

test('a missing model switches off, and a known cause is not replaced by late failures', () => {
  const { state } = run(freshState, [ended('model_missing'), ended('hard')], 0)
  assert.equal(asOff(state).cause, 'missing')
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

test('a probe that the gateway could not send decides nothing, and the next one follows', () => {
  const notSent = probed('nobody')
  const off = offAfterRun()
  assert.equal(apply(off, notSent, 1_000).state, off)
  const trial = asTrial(apply(off, { kind: 'asked' }, 2_000).state)
  const resumed = { ...trial, why: 'restarted', passed: 1 }
  const after = asTrial(apply(resumed, notSent, 3_000).state)
  assert.equal(after.passed, 1)
  assert.equal(after.probeAt, 33_000)
  assert.equal(apply(freshState, notSent, 500).state, freshState)
})

test('a throttled probe rests the channel as traffic would, in every mode', () => {
  const throttled = { ...probed('throttle'), retryAfterMs: 40_000 }
  const trial = apply(offAfterRun(), wake, 30_000).state
  for (const state of [freshState, offAfterRun(), trial]) {
    const rested = apply(state, throttled, 30_500).state
    assert.equal(rested.restUntil, 70_500, state.mode)
    assert.equal(rested.mode, state.mode === 'off' ? 'trial' : state.mode)
  }
  assert.equal(gradeOf(apply(freshState, throttled, 500).state, 40_499), 'resting')
})

test('a shorter rest never ends a longer one early; throttling alone never switches off', () => {
  const rests = [ended('throttle', 'a', 60_000), ended('throttle', 'a', 2_000)]
  assert.equal(gradeOf(run(freshState, rests, 0).state, 59_000), 'resting')
  const many = Array.from({ length: 100 }, (_, index) => ended('throttle', `key-${index}`))
  assert.equal(run(freshState, many, 0).state.mode, 'on')
})

test('after the hold probes decide: three in a row, five seconds apart, then a growing share', () => {
  const off = offAfterRun()
  const first = apply(off, wake, 30_000)
  assert.deepEqual(
    first.effects.map((effect) => effect.kind),
    ['changed', 'probe'],
  )
  const { state, at } = bringBack(off)
  assert.equal(at, 40_000)
  assert.equal(state.mode, 'ramp')
  assert.equal(shareOf(state, at), 0.1)
  assert.ok(Math.abs(shareOf(state, at + 60_000) - 0.55) < 1e-9)
  const on = apply(state, wake, at + 120_000)
  assert.equal(on.state.mode, 'on')
  assert.equal(shareOf(on.state, at + 120_000), 1)
})

test('a failed probe starts the count again, after thirty seconds, after a long outage sixty', () => {
  let state = apply(offAfterRun(), wake, 30_000).state
  state = run(state, [probed('ok')], 30_000).state
  state = run(state, [wake, probed('hard')], 35_000).state
  assert.equal(asTrial(state).passed, 0)
  assert.equal(state.probeAt, 65_000)
  assert.equal(run(state, [wake, probed('throttle')], 700_000).state.probeAt, 760_000)
})

test('a probe that is never heard of again is sent anew', () => {
  const state = apply(offAfterRun(), wake, 30_000).state
  const at = nextWakeAt(state) ?? 0
  assert.ok(at <= 75_000)
  assert.deepEqual(apply(state, wake, at).effects, [{ kind: 'probe', count: 1, form: 'stream' }])
})

test('traffic on a channel on trial neither brings it back nor keeps it away where probes decide', () => {
  const trial = apply(offAfterRun(), wake, 30_000).state
  const events = [ended('ok'), ended('ok'), ended('ok'), ended('hard')]
  const { state } = run(trial, events, 60_000)
  assert.equal(state.mode, 'trial')
  assert.equal(state.probeAt, trial.probeAt)
})

test('without probes one exchange at a time decides, no more often than every five seconds', () => {
  const off = asOff(offAfterRun(0, startState('none')))
  assert.equal(gradeOf(off, off.backOffUntil - 1), 'off')
  assert.equal(gradeOf(off, off.backOffUntil), 'trial')
  let state = apply(off, { kind: 'begun' }, 30_000).state
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
  const late = failures('abcdefgh').map((event) => ({ ...event, beganAt: 0 }))
  assert.equal(run(state, late, at + 1_000).state.mode, 'ramp')
})

test('staying on for ten minutes forgets relapses', () => {
  const back = bringBack(offAfterRun())
  const on = apply(back.state, wake, back.at + 120_000).state
  const later = back.at + 120_000 + 600_000
  assert.equal(asOff(offAfterRun(later, on)).backOffUntil - later, 30_000)
})

test('a warning from elsewhere asks for probes, and switches off only what they find bad', () => {
  const warned = apply(freshState, { kind: 'warned' }, 0)
  assert.deepEqual(warned.effects, [{ kind: 'probe', count: 3, form: 'stream' }])
  assert.equal(run(warned.state, [probed('ok'), probed('ok')], 100).state.mode, 'on')
  const bad = [probed('hard'), probed('hard'), probed('hard')]
  assert.equal(run(warned.state, bad, 100).state.mode, 'off')
})

// --- latency --------------------------------------------------------------------------------------

const small = latencyKind({ isStream: true, inputTokens: 500 })

function answered(value: number): Told {
  return { kind: 'answered', sample: { latencyKind: small, value } }
}

/** A channel that has long answered within 500 to 1 500 ms. */
function usual(): HealthState {
  let state: HealthState = freshState
  for (let index = 0; index < 320; index++)
    state = apply(state, answered(500 + (index % 101) * 10), index * 1_000).state
  return state
}

function slowSince(from: number): HealthState {
  let state = usual()
  let effects: readonly HealthEffect[] = []
  let now = from
  while (!effects.some((effect) => effect.kind === 'compare')) {
    now += 1_000
    ;({ state, effects } = apply(state, answered(3_300), now))
    assert.ok(now < from + 600_000, 'it is not suspected within ten minutes')
  }
  return apply(state, { kind: 'compared', comparison: 'better' }, now).state
}

test('a channel three times as slow as usual asks whether another is better, within twenty requests', () => {
  const state = slowSince(320_000)
  assert.ok((state.latency.slowSince ?? Infinity) <= 340_000)
  assert.equal(gradeOf(state, 340_000), 'slow')
  assert.equal(shareOf(state, 340_000), 0.05)
})

test('where no channel is better nothing moves, and it is compared again every five minutes', () => {
  let state = usual()
  const asked: number[] = []
  for (let now = 320_000; now < 1_900_000; now += 1_000) {
    const next = apply(state, answered(3_300), now)
    state = next.state
    if (!next.effects.some((effect) => effect.kind === 'compare')) continue
    asked.push(now)
    state = apply(state, { kind: 'compared', comparison: 'worse' }, now).state
  }
  const gaps = asked.slice(1).map((at, index) => (at - (asked[index] ?? 0)) / 1_000)
  assert.deepEqual(gaps, [300, 300, 300, 300, 300])
  assert.equal(state.mode, 'on')
})

test('a few slow requests among usual ones change nothing', () => {
  let state = usual()
  for (let index = 0; index < 300; index++) {
    const next = apply(state, answered(index % 3 === 0 ? 5_000 : 900), 320_000 + index * 500)
    assert.deepEqual(next.effects, [])
    state = next.state
  }
})

test('requests that wait too long count before they are answered', () => {
  let state = usual()
  let effects: readonly HealthEffect[] = []
  for (let index = 0; index < 20; index++)
    ({ state, effects } = apply(state, { kind: 'overdue' }, 400_000 + index))
  assert.deepEqual(effects.concat(apply(state, wake, 402_500).effects), [{ kind: 'compare' }])
})

test('what was slow returns by a ramp once ten samples show it, after three minutes at the least', () => {
  let state = slowSince(320_000)
  const since = state.latency.slowSince ?? 0
  let now = since
  while (state.latency.slowSince !== undefined) {
    now += 10_000
    state = apply(state, answered(900), now).state
    assert.ok(now - since <= 180_000)
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

test('only successes of the form that failed end a trial', () => {
  const failed = failures('abcde').map((event) => ({ ...event, form: 'whole' as const }))
  let state = apply(run(freshState, failed, 0).state, wake, 30_000).state
  for (let now = 30_000; now < 60_000; now += 5_000) state = apply(state, probed('ok'), now).state
  assert.equal(asTrial(state).passed, 0)
  const asked = apply(state, wake, nextWakeAt(state) ?? 0)
  assert.deepEqual(asked.effects, [{ kind: 'probe', count: 1, form: 'whole' }])
  for (const now of [80_000, 85_000, 90_000])
    state = apply(state, { ...probed('ok'), form: 'whole' }, now).state
  assert.equal(state.mode, 'ramp')
})
