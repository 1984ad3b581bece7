/** The order of what needs an operator, and the one next step of each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alertKindNames, type AlertKind } from '../alerts/alert-kind.ts'
import { orderAttention, type Troubles } from './attention.ts'

const none: Troubles = { alerts: [], channels: [], unloaded: [], accounts: [], uncleanStops: [] }
const since = '2026-11-23T06:00:00.000Z'

function alert(kind: AlertKind, subject: string, about: object = {}): Troubles['alerts'][number] {
  const beganAtMs = Date.parse(since)
  const condition = { kind, subject, title: kind, text: '', facts: {}, beganAtMs, ...about }
  return { id: `alr_${subject}`, conditions: [condition], firstSeenAtMs: beganAtMs }
}

function order(troubles: Partial<Troubles>, countMax = 100): readonly string[] {
  return orderAttention({ ...none, ...troubles }, countMax).map(
    ({ kind, step }) => `${kind}: ${step}`,
  )
}

test('the most severe comes first, then the most urgent kind, then the oldest', () => {
  assert.deepEqual(
    order({
      alerts: [
        alert('account.balance_low', 'acc_1', { accountId: 'acc_1' }),
        alert('account.exhausted', 'acc_2', { accountId: 'acc_2' }),
        alert('key.limit_reached', 'key_1 month', { accountId: 'acc_3' }),
        alert('ledger.audit_failed', ''),
        alert('account.exhausted', 'acc_4', { accountId: 'acc_4' }),
      ],
      uncleanStops: [{ node: 'a', from: since, to: null }],
    }),
    [
      'ledger.audit_failed: turnpike audit',
      'account.exhausted: turnpike account credit acc_2 AMOUNT',
      'account.exhausted: turnpike account credit acc_4 AMOUNT',
      'account.balance_low: turnpike account credit acc_1 AMOUNT',
      'key.limit_reached: turnpike key edit key_1 --monthly AMOUNT',
      `node.unclean_stop: turnpike channel reconcile all --from ${since} --to 2026-11-23`,
    ],
  )
})

test('a channel and an account are added only where no alert is about them', () => {
  const channel = (name: string, state: Troubles['channels'][number]['state']) => ({
    channel: name,
    model: 'm',
    state,
    since: null,
    why: '',
  })
  const account = (id: string, state: 'low' | 'exhausted') => ({
    account_id: id,
    account: id,
    state,
  })
  assert.deepEqual(
    order({
      alerts: [
        alert('channel.off', 'main m', { channel: 'main' }),
        alert('account.exhausted', 'acc_1', { accountId: 'acc_1' }),
      ],
      channels: [channel('main', 'off'), channel('slow', 'slow'), channel('shut', 'disabled')],
      unloaded: ['main', 'locked'],
      accounts: [
        account('acc_1', 'exhausted'),
        account('acc_2', 'low'),
        account('acc_3', 'exhausted'),
      ],
    }),
    [
      'account.exhausted: turnpike account credit acc_1 AMOUNT',
      'channel.off: turnpike channel show main',
      'channel.not_on: turnpike doctor',
      'account.short: turnpike account credit acc_3 AMOUNT',
      'channel.not_on: turnpike channel show slow',
      'channel.not_on: turnpike channel on shut',
      'account.short: turnpike account credit acc_2 AMOUNT',
    ],
  )
})

test('each kind of alert has a step that names its subject', () => {
  const about = { accountId: 'the-one', channel: 'the-one' }
  const steps = orderAttention(
    { ...none, alerts: alertKindNames.map((kind) => alert(kind, 'the-one day', about)) },
    100,
  )
  assert.equal(steps.length, alertKindNames.length)
  for (const { kind, step } of steps) {
    assert.match(step, kind === 'alert.test' ? /test/ : /turnpike [a-z]/, kind)
    if (/^(account|key|channel)\./.test(kind)) assert.ok(step.includes('the-one'), kind)
  }
})

test('the list has a limit, and keeps the most urgent', () => {
  const alerts = ['acc_1', 'acc_2'].map((id) => alert('account.balance_low', id))
  const all = { alerts: [...alerts, alert('store.outage', '')] }
  assert.deepEqual(order(all, 1), ['store.outage: turnpike doctor'])
})

test('each names its subjects, for links', () => {
  const subjectsOf = (troubles: Partial<Troubles>): Record<string, unknown> => {
    const [next] = orderAttention({ ...none, ...troubles }, 1)
    const {
      severity: _,
      kind: _kind,
      title: _title,
      facts: _facts,
      step: _step,
      since: _since,
      ...rest
    } = next ?? {}
    return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
  }
  const ofAlert = (...given: Parameters<typeof alert>) => subjectsOf({ alerts: [alert(...given)] })
  assert.deepEqual(ofAlert('key.limit_reached', 'key_1 month', { accountId: 'acc_1' }), {
    account_id: 'acc_1',
    key_id: 'key_1',
    alert_id: 'alr_key_1 month',
  })
  const off = { channel: 'main', facts: { channel: 'main', models: ['m'] } }
  assert.deepEqual(ofAlert('channel.off', 'main m', off), {
    channel: 'main',
    model: 'm',
    alert_id: 'alr_main m',
  })
  const refused = { channel: 'main', facts: { models: ['m', 'n'] } }
  assert.deepEqual(ofAlert('channel.credential_refused', 'main', refused), {
    channel: 'main',
    alert_id: 'alr_main',
  })
  assert.deepEqual(ofAlert('model.reserve_only', 'm'), { model: 'm', alert_id: 'alr_m' })
  assert.deepEqual(ofAlert('ledger.audit_failed', 'full', { facts: { audit: 'aud_1' } }), {
    audit_id: 'aud_1',
    alert_id: 'alr_full',
  })
  const trouble = { channel: 'main', model: 'm', state: 'slow' as const, since: null, why: '' }
  assert.deepEqual(subjectsOf({ channels: [trouble] }), { channel: 'main', model: 'm' })
  const stop = { node: 'a', from: since, to: null }
  assert.deepEqual(subjectsOf({ uncleanStops: [stop] }), { node: 'a' })
})
