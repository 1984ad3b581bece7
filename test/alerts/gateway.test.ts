/**
 * Alerts of a whole gateway: what it finds by itself in balances, limits, channels and backups, and an outage
 * of its store, which goes out from memory.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { creditAccount, changeAccount, createAdminToken } from '../support/operations.ts'
import { send } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { eventually } from '../support/eventually.ts'
import { answers, openBench, startReceiver, dataOf, type Receiver } from './harness.ts'

const second = 1_000

let clock: ManualClock
let gateway: Scenario
let receiver: Receiver
beforeEach(async () => {
  clock = new ManualClock()
  receiver = await startReceiver()
  gateway = await scenario({
    clock,
    account: { balance_usd: '0.01' },
    settings: { alert_networks: '127.0.0.0/8', backup_max_age: '1d', max_failed_sign_ins: '0' },
  })
  const input = { name: 'all', format: 'webhook', address: receiver.url }
  valueOf(await alertEndpoints.create.operation(gateway.context, input))
})
afterEach(async () => {
  await gateway.close()
  await receiver.close()
})

/** Lets time pass, a few seconds at a time; what the gateway does then is over before the next ones. */
async function pass(seconds: number): Promise<void> {
  const { alerting } = gateway.app
  for (let passed = 0; passed < seconds; passed += 3) {
    clock.advance(3 * second)
    await gateway.app.refresh()
    await alerting.round()
    await alerting.settled()
  }
}

function typesAbout(subject: string): readonly string[] {
  return receiver.received
    .filter((one) => String(dataOf(one)['subject']).includes(subject))
    .map(({ body }) => (JSON.parse(body) as { type: string }).type)
}

test('an account that runs out is told of before, when, and after, and requests go on', async () => {
  const { account, context } = gateway
  await changeAccount(context, { account: account.id, alert_below_usd: '0.009' })
  await pass(30)
  assert.deepEqual(typesAbout(account.id), [])
  assert.equal((await gateway.ask({ format: 'messages', isStream: false })).status, 200)
  await changeAccount(context, { account: account.id, alert_below_usd: '0.01' })
  await pass(30)
  assert.deepEqual(typesAbout(account.id), ['account.balance_low'], 'it includes that it runs out')
  let status = 200
  for (let count = 0; status === 200 && count < 100; count++)
    status = (await gateway.ask({ format: 'messages', isStream: false })).status
  assert.equal(status, 402)
  await pass(60)
  assert.deepEqual(typesAbout(account.id), ['account.balance_low', 'account.exhausted'])
  await creditAccount(context, { account: account.id, amount_usd: '100', reference: 'r-1' })
  await pass(200)
  assert.deepEqual(typesAbout(account.id), [
    'account.balance_low',
    'account.exhausted',
    'account.exhausted.resolved',
  ])
  assert.equal((await gateway.ask({ format: 'messages', isStream: false })).status, 200)
  const { secret } = await createAdminToken(context, { name: 'metrics' })
  const headers = { authorization: `Bearer ${secret}` }
  const { text } = await send(`${gateway.adminUrl}/metrics`, { headers })
  assert.match(text, /^turnpike_balances_usd 100/m)
  assert.match(text, /^turnpike_accounts 1$/m)
  for (const event of ['account.exhausted', 'account.exhausted.resolved'])
    assert.ok(text.includes(`turnpike_events_total{event="${event}"} 1\n`), event)
})

test('a channel that is off and back, and a missing backup', async () => {
  await pass(10)
  assert.deepEqual(typesAbout('').toSorted(), ['backup.too_old'])
  gateway.sandbox.faults.set('alpha-main', 'error=401')
  await gateway.ask({ format: 'messages', isStream: false })
  await pass(60)
  assert.deepEqual(typesAbout('alpha-main'), ['channel.credential_refused'])
  assert.deepEqual(typesAbout('large-1'), [], 'that its models are on reserve belongs to it')
  gateway.sandbox.faults.clear()
  await pass(1_500)
  assert.deepEqual(typesAbout('alpha-main'), ['channel.credential_refused', 'channel.back'])
})

test('an outage of the store goes out from memory, and so does its end', async () => {
  const bench = await openBench()
  await bench.addWebhook('pager', receiver.url)
  let isAvailable = true
  const node = bench.node({ isStoreAvailable: () => isAvailable })
  await bench.pass(2, [node])
  isAvailable = false
  await bench.pass(10, [node])
  assert.equal(receiver.received.length, 0, 'a short outage is no alert')
  await bench.pass(10, [node])
  assert.deepEqual(typesAbout('node-1'), ['store.outage'])
  isAvailable = true
  await bench.pass(5, [node])
  assert.deepEqual(typesAbout('node-1'), ['store.outage', 'store.outage.resolved'])
  await node.close()
  await bench.close()
})

test('requests go on while a receiver hangs, and its message arrives later under the same id', async () => {
  const { account, context, app } = gateway
  receiver.behave(() => undefined)
  await changeAccount(context, { account: account.id, alert_below_usd: '5' })
  const about = () => receiver.received.filter(({ body }) => body.includes(account.id))
  const look = async () => {
    clock.advance(second)
    await app.alerting.round()
    return about()
  }
  // It hangs with one message; the time limit of 10 s is reached only when the clock is moved.
  await eventually('the first attempt', look, (all) => all.length > 0)
  for (let count = 0; count < 5; count++)
    assert.equal((await gateway.ask({ format: 'messages', isStream: false })).status, 200)
  receiver.behave(answers(200))
  const all = await eventually('the second attempt', look, (seen) => seen.length > 1)
  assert.equal(new Set(all.map(({ id }) => id)).size, 1)
})
