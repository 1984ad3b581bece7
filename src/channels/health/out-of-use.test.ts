/** Each rule of a channel that is not in use, at the edges of its times and for every kind of result. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noEvidence } from './evidence.ts'
import type { AttemptResult, HealthEvent, Moment, Outcome } from './health-event.ts'
import { startState, type HealthState, type InUse, type Off, type Trial } from './health-state.ts'
import { freshLatency } from './latency.ts'
import * as rules from './out-of-use.ts'

const moment: Moment = { now: 100_000, random: () => 0.5 }
const event: HealthEvent = { kind: 'asked' }
const inUse = startState('request')
const caller = { keyId: 'k', accountId: 'a' }

function at(now: number): Moment {
  return { ...moment, now }
}

function result(outcome: Outcome, more: Partial<AttemptResult> = {}): AttemptResult {
  return { kind: 'ended', outcome, form: 'stream', caller: undefined, beganAt: 99_000, ...more }
}

/** A probe has no caller; traffic has. */
function byTraffic(outcome: Outcome, more: Partial<AttemptResult> = {}): AttemptResult {
  return result(outcome, { caller, ...more })
}

const known = {
  since: 50_000,
  why: 'failures_in_a_row',
  check: 'request',
  restUntil: 0,
  lastOkAt: undefined,
  evidence: { stream: noEvidence, whole: noEvidence },
  latency: freshLatency,
  returnedAt: undefined,
  relapse: 0,
  refutedAt: undefined,
  cause: 'run',
  form: 'stream',
  downSince: 50_000,
  probeAt: undefined,
  tryingUntil: 0,
} as const
const off: Off = { ...known, mode: 'off', backOffUntil: 130_000, isConfirming: false }
const refused: Off = { ...off, cause: 'config', why: 'credential_refused' }
const trial: Trial = { ...known, mode: 'trial', passed: 0 }

function asOff(state: HealthState): Off {
  assert.ok(state.mode === 'off', state.mode)
  return state
}

function asTrial(state: HealthState): Trial {
  assert.ok(state.mode === 'trial', state.mode)
  return state
}

describe('switching off', () => {
  const run = { cause: 'run', why: 'failures_in_a_row', form: 'whole' } as const
  const backOffMs = (state: HealthState, reason: rules.OffReason = run, random = 0.5) =>
    asOff(rules.switchOff(state, reason, { now: 100_000, random: () => random }).state)
      .backOffUntil - 100_000

  test('keeps what outlasts a mode and forgets failures and recent times', () => {
    const failure = { ...caller, isBroken: false, beganAt: 1, isCounted: true }
    const failing = { ...noEvidence, failures: [failure], isCleared: true }
    const busy: InUse = {
      ...inUse,
      restUntil: 7,
      lastOkAt: 8,
      refutedAt: 9,
      evidence: { stream: failing, whole: noEvidence },
      latency: { ...freshLatency, slowSince: 5, compareAt: 6 },
    }
    const state = asOff(rules.switchOff(busy, run, moment).state)
    assert.deepEqual(
      [state.since, state.why, state.cause, state.form],
      [100_000, 'failures_in_a_row', 'run', 'whole'],
    )
    assert.deepEqual([state.restUntil, state.lastOkAt, state.refutedAt], [7, 8, 9])
    assert.deepEqual(state.evidence.stream, { ...noEvidence, isCleared: true })
    assert.deepEqual([state.latency.slowSince, state.latency.compareAt], [undefined, 6])
    assert.deepEqual([state.downSince, state.isConfirming, state.tryingUntil], [100_000, false, 0])
  })

  test('lasts longer after each return that did not hold, and never longer than two minutes', () => {
    assert.equal(backOffMs(inUse), 30_000)
    const returned = (relapse: number, returnedAt = 99_000): InUse => ({
      ...inUse,
      relapse,
      returnedAt,
    })
    assert.equal(backOffMs(returned(0)), 60_000)
    assert.equal(backOffMs(returned(1)), 120_000)
    assert.equal(backOffMs(returned(30)), 120_000)
    assert.equal(backOffMs(inUse, run, 0), 24_000)
    assert.equal(backOffMs(inUse, run, 1), 36_000)
    const relapseOf = (state: HealthState, now: number) =>
      rules.switchOff(state, run, at(now)).state.relapse
    assert.equal(relapseOf(returned(3, 0), 599_999), 4)
    assert.equal(relapseOf(returned(3, 0), 600_000), 0)
    assert.equal(relapseOf({ ...trial, relapse: 3, returnedAt: 0 }, 1_000_000), 3)
  })

  test('for a refusal lasts five minutes, with a probe every two, and keeps the begin of the outage', () => {
    const reason = { ...run, cause: 'config' } as const
    assert.equal(backOffMs(inUse, reason), 300_000)
    assert.equal(backOffMs(inUse, reason, 1), 300_000)
    assert.equal(backOffMs(inUse, reason, 0), 240_000)
    assert.equal(asOff(rules.switchOff(inUse, reason, moment).state).probeAt, 220_000)
    assert.equal(asOff(rules.switchOff(inUse, run, moment).state).probeAt, undefined)
    assert.equal(asOff(rules.switchOff(trial, reason, moment).state).downSince, 50_000)
  })
})

describe('a refusal', () => {
  const probe = { kind: 'probe', count: 1, form: 'stream' }
  const alert = (why: string) => ({ kind: 'alert', why })

  test('of traffic switches off, alerts, and is confirmed by a probe', () => {
    const causes = [
      ['config', 'config', 'credential_refused'],
      ['no_credit', 'config', 'no_credit'],
      ['model_missing', 'missing', 'model_missing'],
    ] as const
    for (const [outcome, cause, why] of causes) {
      const { state, effects } = rules.refuse(inUse, byTraffic(outcome), moment)
      const { isConfirming } = asOff(state)
      assert.deepEqual([asOff(state).cause, state.why, isConfirming], [cause, why, true])
      assert.deepEqual(effects, [alert(why), probe])
    }
  })

  test('of a probe, or where no request may be sent as a probe, needs no confirmation', () => {
    const without = startState('models')
    for (const [from, refusal] of [
      [inUse, result('config')],
      [without, byTraffic('config')],
    ] as const) {
      const { state, effects } = rules.refuse(from, refusal, moment)
      assert.equal(asOff(state).isConfirming, false)
      assert.deepEqual(effects, [alert('credential_refused')])
    }
  })

  test('that another model has met is spread without a probe', () => {
    const { state, effects } = rules.refuse(inUse, byTraffic('config', { isSpread: true }), moment)
    assert.deepEqual([asOff(state).probeAt, asOff(state).isConfirming], [undefined, false])
    assert.deepEqual(effects, [alert('credential_refused')])
    const own = rules.refuse(inUse, byTraffic('config', { isSpread: false }), moment)
    assert.equal(asOff(own.state).isConfirming, true)
  })

  test('waits for its probe within ten minutes of one that was refuted', () => {
    const since = (refutedAt: number) =>
      rules.refuse({ ...inUse, refutedAt }, byTraffic('config'), at(1_000_000))
    assert.deepEqual(since(400_001).effects, [probe])
    assert.equal(since(400_001).state.mode, 'on')
    assert.equal(since(400_000).state.mode, 'off')
    assert.deepEqual(since(985_001).effects, [], 'refuted only now')
    assert.deepEqual(since(985_000).effects, [probe])
    const byProbe = rules.refuse({ ...inUse, refutedAt: 999_999 }, result('config'), at(1_000_000))
    assert.equal(byProbe.state.mode, 'off')
  })

  test('of an attempt from before the trial or the ramp says nothing', () => {
    const late = byTraffic('config', { beganAt: 49_999 })
    assert.deepEqual(rules.refuse(trial, late, moment), { state: trial, effects: [] })
    const ramp: InUse = { ...inUse, mode: 'ramp', since: 50_000 }
    assert.equal(rules.refuse(ramp, late, moment).state, ramp)
    assert.equal(
      rules.refuse(ramp, byTraffic('config', { beganAt: 50_000 }), moment).state.mode,
      'off',
    )
    assert.equal(rules.refuse(trial, result('config', { beganAt: 1 }), moment).state.mode, 'off')
    assert.equal(
      rules.refuse(inUse, byTraffic('config', { beganAt: -1 }), moment).state.mode,
      'off',
    )
  })

  test('on trial is news only where its cause is new', () => {
    const again = rules.refuse({ ...trial, cause: 'config' }, result('config'), moment)
    assert.deepEqual(again.effects, [])
    const news = rules.refuse(trial, result('config'), moment)
    assert.deepEqual(news.effects, [alert('credential_refused')])
    assert.equal(asOff(news.state).isConfirming, false)
  })
})

describe('a refusal while off', () => {
  test('for the same reason prolongs the back-off by a probe alone', () => {
    const again = rules.refuseAgain(refused, result('config'), moment)
    assert.equal(asOff(again.state).backOffUntil, 400_000)
    assert.deepEqual(again.effects, [])
    const longer = rules.refuseAgain(
      { ...refused, backOffUntil: 500_000 },
      result('config'),
      moment,
    )
    assert.equal(asOff(longer.state).backOffUntil, 500_000)
    const confirming = { ...refused, isConfirming: true, tryingUntil: 9 }
    const confirmed = asOff(rules.refuseAgain(confirming, result('config'), moment).state)
    assert.deepEqual([confirmed.isConfirming, confirmed.tryingUntil], [false, 0])
    const traffic = asOff(rules.refuseAgain(confirming, byTraffic('config'), moment).state)
    assert.deepEqual(traffic, { ...confirming, tryingUntil: 0 })
    const missing: Off = { ...off, cause: 'missing', why: 'model_missing' }
    const still = rules.refuseAgain(missing, result('model_missing'), moment)
    assert.deepEqual([still.state.since, still.effects], [50_000, []])
  })

  test('for another reason is a refusal of its own', () => {
    const alerts = (state: Off, refusal: AttemptResult) =>
      rules.refuseAgain(state, refusal, moment).effects.map((effect) => effect.kind)
    assert.deepEqual(alerts(refused, result('no_credit')), ['alert'])
    assert.deepEqual(alerts(refused, byTraffic('no_credit')), [])
    assert.deepEqual(alerts(refused, result('model_missing')), [])
    assert.deepEqual(alerts(off, result('config')), ['alert'])
    assert.deepEqual(alerts(off, result('model_missing')), ['alert'])
    const missing: Off = { ...off, cause: 'missing', why: 'model_missing' }
    assert.deepEqual(alerts(missing, result('config')), ['alert'])
  })

  test('is undone, over or confirmed by what its probe finds', () => {
    const confirming = { ...refused, isConfirming: true }
    const undone = rules.passWhileOff(confirming, result('ok'), moment).state
    assert.deepEqual(
      [undone.mode, undone.why, undone.refutedAt, undone.lastOkAt],
      ['on', 'refusal_not_confirmed', 100_000, 100_000],
    )
    assert.equal(undone.since, 100_000)
    const later = { ...confirming, downSince: 49_999 }
    const onTrial = rules.passWhileOff(later, result('ok'), moment).state
    assert.deepEqual([onTrial.mode, onTrial.why], ['trial', 'refusal_not_confirmed'])
    const over = asTrial(rules.passWhileOff(refused, result('ok'), moment).state)
    assert.deepEqual(
      [over.why, over.passed, over.lastOkAt, over.probeAt],
      ['refusal_over', 1, 100_000, 105_000],
    )
    const early = result('ok', { beganAt: 50_000 })
    assert.equal(rules.passWhileOff(refused, early, moment).state, refused)
    assert.equal(rules.passWhileOff(off, result('ok'), moment).state, off)
    assert.equal(asOff(rules.failWhileOff(confirming).state).isConfirming, false)
    assert.equal(rules.failWhileOff(refused).state, refused)
  })

  test('ends with what another model of the channel has shown, but not for a run or a missing model', () => {
    const released = asTrial(rules.release(refused, event, moment).state)
    assert.deepEqual(
      [released.why, released.probeAt, released.since],
      ['credential_works', 100_000, 100_000],
    )
    const other: Off = { ...refused, why: 'no_credit' }
    assert.equal(rules.release(other, event, moment).state.why, 'refusal_over')
    assert.equal(rules.refuteRefusal(refused, event, moment).state.mode, 'on')
    for (const state of [off, { ...off, cause: 'missing' } as const]) {
      assert.equal(rules.release(state, event, moment).state, state)
      assert.equal(rules.refuteRefusal(state, event, moment).state, state)
    }
    assert.equal(rules.tryNow(off, event, moment).state.why, 'operator_check')
  })
})

describe('a trial', () => {
  const ms = (state: HealthState) => (asTrial(state).probeAt ?? 0) - moment.now

  test('needs three passes, two more for each relapse, at most fifteen', () => {
    assert.deepEqual(
      [0, 1, 6, 7, 100].map((relapse) => rules.passesNeeded({ relapse })),
      [3, 5, 15, 15, 15],
    )
    const second = rules.passTrial({ ...trial, passed: 1 }, result('ok'), moment).state
    assert.deepEqual([asTrial(second).passed, ms(second), second.lastOkAt], [2, 5_000, 100_000])
    const third = rules.passTrial({ ...trial, passed: 2 }, result('ok'), moment).state
    assert.deepEqual(
      [third.mode, third.why, third.since, third.returnedAt],
      ['ramp', 'trial_passed', 100_000, 100_000],
    )
  })

  test('counts probes of the form that failed, and any where only the listing is asked', () => {
    const other = result('ok', { form: 'whole' })
    assert.equal(rules.passTrial(trial, other, moment).state, trial)
    assert.equal(
      asTrial(rules.passTrial({ ...trial, check: 'models' }, other, moment).state).passed,
      1,
    )
    assert.equal(rules.failTrial(trial, result('hard', { form: 'whole' }), moment).state, trial)
  })

  test('starts again after a failed probe: in thirty seconds, after ten minutes in sixty', () => {
    const passed: Trial = { ...trial, passed: 2 }
    const failed = rules.failTrial(passed, result('hard'), moment).state
    assert.deepEqual([asTrial(failed).passed, ms(failed)], [0, 30_000])
    const long = { ...passed, downSince: moment.now - 600_000 }
    assert.equal(ms(rules.failTrial(long, result('hard'), moment).state), 60_000)
    const shorter = { ...passed, downSince: moment.now - 599_999 }
    assert.equal(ms(rules.failTrial(shorter, result('hard'), moment).state), 30_000)
  })

  test('after a restart ends with the first failed probe, but not with a throttled one', () => {
    const resumed: Trial = { ...trial, why: 'restarted' }
    const failed = rules.failTrial(resumed, result('hard'), moment).state
    assert.deepEqual(
      [failed.mode, failed.why, asOff(failed).cause],
      ['off', 'checks_failed', 'run'],
    )
    assert.equal(rules.failTrial(resumed, result('throttle'), moment).state.mode, 'trial')
  })

  test('takes a bad request for a pass, but not where the model may be missing', () => {
    const decide = (state: Trial, outcome: Outcome, more: Partial<AttemptResult> = {}) =>
      asTrial(rules.undecidedOnTrial(state, result(outcome, more), moment).state)
    const passed: Trial = { ...trial, passed: 1 }
    assert.equal(decide(passed, 'client').passed, 2)
    assert.equal(decide({ ...passed, cause: 'missing' }, 'client').passed, 0)
    assert.deepEqual([decide(passed, 'nobody').passed, ms(decide(passed, 'nobody'))], [1, 30_000])
    const throttled = decide(passed, 'throttle', { retryAfterMs: 20_000 })
    assert.deepEqual([throttled.passed, throttled.restUntil, ms(throttled)], [0, 120_000, 30_000])
  })
})

describe('time', () => {
  test('ends a back-off and a ramp at their moment', () => {
    assert.equal(rules.advance(off, 129_999), off)
    const tried = asTrial(rules.advance(off, 130_000))
    assert.deepEqual(
      [tried.why, tried.probeAt, tried.passed, tried.tryingUntil],
      ['hold_over', 130_000, 0, 0],
    )
    assert.equal(rules.advance(trial, 1_000_000), trial)
    const ramp: InUse = { ...inUse, mode: 'ramp', since: 1_000 }
    assert.equal(rules.advance(ramp, 120_999), ramp)
    const on = rules.advance(ramp, 500_000)
    assert.deepEqual(
      [on.mode, on.since, on.why, on.returnedAt],
      ['on', 121_000, 'ramp_over', 121_000],
    )
    assert.equal(rules.advance(inUse, 500_000), inUse)
  })

  test('a ramp begins without doubt and failures', () => {
    const ramp = rules.toRamp({ ...trial, relapse: 2, refutedAt: 7 }, 5_000, 'trial_passed')
    assert.deepEqual(
      [ramp.burst, ramp.burstFrom, ramp.burstGapMs, ramp.probeAt, ramp.relapse, ramp.refutedAt],
      [undefined, 5_000, 0, undefined, 2, 7],
    )
  })

  test('a probe is sent when it is due and no rest forbids it', () => {
    const due: Trial = { ...trial, probeAt: 100_000 }
    const sent = rules.probeOutOfUse(due, event, moment)
    assert.deepEqual(sent.effects, [{ kind: 'probe', count: 1, form: 'stream' }])
    assert.equal(asTrial(sent.state).probeAt, 100_000 + rules.probeLostAfterMs)
    const fromOff = rules.probeOutOfUse({ ...off, probeAt: 99_000 }, event, moment)
    assert.equal(asOff(fromOff.state).probeAt, 220_000)
    for (const state of [
      trial,
      { ...due, check: 'none' } as const,
      { ...due, probeAt: 100_001 },
      { ...due, restUntil: 100_001 },
    ])
      assert.deepEqual(rules.probeOutOfUse(state, event, moment), { state, effects: [] })
    assert.equal(
      rules.probeOutOfUse({ ...due, restUntil: 100_000 }, event, moment).effects.length,
      1,
    )
    assert.equal(rules.probeLostAfterMs, 45_000)
  })
})

describe('traffic', () => {
  test('occupies the one place and frees it', () => {
    const taken = rules.takePlace(trial, event, moment).state
    assert.equal(asTrial(taken).tryingUntil, 220_000)
    assert.equal(rules.leavePlace(asTrial(taken)).tryingUntil, 0)
    assert.equal(rules.leavePlace(trial), trial)
    const ok = asOff(
      rules.succeedWhileOff({ ...off, tryingUntil: 9 }, byTraffic('ok'), moment).state,
    )
    assert.deepEqual([ok.tryingUntil, ok.lastOkAt, ok.mode], [0, 100_000, 'off'])
  })

  test('decides a trial only where nothing is probed, once its pause is over', () => {
    const alone: Trial = { ...trial, check: 'none', passed: 1, tryingUntil: 9 }
    const passes = (state: Trial, more: Partial<AttemptResult> = {}) => {
      const after = asTrial(rules.succeedOnTrial(state, byTraffic('ok', more), moment).state)
      return [after.passed, after.tryingUntil, after.lastOkAt]
    }
    assert.deepEqual(passes(alone), [2, 0, 100_000])
    assert.deepEqual(passes({ ...alone, probeAt: 100_000 }), [2, 0, 100_000])
    assert.deepEqual(passes({ ...alone, probeAt: 100_001 }), [1, 0, 100_000])
    assert.deepEqual(passes({ ...alone, check: 'request' }), [1, 0, 100_000])
    assert.deepEqual(passes(alone, { beganAt: 49_999 }), [1, 0, undefined])
    const fails = (state: Trial, more: Partial<AttemptResult> = {}) =>
      asTrial(rules.failOnTrial(state, byTraffic('hard', more), moment).state).passed
    assert.equal(fails(alone), 0)
    assert.equal(fails({ ...alone, probeAt: 100_000 }), 0)
    assert.equal(fails({ ...alone, probeAt: 100_001 }), 1)
    assert.equal(fails({ ...alone, check: 'request' }), 1)
    assert.equal(fails(alone, { beganAt: 49_999 }), 1)
  })
})

test('a throttle rests as long as the vendor asks, from one second to five minutes', () => {
  assert.deepEqual(
    [undefined, 0, 999, 2_000, 400_000].map(rules.restMsOf),
    [5_000, 1_000, 1_000, 2_000, 300_000],
  )
  const rested = (state: HealthState, outcome: Outcome) =>
    rules.rested(state, result(outcome, { retryAfterMs: 2_000 }), 100_000).restUntil
  assert.equal(rested(inUse, 'throttle'), 102_000)
  assert.equal(rested({ ...inUse, restUntil: 200_000 }, 'throttle'), 200_000)
  assert.equal(rested(inUse, 'client'), 0)
  const freed = rules.rest({ ...off, tryingUntil: 9 }, byTraffic('throttle'), moment).state
  assert.deepEqual([asOff(freed).tryingUntil, freed.restUntil], [0, 105_000])
  assert.equal(rules.rest(inUse, byTraffic('throttle'), moment).state.restUntil, 105_000)
})
