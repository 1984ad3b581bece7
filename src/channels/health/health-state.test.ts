/** What can be read from a state: how fit a channel is, what operators see, when it must be woken. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noEvidence } from './evidence.ts'
import {
  gradeOf,
  isFit,
  isInUse,
  isRefusing,
  isResumed,
  isTrying,
  nextWakeAt,
  shareOf,
  shownMode,
  startState,
  worksAtTimes,
  type Grade,
  type InUse,
  type Off,
  type Trial,
} from './health-state.ts'
import { freshLatency } from './latency.ts'

const on = startState('request')
const ramp: InUse = { ...on, mode: 'ramp', since: 1_000 }
const slow: InUse = { ...on, latency: { ...freshLatency, slowSince: 500 } }
const burst = { form: 'stream', endsAt: 45_000, failed: 0 } as const

const outOfUse = {
  since: 1_000,
  why: 'failures_in_a_row',
  check: on.check,
  restUntil: 0,
  lastOkAt: undefined,
  evidence: on.evidence,
  latency: freshLatency,
  returnedAt: undefined,
  relapse: 0,
  refutedAt: undefined,
  cause: 'run',
  form: 'stream',
  downSince: 1_000,
  probeAt: undefined,
  tryingUntil: 0,
} as const
const off: Off = { ...outOfUse, mode: 'off', backOffUntil: 31_000, isConfirming: false }
const trial: Trial = { ...outOfUse, mode: 'trial', passed: 0 }

test('a channel starts in use without a doubt, at its whole share', () => {
  assert.deepEqual(
    [on.mode, on.since, on.why, on.check, on.relapse, on.restUntil],
    ['on', 0, 'start', 'request', 0, 0],
  )
  assert.equal(startState('none', 7).since, 7)
  assert.deepEqual(
    [on.probeAt, on.burst, on.burstFrom, on.burstGapMs],
    [undefined, undefined, 0, 0],
  )
  assert.deepEqual(on.evidence, { stream: noEvidence, whole: noEvidence })
  assert.equal(shareOf(on, 0), 1)
  assert.deepEqual([on, ramp, off, trial].map(isInUse), [true, true, false, false])
})

test('a channel takes requests in the usual course on four grades', () => {
  const grades: readonly (Grade | 'disabled')[] = [
    'on',
    'ramp',
    'slow',
    'trial',
    'doubted',
    'resting',
    'off',
    'disabled',
  ]
  assert.deepEqual(grades.filter(isFit), ['on', 'ramp', 'slow', 'trial'])
})

test('the grade in use: a rest before a doubt, a doubt before slowness, slowness before the ramp', () => {
  assert.equal(gradeOf(on, 0), 'on')
  assert.equal(gradeOf({ ...on, restUntil: 10 }, 9), 'resting')
  assert.equal(gradeOf({ ...on, restUntil: 10 }, 10), 'on')
  const failure = { keyId: 'k', accountId: 'a', isBroken: false, beganAt: 0, isCounted: true }
  const failing = { ...noEvidence, failures: [failure] }
  const doubted: InUse = { ...slow, burst, evidence: { stream: failing, whole: noEvidence } }
  assert.equal(gradeOf(doubted, 0), 'doubted')
  assert.equal(gradeOf({ ...doubted, restUntil: 10 }, 9), 'resting')
  assert.equal(gradeOf({ ...doubted, burst: { ...burst, form: 'whole' } }, 0), 'slow')
  assert.equal(gradeOf({ ...doubted, burst: undefined }, 0), 'slow')
  assert.equal(gradeOf({ ...slow, mode: 'ramp' }, 0), 'slow')
  assert.equal(gradeOf(ramp, 120_999), 'ramp')
  assert.equal(gradeOf(ramp, 121_000), 'on')
})

test('the grade out of use: by traffic only where nothing may be probed, and one at a time', () => {
  for (const state of [off, trial]) assert.equal(gradeOf(state, 1_000_000), 'off')
  const offAlone: Off = { ...off, check: 'none' }
  assert.equal(gradeOf(offAlone, 30_999), 'off')
  assert.equal(gradeOf(offAlone, 31_000), 'trial')
  assert.equal(gradeOf({ ...offAlone, tryingUntil: 40_000 }, 39_999), 'off')
  assert.equal(gradeOf({ ...offAlone, tryingUntil: 40_000 }, 40_000), 'trial')
  assert.equal(gradeOf({ ...offAlone, restUntil: 50_000 }, 49_999), 'resting')
  assert.equal(gradeOf({ ...offAlone, restUntil: 50_000 }, 50_000), 'trial')
  const trialAlone: Trial = { ...trial, check: 'none' }
  assert.equal(gradeOf(trialAlone, 1_000), 'trial')
  assert.equal(gradeOf({ ...trialAlone, probeAt: 5_000 }, 4_999), 'off')
  assert.equal(gradeOf({ ...trialAlone, probeAt: 5_000 }, 5_000), 'trial')
})

test('a refusal holds until its back-off ends', () => {
  assert.equal(isRefusing({ ...off, cause: 'config' }, 30_999), true)
  assert.equal(isRefusing({ ...off, cause: 'missing' }, 30_999), true)
  assert.equal(isRefusing({ ...off, cause: 'config' }, 31_000), false)
  assert.equal(isRefusing(off, 2_000), false)
  assert.equal(isRefusing({ ...trial, cause: 'config' }, 2_000), false)
  assert.equal(isRefusing(on, 0), false)
})

test('a channel out of use works at times where it has answered since it went off', () => {
  assert.equal(worksAtTimes({ ...off, lastOkAt: 1_000 }), true)
  assert.equal(worksAtTimes({ ...trial, lastOkAt: 5_000 }), true)
  assert.equal(worksAtTimes({ ...off, lastOkAt: 999 }), false)
  assert.equal(worksAtTimes(off), false)
  assert.equal(worksAtTimes({ ...on, lastOkAt: 5_000 }), false)
})

test('an attempt occupies the place of a channel out of use for some time', () => {
  assert.equal(isTrying({ ...off, tryingUntil: 10 }, 9), true)
  assert.equal(isTrying({ ...off, tryingUntil: 10 }, 10), false)
  assert.equal(isTrying(trial, 0), false)
  assert.equal(isTrying(on, -1), false)
})

test('a trial after a restart is told from others', () => {
  assert.equal(isResumed({ mode: 'trial', why: 'restarted' }), true)
  assert.equal(isResumed({ mode: 'trial', why: 'hold_over' }), false)
  assert.equal(isResumed({ mode: 'on', why: 'restarted' }), false)
})

test('the share grows from a tenth within two minutes, and is a twentieth while slow', () => {
  assert.equal(shareOf(ramp, 1_000), 0.1)
  assert.equal(shareOf(ramp, 61_000), 0.55)
  assert.equal(shareOf(ramp, 121_000), 1)
  assert.equal(shareOf(ramp, 500_000), 1)
  assert.equal(shareOf(slow, 0), 0.05)
  assert.equal(shareOf({ ...slow, mode: 'ramp' }, 0), 0.05)
  for (const state of [off, trial]) assert.equal(shareOf(state, 500_000), 0)
})

test('operators see a back-off that is over as trial, and a ramp that is over as on', () => {
  assert.equal(shownMode(off, 30_999), 'off')
  assert.equal(shownMode(off, 31_000), 'trial')
  assert.equal(shownMode(trial, 0), 'trial')
  assert.equal(shownMode(slow, 0), 'slow')
  assert.equal(shownMode({ ...trial, latency: slow.latency }, 0), 'trial')
  assert.equal(shownMode(ramp, 120_999), 'ramp')
  assert.equal(shownMode(ramp, 121_000), 'on')
  assert.equal(shownMode(on, 0), 'on')
})

test('a state must be woken for its probe after a rest, and where its mode or burst ends', () => {
  assert.equal(nextWakeAt(on), undefined)
  assert.equal(nextWakeAt({ ...on, probeAt: 5_000 }), 5_000)
  assert.equal(nextWakeAt({ ...on, probeAt: 5_000, restUntil: 9_000 }), 9_000)
  assert.equal(nextWakeAt({ ...on, probeAt: 5_000, check: 'none' }), undefined)
  assert.equal(nextWakeAt({ ...on, burst }), 45_000)
  assert.equal(nextWakeAt({ ...on, burst, probeAt: 50_000 }), 45_000)
  assert.equal(nextWakeAt(ramp), 121_000)
  assert.equal(nextWakeAt(off), 31_000)
  assert.equal(nextWakeAt({ ...off, probeAt: 20_000 }), 20_000)
  assert.equal(nextWakeAt(trial), undefined)
  assert.equal(nextWakeAt({ ...trial, probeAt: 7_000 }), 7_000)
  const suspected = { ...freshLatency, compareAt: 8_000 }
  assert.equal(nextWakeAt({ ...on, latency: suspected }), undefined)
  assert.equal(nextWakeAt({ ...on, latency: { ...suspected, suspectedSince: 1 } }), 8_000)
})
