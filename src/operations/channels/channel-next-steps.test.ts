import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextStepsOf } from './channel-next-steps.ts'

const nowMs = Date.parse('2026-03-01T12:00:00Z')
const soon = '2026-03-01T12:00:20.000Z'
const past = '2026-03-01T11:59:50.000Z'
const around = { check: 'request', isLive: true, nowMs }
const calm = { state: 'on', why: 'start', rests_until: null, wakes_at: null }

function stepsOf(
  health: Partial<Record<'state' | 'why' | 'rests_until' | 'wakes_at', string>>,
): readonly unknown[] {
  return nextStepsOf({ ...calm, ...health }, around).map(({ by, text, at }) => [by, text, at])
}

test('nothing is due on a channel that works', () => {
  assert.deepEqual(stepsOf({}), [])
})

test('says what the gateway does in each state, and when', () => {
  assert.deepEqual(stepsOf({ wakes_at: soon }), [['gateway', 'Probe', soon]])
  assert.deepEqual(stepsOf({ state: 'off', wakes_at: soon }), [['gateway', 'Probe', soon]])
  assert.deepEqual(stepsOf({ state: 'trial' }), [['gateway', 'The next request decides', null]])
  assert.deepEqual(stepsOf({ state: 'ramp', wakes_at: soon }), [['gateway', 'Full share', soon]])
  assert.deepEqual(stepsOf({ state: 'slow', wakes_at: soon }), [
    ['gateway', 'Measured again', soon],
  ])
  assert.deepEqual(stepsOf({ rests_until: soon }), [['gateway', 'Requests again', soon]])
  assert.deepEqual(stepsOf({ rests_until: past }), [])
})

test('names what only an operator can do before the next probe', () => {
  const off = { state: 'off', why: 'credential_refused', wakes_at: soon }
  assert.deepEqual(stepsOf(off), [
    ['operator', 'Correct the credential', null],
    ['gateway', 'Probe', soon],
  ])
  assert.deepEqual(stepsOf({ state: 'disabled', wakes_at: soon }), [
    ['operator', 'Enable the channel', null],
  ])
})

test('a gateway that does not run does nothing by itself', () => {
  const state = { ...calm, state: 'off', why: 'no_credit', wakes_at: soon }
  assert.deepEqual(nextStepsOf(state, { ...around, isLive: false }), [])
})

test('a channel without checks is tried with one request', () => {
  const state = { ...calm, state: 'off', wakes_at: soon }
  assert.equal(nextStepsOf(state, { ...around, check: 'none' })[0]?.kind, 'trial_request')
})
