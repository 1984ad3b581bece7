/** Each rule of a channel that is in use, at the edges of its times. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noEvidence, type Evidence, type Failure, type Form } from './evidence.ts'
import type { AttemptResult, HealthEvent, Moment, Outcome } from './health-event.ts'
import { isInUse, startState, type HealthState, type InUse } from './health-state.ts'
import * as rules from './in-use.ts'
import { freshLatency } from './latency.ts'

const moment: Moment = { now: 100_000, random: () => 0.5 }
const wake: HealthEvent = { kind: 'wake' }
const on = startState('request')
const caller = { keyId: 'k', accountId: 'a' }
const failure: Failure = { ...caller, isBroken: false, beganAt: 99_000, isCounted: true }
const burst = { form: 'stream', endsAt: 145_000, failed: 0 } as const

function inUse(state: HealthState): InUse {
  assert.ok(isInUse(state), state.mode)
  return state
}

function failing(count: number, form: Form = 'stream', isCleared = false): InUse {
  const failures = Array.from({ length: count }, () => failure)
  const evidence: Evidence = { ...noEvidence, failures, isCleared }
  return { ...on, evidence: { ...on.evidence, [form]: evidence } }
}

function ended(outcome: Outcome, more: Partial<AttemptResult> = {}): AttemptResult {
  return { kind: 'ended', outcome, form: 'stream', caller, beganAt: 99_500, ...more }
}

function probed(outcome: Outcome, form: Form = 'stream'): AttemptResult {
  return ended(outcome, { caller: undefined, form })
}

const probes = (count: number, form: Form = 'stream') => [{ kind: 'probe', count, form }]

describe('a success', () => {
  test('refutes failures of its form, and then no probe is due', () => {
    const state = { ...failing(2), probeAt: 110_000 }
    const after = inUse(rules.succeed(state, ended('ok'), moment).state)
    assert.deepEqual([after.evidence.stream.failures, after.probeAt], [[], undefined])
    assert.equal(after.lastOkAt, 100_000)
    const other = inUse(rules.succeed(state, ended('ok', { form: 'whole' }), moment).state)
    assert.deepEqual([other.evidence.stream.failures.length, other.probeAt], [2, 110_000])
    const slow = { ...state, latency: { ...freshLatency, slowSince: 1 } }
    assert.equal(inUse(rules.succeed(slow, ended('ok'), moment).state).probeAt, 110_000)
    assert.equal(rules.succeed(state, probed('ok'), moment).state, state)
  })

  test('of a stream that had begun says nothing about attempts without a first event', () => {
    const later = { ...failure, beganAt: 99_800 }
    const state = {
      ...on,
      evidence: { ...on.evidence, stream: { ...noEvidence, failures: [later] } },
    }
    const counted = (more: Partial<AttemptResult>) =>
      inUse(rules.succeed(state, ended('ok', more), moment).state).evidence.stream.failures[0]
        ?.isCounted
    assert.equal(counted({ wasAnswered: true }), true)
    assert.equal(counted({ wasAnswered: false }), false)
    assert.equal(counted({}), false)
    const whole = { ...state, evidence: { ...on.evidence, whole: state.evidence.stream } }
    const ok = ended('ok', { form: 'whole', wasAnswered: true })
    const after = inUse(rules.succeed(whole, ok, moment).state)
    assert.equal(after.evidence.whole.failures[0]?.isCounted, false)
  })

  test('by its first event ends failures to begin', () => {
    const state = { ...failing(1), probeAt: 110_000 }
    const first = { kind: 'answered', form: 'stream', beganAt: 99_500 } as const
    const after = inUse(rules.answered(state, first, moment).state)
    assert.deepEqual([after.evidence.stream.failures, after.probeAt], [[], undefined])
    assert.equal(rules.answered(on, first, moment).state, on)
  })
})

test('failures of both forms keep a probe due, however many each has', () => {
  const both: InUse = {
    ...on,
    evidence: { stream: failing(1).evidence.stream, whole: failing(2).evidence.stream },
    probeAt: 110_000,
  }
  const ok = ended('ok', { beganAt: 1 })
  const equal = { ...both, evidence: { stream: both.evidence.stream, whole: both.evidence.stream } }
  for (const state of [both, equal])
    assert.equal(inUse(rules.succeed(state, ok, moment).state).probeAt, 110_000)
})

describe('a failure', () => {
  const fail = (state: InUse, outcome: Outcome = 'hard', more: Partial<AttemptResult> = {}) =>
    rules.fail(state, ended(outcome, more), moment)

  test('asks for a probe soon, never later than one that is due', () => {
    const due = (state: InUse) => inUse(fail(state).state).probeAt
    assert.equal(due(on), 115_000)
    assert.equal(due({ ...on, probeAt: 110_000 }), 110_000)
    assert.equal(due({ ...on, probeAt: 130_000 }), 115_000)
    assert.deepEqual(fail(on).effects, [])
  })

  test('is the third of a burst, and the fifth switches off', () => {
    const third = fail(failing(2))
    assert.deepEqual(third.effects, probes(3))
    assert.deepEqual(inUse(third.state).burst, burst)
    assert.equal(inUse(third.state).probeAt, undefined)
    assert.deepEqual(fail(failing(2, 'whole')).effects, probes(3))
    assert.deepEqual(fail(failing(2, 'stream', true)).effects, [])
    assert.equal(fail(failing(3)).state.mode, 'on')
    const fifth = fail(failing(4)).state
    assert.deepEqual([fifth.mode, fifth.why], ['off', 'failures_in_a_row'])
  })

  test('is a reason for a burst where too few requests of other callers succeed', () => {
    const tallies = [
      { ...caller, ok: 0, failed: 9 },
      { keyId: 'l', accountId: 'b', ok: 14, failed: 6 },
    ]
    const outcomes = { index: 8, tallies, before: undefined }
    const state: InUse = {
      ...on,
      evidence: { ...on.evidence, stream: { ...noEvidence, outcomes } },
    }
    const doubted = fail(state)
    assert.deepEqual(doubted.effects, probes(3))
    assert.deepEqual(inUse(doubted.state).burst, burst)
  })

  test('waits with its burst for the gap after the last one', () => {
    const state = { ...failing(2), burstFrom: 100_001 }
    assert.deepEqual(fail(state).effects, [])
    assert.equal(inUse(fail(state).state).probeAt, 100_001)
    assert.deepEqual(fail({ ...state, burstFrom: 100_000 }).effects, probes(3))
  })

  test('asks for no second burst, and for none where nothing is probed', () => {
    assert.deepEqual(fail({ ...failing(2), burst }).effects, [])
    assert.deepEqual(fail({ ...failing(2), check: 'none' }).effects, [])
  })

  test('is counted where it is broken, and doubtful where it failed elsewhere', () => {
    const kept = (outcome: Outcome, state = on) => {
      const [one] = inUse(fail(state, outcome).state).evidence.stream.failures
      return [one?.isBroken, one?.isCounted]
    }
    assert.deepEqual(kept('hard'), [false, true])
    assert.deepEqual(kept('broken'), [true, true])
    assert.deepEqual(kept('suspect'), [false, false])
    assert.deepEqual(kept('suspect', { ...on, check: 'none' }), [false, true])
  })

  test('of a probe, or of an attempt from before the ramp, is none of traffic', () => {
    const ramp: InUse = { ...on, mode: 'ramp', since: 99_600 }
    assert.equal(fail(ramp).state, ramp)
    assert.equal(fail(on, 'hard', { caller: undefined }).state, on)
  })

  test('that is taken back does not count any more', () => {
    const event = { kind: 'retracted', form: 'stream', keyId: 'k' } as const
    const after = rules.retract(failing(1), event, moment)
    assert.equal(inUse(after.state).evidence.stream.failures[0]?.isCounted, false)
    assert.deepEqual([inUse(after.state).probeAt, after.effects], [115_000, []])
    assert.deepEqual(rules.retract(failing(3), event, moment).effects, probes(3))
  })

  test('of five requests that hang at once switches off', () => {
    const { state } = rules.hang(on, { kind: 'hanging', form: 'whole' }, moment)
    assert.ok(state.mode === 'off')
    assert.deepEqual([state.cause, state.form, state.why], ['run', 'whole', 'failures_in_a_row'])
  })
})

describe('a probe', () => {
  test('that passes clears failures of its form once, and ends its burst', () => {
    const state = { ...failing(3), burst, burstFrom: 0 }
    const after = inUse(rules.passProbe(state, probed('ok'), moment).state)
    assert.deepEqual(after.evidence.stream, { ...noEvidence, isCleared: true })
    assert.deepEqual(
      [after.burst, after.burstGapMs, after.burstFrom, after.lastOkAt],
      [undefined, 15_000, 115_000, 100_000],
    )
    const other = inUse(rules.passProbe(state, probed('ok', 'whole'), moment).state)
    assert.deepEqual([other.evidence.stream.failures.length, other.burst], [3, burst])
    const cleared = failing(3, 'stream', true)
    assert.equal(
      inUse(rules.passProbe(cleared, probed('ok'), moment).state).evidence,
      cleared.evidence,
    )
    const listed: InUse = { ...failing(3), check: 'models' }
    assert.equal(
      inUse(rules.passProbe(listed, probed('ok'), moment).state).evidence,
      listed.evidence,
    )
    const clean = inUse(rules.passProbe(on, probed('ok'), moment).state)
    assert.equal(clean.evidence.stream.isCleared, false)
  })

  test('that passes prolongs the time in which a refusal waits for its probe', () => {
    const refutedAt = (before: number | undefined) =>
      rules.passProbe({ ...on, refutedAt: before }, probed('ok'), { ...moment, now: 1_000_000 })
        .state.refutedAt
    assert.equal(refutedAt(undefined), undefined)
    assert.equal(refutedAt(400_001), 1_000_000)
    assert.equal(refutedAt(400_000), 400_000)
  })

  test('that fails begins a burst or ends it as the third', () => {
    assert.deepEqual(rules.failProbe(on, probed('hard'), moment).effects, probes(3))
    const state = { ...on, burst: { ...burst, failed: 1 } }
    const second = rules.failProbe(state, probed('hard'), moment)
    assert.equal(inUse(second.state).burst?.failed, 2)
    const third = rules.failProbe(inUse(second.state), probed('hard'), moment).state
    assert.ok(third.mode === 'off')
    assert.deepEqual([third.cause, third.why], ['run', 'failures_confirmed'])
    const other = rules.failProbe(state, probed('hard', 'whole'), moment)
    assert.deepEqual([other.state, other.effects], [state, []])
  })

  test('without a result ends a burst, and the gap to the next one doubles up to five minutes', () => {
    const gap = (burstGapMs: number, burstFrom = 99_000) => {
      const state = { ...on, burst, burstGapMs, burstFrom }
      const after = inUse(rules.undecidedProbe(state, probed('nobody'), moment).state)
      assert.equal(after.burst, undefined)
      assert.equal(after.burstFrom, 100_000 + after.burstGapMs)
      return after.burstGapMs
    }
    assert.deepEqual(
      [0, 10_000, 60_000, 200_000].map((ms) => gap(ms)),
      [15_000, 20_000, 120_000, 300_000],
    )
    assert.equal(gap(60_000, -500_000), 15_000)
    assert.equal(gap(60_000, -499_999), 120_000)
    const throttled = rules.undecidedProbe(on, probed('throttle'), moment).state
    assert.deepEqual([throttled.restUntil, inUse(throttled).burst], [105_000, undefined])
    assert.equal(rules.undecidedProbe(on, probed('client'), moment).state, on)
  })

  test('is sent for silence, but not during a burst and not where nothing is probed', () => {
    const silent = (state: InUse) =>
      rules.probeSilence(state, { kind: 'silent', form: 'whole' }).effects
    assert.deepEqual(silent(on), probes(1, 'whole'))
    assert.deepEqual(silent({ ...on, burst }), [])
    assert.deepEqual(silent({ ...on, check: 'none' }), [])
  })

  test('of a warning has the form that was used last, and is a burst', () => {
    const used = (stream: number | undefined, whole: number | undefined) => {
      const of = (index: number | undefined): Evidence => ({
        ...noEvidence,
        outcomes: index === undefined ? undefined : { index, tallies: [], before: undefined },
      })
      const state = { ...on, evidence: { stream: of(stream), whole: of(whole) } }
      return rules.warned(state, { kind: 'warned' }, moment).effects
    }
    assert.deepEqual(used(undefined, undefined), probes(3, 'stream'))
    assert.deepEqual(used(undefined, 0), probes(3, 'whole'))
    assert.deepEqual(used(3, 3), probes(3, 'stream'))
    assert.deepEqual(used(3, 4), probes(3, 'whole'))
    assert.deepEqual(used(4, 3), probes(3, 'stream'))
  })
})

describe('time', () => {
  const woken = (state: InUse) => rules.wakeInUse(state, wake, moment)

  test('ends a burst that is lost', () => {
    assert.equal(
      inUse(woken({ ...on, burst: { ...burst, endsAt: 100_000 } }).state).burst,
      undefined,
    )
    const running = { ...on, burst: { ...burst, endsAt: 100_001 } }
    assert.equal(woken(running).state, running)
  })

  test('sends the probe that is due, of the form with more failures', () => {
    const due = (state: InUse) => ({ ...state, probeAt: 100_000 })
    assert.deepEqual(woken(due(on)).effects, probes(1))
    assert.equal(inUse(woken(due(on)).state).probeAt, undefined)
    assert.deepEqual(woken(due(failing(1, 'whole'))).effects, probes(1, 'whole'))
    assert.deepEqual(woken(due(failing(3, 'whole'))).effects, probes(3, 'whole'))
    for (const state of [
      { ...on, probeAt: 100_001 },
      { ...due(on), check: 'none' } as const,
      { ...due(on), restUntil: 100_001 },
    ])
      assert.deepEqual(woken(state), { state, effects: [] })
    assert.deepEqual(woken({ ...due(on), restUntil: 100_000 }).effects, probes(1))
  })

  test('sends a slow channel a probe every thirty seconds', () => {
    const latency = { ...freshLatency, slowSince: 90_000 }
    const { state, effects } = woken({ ...on, latency, probeAt: 100_000 })
    assert.deepEqual(effects, probes(1))
    assert.equal(inUse(state).probeAt, 130_000)
    assert.equal(inUse(woken({ ...on, latency }).state).probeAt, 130_000)
  })
})

describe('the time of a head', () => {
  const head = { kind: 'headed', sample: { latencyKind: 8, value: 700 } } as const

  test('is learned on a channel that is on, and not on its ramp', () => {
    assert.equal(rules.headed(on, head, moment).state.latency.pending?.value, 700)
    const ramp: InUse = { ...on, mode: 'ramp' }
    assert.equal(rules.headed(ramp, head, moment).state, ramp)
  })

  test('brings a slow channel back by a ramp where enough are as usual', () => {
    let state: InUse = { ...on, latency: { ...freshLatency, slowSince: 0 } }
    const inherited = { p50: 700, p95: 900, p99: 900 }
    const usual = { ...head, sample: { ...head.sample, inherited } }
    for (let index = 0; index < 9; index++)
      state = inUse(rules.headed(state, usual, { ...moment, now: 200_000 }).state)
    assert.equal(state.mode, 'on')
    const back = rules.headed(state, usual, { ...moment, now: 200_000 }).state
    assert.deepEqual([back.mode, back.why], ['ramp', 'as_fast_as_usual'])
  })
})

describe('a comparison', () => {
  const suspected: InUse = { ...on, latency: { ...freshLatency, suspectedSince: 90_000 } }
  const compare = (comparison: 'better' | 'worse' | 'waiting', state = suspected) =>
    inUse(rules.compared(state, { kind: 'compared', comparison }, moment).state)

  test('demotes a channel for which another is better', () => {
    const slow = compare('better')
    assert.deepEqual(
      [slow.mode, slow.why, slow.since, slow.probeAt],
      ['on', 'slower_than_usual', 100_000, 130_000],
    )
    assert.deepEqual([slow.latency.slowSince, slow.latency.suspectedSince], [100_000, undefined])
  })

  test('is repeated after five minutes where none is, and at once while it waits', () => {
    assert.equal(compare('worse').latency.compareAt, 400_000)
    assert.equal(compare('waiting'), suspected)
    assert.equal(compare('better', on), on)
  })

  test('is asked for where a channel is suspected, again after a second', () => {
    const slowNow = { at: 100_000, isSlow: true, length: 1, before: undefined }
    let recent: InUse['latency']['recent'] = slowNow
    for (let length = 2; length <= 10; length++) recent = { ...slowNow, length, before: recent }
    const state = { ...suspected, latency: { ...suspected.latency, recent } }
    const first = rules.wakeInUse(state, wake, moment)
    assert.deepEqual(first.effects, [{ kind: 'compare' }])
    assert.equal(first.state.latency.compareAt, 101_000)
    const soon = rules.wakeInUse(inUse(first.state), wake, { ...moment, now: 100_999 })
    assert.deepEqual(soon.effects, [])
    const later = rules.wakeInUse(inUse(first.state), wake, { ...moment, now: 101_000 })
    assert.deepEqual(later.effects, [{ kind: 'compare' }])
  })
})
