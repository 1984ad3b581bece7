import assert from 'node:assert/strict'
import { test } from 'node:test'
import { picos } from '../../base/money.ts'
import { outcomes } from '../../channels/outcomes.ts'
import type { RecordedCharge } from '../../ledger/exchange-store.ts'
import type { AttemptRecord } from '../../ledger/ledger.ts'
import { chargeReasons, explainAttempts, explainCharge } from './explain.ts'

const charge: RecordedCharge = {
  amountPicos: picos(5n),
  usage: undefined,
  marks: [],
  priceLines: '{"parts":[]}',
  operatorCostPicos: picos(0n),
  ownCostPicos: undefined,
}

function attempt(channel: string, name: string, status: number | null = null): AttemptRecord {
  return { channel, class: name, status, startedMs: 0, firstEventMs: null, durationMs: 1 }
}

function sayCharge(request: Parameters<typeof explainCharge>[0]): string {
  return explainCharge(request)
    .map((code) => chargeReasons[code])
    .join(' ')
}

/** Blame and what followed, of each attempt. */
function read(attempts: readonly AttemptRecord[], charged: RecordedCharge | undefined = charge) {
  return explainAttempts({ attempts, charge: charged }).map(({ blame, next }) => [blame, next])
}

test('names a failover where another channel follows', () => {
  assert.deepEqual(read([attempt('a', 'hard', 502), attempt('b', 'answered', 200)]), [
    ['channel', 'failover'],
    [null, null],
  ])
})

test('names a retry where the same channel follows', () => {
  assert.deepEqual(read([attempt('a', 'lone_500', 500), attempt('a', 'answered', 200)]), [
    ['channel', 'retry'],
    [null, null],
  ])
})

test('blames no one for a kept-alive connection that the vendor had closed', () => {
  const attempts = [attempt('a', 'reset'), attempt('a', 'reset'), attempt('b', 'answered', 200)]
  assert.deepEqual(read(attempts), [
    ['none', 'retry'],
    ['channel', 'failover'],
    [null, null],
  ])
  assert.match(explainAttempts({ attempts, charge })[0]?.meaning ?? '', /kept-alive connection/)
})

test('blames no one for a refusal behind a failure that passes, but for a context that is too long', () => {
  const behind = (first: AttemptRecord, name: string, channel = 'b') =>
    read([first, attempt(channel, name, 400)]).at(-1)
  for (const passing of ['hard', 'throttle', 'timeout', 'connect', 'lone_500'])
    assert.deepEqual(behind(attempt('a', passing), 'client'), ['none', null], passing)
  for (const lasting of ['config', 'no_credit', 'model_missing', 'tls'])
    assert.deepEqual(behind(attempt('a', lasting), 'client'), ['client', null], lasting)
  assert.deepEqual(behind(attempt('a', 'hard'), 'context_too_long'), ['client', null])
  assert.deepEqual(behind(attempt('b', 'lone_500'), 'client'), ['client', null], 'a retry')
})

test('blames a channel for a free operation only where that proves something', () => {
  const blamesOf = (one: AttemptRecord) => explainAttempts({ attempts: [one], charge: undefined })
  assert.equal(blamesOf(attempt('a', 'hard', 502))[0]?.blame, 'none')
  assert.equal(blamesOf(attempt('a', 'connect'))[0]?.blame, 'channel')
  assert.equal(blamesOf(attempt('a', 'config', 401))[0]?.blame, 'channel')
  assert.equal(blamesOf(attempt('a', 'config', 403))[0]?.blame, 'none')
})

test('shows the class of an attempt that another release has written', () => {
  const [text] = explainAttempts({ attempts: [attempt('a', 'strange')], charge })
  assert.deepEqual(text, {
    meaning: 'It ended as strange.',
    code: 'strange',
    blame: null,
    next: null,
  })
})

test('explains every class that the relay can write', () => {
  for (const name of Object.keys(outcomes)) {
    const [text] = explainAttempts({ attempts: [attempt('a', name)], charge })
    assert.doesNotMatch(text?.meaning ?? '', /^It ended as/, name)
  }
})

test('says why an account paid, with its unusual facts', () => {
  const explain = (changes: Partial<RecordedCharge>) =>
    sayCharge({ ending: 'client_left', charge: { ...charge, ...changes } })
  assert.equal(
    explain({ marks: ['estimated'] }),
    'The account paid for the tokens delivered or counted until the client left. ' +
      'The vendor gave no usable count, so the gateway estimated the tokens.',
  )
  assert.match(explain({ marks: ['not_free', 'estimated'] }), /free while .* 0\.50 USD in 24 hours/)
  assert.match(explain({ amountPicos: picos(0n) }), /^The charge is zero: prices/)
  assert.match(explain({ amountPicos: picos(0n), priceLines: '' }), /before it got output/)
})

test('says why nothing is charged', () => {
  const withheld = { ...charge, amountPicos: picos(0n), marks: ['hold_expired'] }
  assert.match(sayCharge({ ending: 'failed', charge: withheld }), /^Nothing .* the hold expired/)
  assert.match(sayCharge({ ending: 'completed', charge: undefined }), /operation is free/)
  assert.match(sayCharge({ ending: 'not_admitted', charge: undefined }), /sent nothing/)
})
