/**
 * One cause is one alert: what it includes, its messages, and what an operator's acknowledgement and snooze
 * change. Store and receiver are real; the clock is moved by hand.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { AlertKind } from '../../src/operations/alerts/alert-kind.ts'
import type { Alerting } from '../../src/operations/alerts/alerting.ts'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { applyObservation } from '../../src/operations/alerts/raise.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { recentActions } from '../support/operations.ts'
import {
  answers,
  dataOf,
  distinct,
  openBench,
  startReceiver,
  type AlertBench,
  type Receiver,
} from './harness.ts'

let bench: AlertBench
let receiver: Receiver
let node: Alerting
beforeEach(async () => {
  bench = await openBench()
  receiver = await startReceiver()
  await bench.addWebhook('pager', receiver.url)
  node = bench.node()
})
afterEach(async () => {
  assert.deepEqual(bench.faults, [])
  await node.close()
  await receiver.close()
  await bench.close()
})

const firing = async () =>
  valueOf(await alertEndpoints.firing.operation(bench.context, { limit: 100 })).items

/** The id of the only alert. */
async function onlyId(): Promise<string> {
  const [alert, ...others] = await firing()
  assert.ok(alert !== undefined && others.length === 0)
  return alert.id
}

const acknowledge = async (alert: string) =>
  valueOf(await alertEndpoints.acknowledge.operation(bench.context, { alert }))
const snooze = async (alert: string, duration: string) =>
  valueOf(await alertEndpoints.snooze.operation(bench.context, { alert, for: duration }))

/** One look finds that none of these kinds holds. */
const end = (...kinds: readonly AlertKind[]): Promise<void> =>
  applyObservation(
    { database: bench.database, onNotice: () => undefined },
    { kinds, findings: [] },
    bench.clock.now(),
  )

/** What has come since the last call: types of messages. */
async function told(): Promise<readonly string[]> {
  await bench.pass(6, [node])
  return receiver.received
    .splice(0)
    .map(({ body }) => (JSON.parse(body) as { readonly type: string }).type)
}

test('all that follows from a broken channel is one alert, told when it begins, gets worse and ends', async () => {
  await bench.observe('channel.counts_high', ['main'])
  assert.deepEqual(await told(), ['channel.counts_high'])
  await bench.observe('channel.counts_high', [])
  assert.deepEqual(await told(), ['channel.counts_high.resolved'])

  await bench.observe('channel.off', ['main large'], 'main')
  const beganAt = new Date(bench.clock.now()).toISOString()
  assert.deepEqual(await told(), ['channel.off'])
  await bench.observe('channel.off', ['main large', 'main small'], 'main')
  await bench.observe('model.reserve_only', ['large', 'small'], 'main')
  await bench.observe('channel.cache_fallen', ['main large'], 'main')
  const lastAt = new Date(bench.clock.now()).toISOString()
  assert.deepEqual(await told(), [])
  const [alert, ...others] = await firing()
  assert.ok(alert !== undefined)
  assert.deepEqual(others, [])
  const { cause, kind, severity, count, first_seen_at: first, last_seen_at: last } = alert
  assert.deepEqual(
    { cause, kind, severity, count, first, last },
    {
      cause: 'channel main',
      kind: 'channel.off',
      severity: 'warning',
      count: 5,
      first: beganAt,
      last: lastAt,
    },
  )
  assert.deepEqual(
    alert.includes.map((one) => one.kind),
    ['channel.off', 'model.reserve_only', 'model.reserve_only', 'channel.cache_fallen'],
  )

  await bench.observe('model.no_usable_channel', ['large'], 'main')
  await bench.pass(6, [node])
  const data = dataOf(receiver.received[0])
  assert.deepEqual([data['id'], data['severity']], [alert.id, 'critical'])
  assert.ok((data['includes'] as readonly string[]).includes('channel.off of main large'))
  assert.deepEqual(await told(), ['model.no_usable_channel'])
  await bench.observe('model.no_usable_channel', [])
  assert.deepEqual(await told(), ['model.no_usable_channel.resolved'])
  await end('channel.off', 'model.reserve_only', 'channel.cache_fallen')
  assert.deepEqual(await told(), ['channel.back'])
  assert.deepEqual(await firing(), [])
})

test('a channel that is back while its counts are still high is told, and so is that it is off again', async () => {
  await bench.observe('channel.counts_high', ['main'])
  assert.deepEqual(await told(), ['channel.counts_high'])
  await bench.observe('channel.off', ['main large'], 'main')
  assert.deepEqual(await told(), ['channel.off'])
  const alert = await onlyId()
  await bench.observe('channel.off', [])
  await bench.pass(6, [node])
  assert.deepEqual(dataOf(receiver.received[0])['includes'], ['channel.counts_high of main'])
  assert.deepEqual(await told(), ['channel.back'])
  await bench.observe('channel.off', ['main large'], 'main')
  assert.deepEqual(await told(), ['channel.off'])
  assert.equal(await onlyId(), alert)
})

test('a target for critical alerts hears the end of what it has heard', async () => {
  const critical = await startReceiver()
  await bench.addWebhook('critical', critical.url, { min_severity: 'critical' })
  await bench.observe('channel.off', ['main large'], 'main')
  assert.deepEqual(await told(), ['channel.off'])
  await bench.observe('channel.no_credit', ['main'])
  await acknowledge(await onlyId())
  await bench.observe('channel.no_credit', [])
  assert.deepEqual(await told(), ['channel.no_credit'])
  await bench.observe('channel.off', [])
  assert.deepEqual(await told(), ['channel.back'])
  assert.equal(critical.received.length, 2)
  await critical.close()
})

test('an acknowledged alert says nothing until it gets worse or ends, also after a restart', async () => {
  await bench.observe('channel.off', ['main large'], 'main')
  assert.deepEqual(await told(), ['channel.off'])
  const id = await onlyId()
  const shown = await acknowledge(id)
  assert.deepEqual(
    [shown.acknowledged_by, shown.acknowledged_at, shown.snoozed_until],
    ['test', new Date(bench.clock.now()).toISOString(), null],
  )
  await node.close()
  node = bench.node()
  await bench.observe('channel.off', ['main large', 'main small'], 'main')
  await bench.observe('model.reserve_only', ['large'], 'main')
  bench.clock.advance(7 * 86_400_000)
  assert.deepEqual(await told(), [])
  assert.equal((await firing())[0]?.acknowledged_by, 'test')

  await bench.observe('channel.credential_refused', ['main'])
  assert.deepEqual(await told(), ['channel.credential_refused'])
  assert.equal((await firing())[0]?.acknowledged_by, null, 'the worse is not acknowledged')
  await acknowledge(id)
  await bench.observe('channel.credential_refused', [])
  assert.deepEqual(await told(), [], 'it is off still')
  await end('channel.off', 'model.reserve_only')
  assert.deepEqual(await told(), ['channel.back'])
  const actions = await recentActions(bench.context, { limit: 10 })
  assert.equal(actions.filter(({ action }) => action === 'alert.acknowledge').length, 2)
})

test('a snoozed alert is sent again when its time is over, once', async () => {
  await bench.observe('channel.off', ['main large'], 'main')
  assert.deepEqual(await told(), ['channel.off'])
  const id = await onlyId()
  const until = bench.clock.now() + 4 * 3_600_000
  assert.equal((await snooze(id, '4h')).snoozed_until, new Date(until).toISOString())
  bench.clock.advance(4 * 3_600_000 - 60_000)
  assert.deepEqual(await told(), [])
  const other = bench.node()
  bench.clock.advance(60_000)
  await bench.pass(6, [node, other])
  await other.close()
  // Both send for this test; the id says that it is the same message.
  assert.equal(distinct(receiver.received).size, 1)
  assert.equal(dataOf(receiver.received[0])['id'], id)
  assert.equal((await told())[0], 'channel.off')
  assert.equal((await firing())[0]?.snoozed_until, null)
  assert.deepEqual(await told(), [])
})

test('a snooze ends early when the alert gets worse, and leaves nothing when it ends', async () => {
  await bench.observe('channel.off', ['main large'], 'main')
  assert.deepEqual(await told(), ['channel.off'])
  await snooze(await onlyId(), '4h')
  await bench.observe('channel.no_credit', ['main'])
  assert.deepEqual(await told(), ['channel.no_credit'])
  await snooze(await onlyId(), '4h')
  await end('channel.off', 'channel.no_credit')
  assert.deepEqual(await told(), ['channel.back'])
  bench.clock.advance(5 * 3_600_000)
  assert.deepEqual(await told(), [])
})

test('what is not firing can neither be acknowledged nor snoozed', async () => {
  for (const outcome of [
    await alertEndpoints.acknowledge.operation(bench.context, { alert: 'alr_none' }),
    await alertEndpoints.snooze.operation(bench.context, { alert: 'alr_none', for: '1h' }),
  ])
    assert.equal(outcome.kind === 'refusal' && outcome.code, 'operations.not_found')
  await bench.observe('channel.off', ['main'])
  const asked = { alert: await onlyId(), for: 'soon' }
  const outcome = await alertEndpoints.snooze.operation(bench.context, asked)
  assert.equal(outcome.kind === 'refusal' && outcome.code, 'operations.invalid')
})

test('several nodes that find the same change make one message of it', async () => {
  const all = async (kind: 'channel.off' | 'channel.no_credit', subjects: readonly string[]) =>
    Promise.all([1, 2, 3].map(() => bench.observe(kind, subjects, 'main')))
  await all('channel.off', ['main large'])
  assert.deepEqual(await told(), ['channel.off'])
  await all('channel.no_credit', ['main'])
  assert.deepEqual(await told(), ['channel.no_credit'])
  assert.equal((await firing())[0]?.count, 2)
  await all('channel.no_credit', [])
  assert.deepEqual(await told(), ['channel.no_credit.resolved'])
  await all('channel.off', [])
  assert.deepEqual(await told(), ['channel.back'])
})

test('a receiver that was down gets begin, worse and end, in their order and as they were', async () => {
  receiver.behave(answers(500))
  await bench.observe('channel.off', ['main large'], 'main')
  // The process that has found it ends before it has sent anything.
  await node.close()
  node = bench.node()
  await bench.pass(2, [node])
  await bench.observe('channel.no_credit', ['main'])
  await bench.pass(2, [node])
  await end('channel.off', 'channel.no_credit')
  await bench.pass(2, [node])
  receiver.received.length = 0
  receiver.behave(answers(200))
  await bench.pass(60, [node])
  assert.deepEqual(
    receiver.received.map((one) => [dataOf(one)['kind'], dataOf(one)['state']]),
    [
      ['channel.off', 'firing'],
      ['channel.no_credit', 'firing'],
      ['channel.no_credit', 'resolved'],
    ],
  )
})
