/**
 * The secret of a webhook: each target has its own, which signs each attempt and is shown once. A receiver
 * changes over from one secret to another by two targets.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { recentActions } from '../support/operations.ts'
import {
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

/** Whether the header has a signature with this secret, whatever the time is. */
function isSignedWith(secret: string, message: Received | undefined): boolean {
  assert.ok(message !== undefined)
  const atMs = Number(message.headers['webhook-timestamp']) * 1_000
  const signature = new Webhook(secret).sign(message.id, new Date(atMs), message.body)
  return (message.headers['webhook-signature'] ?? '').split(' ').includes(signature)
}

test('a second target of the same receiver signs with its own secret, and stays when the first is deleted', async () => {
  const old = await bench.addWebhook('pager', receiver.url)
  const secret = await bench.addWebhook('pager-2', receiver.url)
  assert.notEqual(secret, old)
  const node = bench.node()
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node])
  assert.equal(receiver.received.length, 2)
  for (const known of [old, secret])
    assert.equal(receiver.received.filter((one) => isSignedWith(known, one)).length, 1)
  valueOf(await alertEndpoints.remove.operation(bench.context, { target: 'pager' }))
  await bench.observe('channel.off', [])
  await bench.pass(2, [node])
  assert.equal(receiver.received.length, 3)
  assert.ok(isSignedWith(secret, receiver.received[2]))
  await node.close()
})

test('a repeat of a message has a signature with the time of its own attempt', async () => {
  const secret = await bench.addWebhook('pager', receiver.url)
  const node = bench.node()
  receiver.behave((_request, response) => void response.writeHead(500).end())
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node])
  receiver.behave((_request, response) => void response.writeHead(200).end())
  await bench.pass(20, [node])
  const [first, second] = receiver.received
  assert.equal(second?.id, first?.id)
  assert.notEqual(second?.headers['webhook-timestamp'], first?.headers['webhook-timestamp'])
  assert.deepEqual([isSignedWith(secret, first), isSignedWith(secret, second)], [true, true])
  await node.close()
})

test('neither log nor list nor store shows a secret', async () => {
  const secret = await bench.addWebhook('pager', receiver.url)
  const actions = await recentActions(bench.context, { limit: 100 })
  assert.ok(actions.some(({ action }) => action === 'alert.create'))
  const rows = await bench.database.query('SELECT * FROM alert_target')
  const shown = valueOf(await alertEndpoints.list.operation(bench.context, {}))
  const texts = JSON.stringify([actions, shown, rows.map((row) => Object.values(row).map(String))])
  assert.ok(!texts.includes(secret.slice('whsec_'.length)))
})
