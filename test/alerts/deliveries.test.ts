/**
 * Messages arrive at receivers that are down, fail, hang, redirect or are met by a process that dies: all of
 * them, each with an id that stays the same, so that a receiver counts each once.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { firingAlerts } from '../../src/operations/alerts/firing.ts'
import { alertDeliveries } from '../../src/operations/alerts/log.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { eventually } from '../support/eventually.ts'
import { createAccount } from '../support/operations.ts'
import {
  answers,
  dataOf,
  distinct,
  openBench,
  startReceiver,
  type AlertBench,
  type Received,
  type Receiver,
} from './harness.ts'

let bench: AlertBench
let receiver: Receiver
beforeEach(async () => {
  bench = await openBench()
  receiver = await startReceiver()
})
afterEach(async () => {
  assert.deepEqual(bench.faults, [])
  await receiver.close()
  await bench.close()
})

async function log() {
  return valueOf(await alertDeliveries(bench.context, {})).items
}

test('a webhook is signed as Standard Webhooks says, and tells what is wrong', async () => {
  const secret = await bench.addWebhook('pager', receiver.url)
  const node = bench.node()
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node])
  await node.settled()
  const [message] = receiver.received
  assert.ok(message !== undefined)
  // The package compares with its own clock, so the time is signed anew at the machine's time.
  const webhook = new Webhook(secret)
  const atMs = Number(message.headers['webhook-timestamp']) * 1_000
  assert.ok(Math.abs(atMs - bench.clock.now()) < 5_000)
  assert.equal(
    webhook.sign(message.id, new Date(atMs), message.body),
    message.headers['webhook-signature'],
  )
  assert.throws(() => webhook.verify(message.body, { ...message.headers, 'webhook-id': 'msg_1' }))
  assert.equal((JSON.parse(message.body) as { type: string }).type, 'channel.off')
  const data = dataOf(message)
  assert.equal(data['state'], 'firing')
  assert.equal(data['severity'], 'warning')
  assert.equal(data['region'], 'test')
  await bench.observe('channel.off', [])
  await bench.pass(2, [node])
  await node.settled()
  assert.equal(
    (JSON.parse(receiver.received[1]?.body ?? '') as { type: string }).type,
    'channel.back',
  )
  assert.equal(dataOf(receiver.received[1])['id'], data['id'])
  await node.close()
})

test('a name is no mention and no link in a chat, and a webhook has it as it is', async () => {
  const name =
    '@channel <!here> <@U1> a@EVERYONE [x](https://x.example) & ops@acme.example <https://x.example|x>'
  await bench.addWebhook('ops', receiver.url, { format: 'slack' })
  await bench.addWebhook('pager', receiver.url)
  const node = bench.node()
  await bench.observe('channel.off', [name])
  await bench.pass(2, [node])
  await node.settled()
  const isWebhook = ({ id }: Received): boolean => id !== ''
  const chat = receiver.received.find((one) => !isWebhook(one))
  assert.deepEqual(JSON.parse(chat?.body ?? '{}'), {
    text:
      'Turnpike test\n*[warning] channel.off of @\u200bchannel &lt;!here&gt; &lt;@\u200bU1&gt; ' +
      'a@\u200bEVERYONE [x]\u200b(https://x.example) &amp; ops@acme.example ' +
      '&lt;https://x.example|x&gt;*\nLook at it.',
  })
  const webhook = dataOf(receiver.received.find(isWebhook))
  assert.equal(webhook['title'], `channel.off of ${name}`)
  await node.close()
})

test('all alerts of an hour in which the receiver is down arrive, each once', async () => {
  await bench.addWebhook('pager', receiver.url)
  const { url } = receiver
  await receiver.close()
  const node = bench.node()
  const subjects: string[] = []
  for (let minute = 0; minute < 60; minute++) {
    subjects.push(`channel-${minute}`)
    await bench.observe('channel.off', subjects)
    await bench.pass(1, [node])
    await node.settled()
    bench.clock.advance(59_000)
    await node.round()
    await node.settled()
  }
  receiver = await startReceiver(Number(new URL(url).port))
  for (let minute = 0; minute < 90; minute++) {
    bench.clock.advance(60_000)
    await node.round()
    await node.settled()
  }
  const named = [...distinct(receiver.received).values()].map((one) => dataOf(one)['subject'])
  assert.deepEqual(new Set(named), new Set(subjects))
  assert.equal(receiver.received.length, subjects.length, 'no message came twice')
  assert.ok((await log()).every(({ state }) => state === 'delivered'))
  await node.close()
})

test('a receiver that answers 500, then 429 with a wait, then 200 gets one message under one id', async () => {
  await bench.addWebhook('pager', receiver.url)
  const node = bench.node()
  receiver.behave(answers(500))
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node])
  await node.settled()
  receiver.behave(answers(429, { 'retry-after': '120' }))
  await bench.pass(15, [node])
  await node.settled()
  assert.equal(receiver.received.length, 2)
  receiver.behave(answers(200))
  await bench.pass(100, [node])
  await node.settled()
  assert.equal(receiver.received.length, 2, 'it waits as long as the receiver asks')
  await bench.pass(30, [node])
  await node.settled()
  assert.equal(receiver.received.length, 3)
  assert.equal(distinct(receiver.received).size, 1)
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
  await node.close()
})

test('a redirect is not followed', async () => {
  const other = await startReceiver()
  await bench.addWebhook('pager', receiver.url)
  receiver.behave(answers(302, { location: other.url }))
  const node = bench.node()
  await bench.observe('channel.off', ['main'])
  await bench.pass(3, [node])
  await node.settled()
  assert.equal(receiver.received.length, 1)
  assert.equal(other.received.length, 0)
  const [line] = await log()
  assert.equal(line?.state, 'waiting')
  assert.match(line.outcome, /redirects are not followed/)
  await node.close()
  await other.close()
})

test('a receiver that hangs keeps no other waiting', async () => {
  const other = await startReceiver()
  await bench.addWebhook('hanging', receiver.url)
  await bench.addWebhook('well', other.url)
  receiver.behave(() => undefined)
  const node = bench.node()
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node], true)
  const counts = async (): Promise<readonly number[]> => {
    await setImmediate()
    return [other.received.length, receiver.received.length]
  }
  await eventually('both have it', counts, (all) => all.every((count) => count === 1))
  await bench.pass(11, [node], true)
  await node.settled()
  const line = (await log()).find(({ state }) => state === 'waiting')
  assert.equal(line?.outcome, 'no answer within 10 s')
  await node.close()
  await other.close()
})

test('a receiver with many messages that are due keeps no other waiting', async () => {
  const other = await startReceiver()
  await bench.addWebhook('down', 'http://127.0.0.1:1/')
  await bench.addWebhook('well', other.url, { min_severity: 'critical' })
  const node = bench.node()
  await bench.observe(
    'channel.off',
    Array.from({ length: 400 }, (_, index) => `channel-${index}`),
  )
  await bench.pass(2, [node])
  await bench.observe('channel.no_credit', ['m'])
  await bench.pass(2, [node])
  assert.equal(other.received.length, 1)
  await node.close()
  await other.close()
})

test('410 ends a delivery, and so do 24 hours without success', async () => {
  await bench.addWebhook('pager', receiver.url)
  const node = bench.node()
  receiver.behave(answers(410))
  await bench.observe('channel.off', ['gone'])
  await bench.pass(2, [node])
  await node.settled()
  receiver.behave(answers(500))
  await bench.observe('model.reserve_only', ['never'])
  for (let round = 0; round < 120; round++) {
    bench.clock.advance(15 * 60_000)
    await node.round()
    await node.settled()
  }
  assert.deepEqual(
    (await log()).map(({ state }) => state),
    ['failed', 'failed'],
  )
  const attempts = receiver.received.length
  assert.ok(attempts > 20 && attempts < 60, `${attempts} attempts`)
  await node.close()
})

test('a process that dies between sending and marking sends the same message again', async () => {
  await bench.addWebhook('pager', receiver.url)
  const first = bench.node()
  const reached = Promise.withResolvers<undefined>()
  // The receiver has taken it; the process dies before it learns so.
  receiver.behave(() => reached.resolve(undefined))
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [first], true)
  await reached.promise
  await first.close()
  receiver.behave(answers(200))
  const next = bench.node()
  await bench.pass(2, [next])
  await next.settled()
  assert.equal(receiver.received.length, 2)
  assert.equal(distinct(receiver.received).size, 1)
  assert.equal((await log())[0]?.state, 'delivered')
  await next.close()
})

test('a node that loses the lease shows no balances any more', async () => {
  await createAccount(bench.context, { name: 'acme', balance_usd: '5' })
  let hasLease = true
  const shown: number[] = []
  const node = bench.node({
    membership: { addTask: () => undefined, hasTask: () => hasLease },
    onBalances: ({ accountCount }) => shown.push(accountCount),
  })
  await bench.pass(2, [node])
  assert.deepEqual(shown, [1])
  hasLease = false
  await bench.pass(2, [node])
  assert.deepEqual(shown, [1, 0])
  hasLease = true
  await bench.pass(1, [node])
  assert.deepEqual(shown, [1, 0, 1])
  await node.close()
})

test('what two nodes find is one alert', async () => {
  await bench.addWebhook('pager', receiver.url)
  const nodes = [bench.node(), bench.node({ membership: { addTask() {}, hasTask: () => false } })]
  await Promise.all(['main', 'main', 'main'].map((name) => bench.observe('channel.off', [name])))
  await bench.pass(3, nodes)
  for (const node of nodes) await node.settled()
  assert.equal(receiver.received.length, 1)
  for (const node of nodes) await node.close()
})

test('alerts are found by account, and deliveries by target and state', async () => {
  await bench.addWebhook('pager', receiver.url)
  const { id } = await createAccount(bench.context, {
    name: 'acme',
    balance_usd: '5',
    alert_below_usd: '10',
  })
  await createAccount(bench.context, { name: 'other', balance_usd: '5', alert_below_usd: '20' })
  await createAccount(bench.context, { name: 'well', balance_usd: '5' })
  await bench.observe('channel.off', ['main'])
  const node = bench.node()
  await bench.pass(5, [node])
  await node.settled()
  const firing = async (filter: object) => valueOf(await firingAlerts(bench.context, filter)).items
  const sent = async (filter: object) => valueOf(await alertDeliveries(bench.context, filter)).items
  assert.equal((await firing({})).length, 3)
  const [alert, ...others] = await firing({ account: 'acme' })
  assert.deepEqual([alert?.kind, alert?.account_id, others], ['account.balance_low', id, []])
  assert.deepEqual(await firing({ account: 'well' }), [])
  assert.equal((await sent({})).length, 3)
  assert.deepEqual(
    (await sent({ target: 'pager' })).flatMap((one) => (one.account_id === id ? one.alert_id : [])),
    [alert?.id],
  )
  const states = (await sent({})).map((one) => one.state)
  assert.deepEqual(new Set(states), new Set(['delivered']))
  assert.equal((await sent({ state: 'delivered' })).length, 3)
  assert.deepEqual(await sent({ state: 'failed' }), [])
  const outcome = await firingAlerts(bench.context, { account: 'nowhere' })
  assert.equal(outcome.kind === 'refusal' && outcome.code, 'operations.not_found')
  await node.close()
})
