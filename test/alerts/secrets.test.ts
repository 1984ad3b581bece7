/**
 * The secret of a webhook is replaced while messages are under way: a receiver that knows the old or the new
 * one accepts every message, until only the new one is valid.
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

const hourMs = 3_600_000

let bench: AlertBench
let receiver: Receiver
beforeEach(async () => {
  // The package that verifies compares with the machine's time.
  bench = await openBench(new Date().toISOString())
  receiver = await startReceiver()
})
afterEach(async () => {
  assert.deepEqual(bench.faults, [])
  await receiver.close()
  await bench.close()
})

async function rotate(target = 'pager'): Promise<{ secret: string; old_valid_until: string }> {
  return valueOf(await alertEndpoints.rotateSecret.operation(bench.context, { target }))
}

/** Whether the header has a signature with this secret, whatever the time is. */
function isSignedWith(secret: string, message: Received | undefined): boolean {
  assert.ok(message !== undefined)
  const atMs = Number(message.headers['webhook-timestamp']) * 1_000
  const signature = new Webhook(secret).sign(message.id, new Date(atMs), message.body)
  return (message.headers['webhook-signature'] ?? '').split(' ').includes(signature)
}

test('both secrets verify a message for a day, then only the new one does', async () => {
  const old = await bench.addWebhook('pager', receiver.url)
  const node = bench.node()
  const { secret, old_valid_until: until } = await rotate()
  assert.notEqual(secret, old)
  assert.equal(Date.parse(until), bench.clock.now() + 24 * hourMs)
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node])
  const [first] = receiver.received
  assert.ok(first !== undefined)
  for (const known of [old, secret]) new Webhook(known).verify(first.body, first.headers)
  assert.throws(() => new Webhook(`whsec_${btoa('another')}`).verify(first.body, first.headers))

  bench.clock.advance(24 * hourMs - 10_000)
  await bench.observe('channel.off', [])
  await bench.pass(2, [node])
  assert.deepEqual(
    [old, secret].map((known) => isSignedWith(known, receiver.received[1])),
    [true, true],
  )
  bench.clock.advance(10_000)
  await bench.observe('model.reserve_only', ['m'])
  await bench.pass(2, [node])
  assert.deepEqual(
    [old, secret].map((known) => isSignedWith(known, receiver.received[2])),
    [false, true],
  )
  await node.close()
})

test('a repeat of a message that began before is signed with both', async () => {
  const old = await bench.addWebhook('pager', receiver.url)
  const node = bench.node()
  receiver.behave((_request, response) => void response.writeHead(500).end())
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node])
  const { secret } = await rotate()
  receiver.behave((_request, response) => void response.writeHead(200).end())
  await bench.pass(20, [node])
  const [first, second] = receiver.received
  assert.equal(second?.id, first?.id)
  assert.deepEqual([isSignedWith(old, first), isSignedWith(secret, first)], [true, false])
  assert.deepEqual([isSignedWith(old, second), isSignedWith(secret, second)], [true, true])
  await node.close()
})

test('a target has at most four replaced secrets that are valid', async () => {
  const secrets = [await bench.addWebhook('pager', receiver.url)]
  for (let count = 0; count < 4; count++) secrets.push((await rotate()).secret)
  const refused = await alertEndpoints.rotateSecret.operation(bench.context, { target: 'pager' })
  assert.ok(refused.kind === 'refusal')
  assert.equal(refused.code, 'operations.conflict')
  assert.match(refused.message, /4 replaced secrets .* Replace it again after 20/)
  const node = bench.node()
  await bench.observe('channel.off', ['main'])
  await bench.pass(2, [node])
  for (const secret of secrets) assert.ok(isSignedWith(secret, receiver.received[0]))
  bench.clock.advance(24 * hourMs)
  await rotate()
  await node.close()
})

test('only a webhook has a secret, and neither log nor list shows it', async () => {
  const old = await bench.addWebhook('pager', receiver.url)
  const chat = { name: 'chat', format: 'slack', address: 'https://chat.example/hooks/1' }
  valueOf(await alertEndpoints.create.operation(bench.context, chat))
  for (const [target, code] of [
    ['chat', 'operations.invalid'],
    ['nowhere', 'operations.not_found'],
  ] as const) {
    const refused = await alertEndpoints.rotateSecret.operation(bench.context, { target })
    assert.equal(refused.kind === 'refusal' && refused.code, code)
  }
  const { secret } = await rotate()
  const actions = await recentActions(bench.context, { limit: 100 })
  assert.ok(actions.some(({ action }) => action === 'alert.rotate_secret'))
  const rows = await bench.database.query('SELECT * FROM alert_target')
  const shown = valueOf(await alertEndpoints.list.operation(bench.context, {}))
  const texts = JSON.stringify([actions, shown, rows.map((row) => Object.values(row).map(String))])
  for (const known of [old, secret]) assert.ok(!texts.includes(known.slice('whsec_'.length)))
})

test('a change of the target at the same moment keeps the new secret', async () => {
  await bench.addWebhook('pager', receiver.url)
  const node = bench.node()
  for (let round = 0; round < 4; round++) {
    const edit = { target: 'pager', min_severity: 'warning' }
    const [{ secret }] = await Promise.all([
      rotate(),
      alertEndpoints.change.operation(bench.context, edit).then(valueOf),
    ])
    await bench.observe('channel.off', [`main-${round}`])
    await bench.pass(2, [node])
    const message = receiver.received.findLast(({ body }) => body.includes(`main-${round}`))
    assert.ok(isSignedWith(secret, message))
  }
  await node.close()
})
