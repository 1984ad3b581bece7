/**
 * Alerts of audits: damage is done to the store by hand, and a webhook receives what the gateway finds.
 * Audits of operators run through the admin API, those of the gateway when the clock reaches them.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { storeEndpoints } from '../../src/operations/store/endpoints.ts'
import { adoptAdminToken } from '../support/operations.ts'
import { Secret } from '../../src/base/secret.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { dataOf, startReceiver, type Receiver } from './harness.ts'

const adminToken = makeSecret('admin')
let clock: ManualClock
let gateway: Scenario
let receiver: Receiver

beforeEach(async () => {
  clock = new ManualClock(Date.now())
  receiver = await startReceiver()
  gateway = await scenario({
    clock,
    account: { balance_usd: '10' },
    settings: { alert_networks: '127.0.0.0/8', node_name: 'north' },
  })
  await adoptAdminToken(gateway.context, new Secret(adminToken))
  const input = { name: 'all', format: 'webhook', address: receiver.url }
  valueOf(await alertEndpoints.create.operation(gateway.context, input))
})
afterEach(async () => {
  await gateway.close()
  await receiver.close()
})

/** Lets time pass for the alerts, a few seconds at a time. */
async function pass(seconds: number): Promise<void> {
  const { alerting } = gateway.app
  for (let passed = 0; passed < seconds; passed += 3) {
    clock.advance(3_000)
    await alerting.round()
    await alerting.settled()
  }
}

async function audit(): Promise<{ readonly result: string; readonly actor: string }> {
  const answer = await send(`${gateway.adminUrl}/admin/v1/audits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: '{}',
  })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as { result: string; actor: string }
}

const types = (): readonly string[] =>
  receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)

/** Waits for the row of the round that the gateway runs soon after its start. */
async function runScheduled(): Promise<Record<string, unknown>> {
  const before = await listed()
  let asked = 0
  const ask = (): ReturnType<typeof listed> => {
    // A round that falls due while the one before still removes old exchanges is skipped.
    if (asked++ % 100 === 0) clock.advance(before.length === 0 ? 20_000 : 4_000_000)
    return listed()
  }
  const rows = await eventually('a new audit', ask, ({ length }) => length > before.length)
  return { ...rows[0] }
}

async function listed() {
  return valueOf(await storeEndpoints.audits.operation(gateway.context, {})).items
}

const setBalance = (picos: bigint): Promise<unknown> =>
  gateway.context.database.query('UPDATE account SET balance_picos = $1', [picos])

test('a difference that an operator finds fires, until a full audit passes again', async () => {
  await setBalance(9_000_000_000_000n)
  assert.equal((await audit()).result, 'failed')
  await pass(66)
  assert.deepEqual(types(), ['ledger.audit_failed'])
  const facts = dataOf(receiver.received[0])['facts'] as Record<string, unknown>
  assert.equal(facts['differences'], 1)
  assert.equal(facts['audit'], (await listed())[0]?.id)

  await setBalance(10_000_000_000_000n)
  const scheduled = await runScheduled()
  assert.deepEqual([scheduled['scope'], scheduled['result']], ['recent', 'passed'])
  await pass(66)
  assert.deepEqual(types(), ['ledger.audit_failed'], 'the gateway does not audit everything')
  assert.equal((await audit()).result, 'passed')
  await pass(66)
  assert.deepEqual(types(), ['ledger.audit_failed', 'ledger.audit_failed.resolved'])
})

test('a difference that the gateway finds by itself fires, and its next audit resolves it', async () => {
  await setBalance(9_000_000_000_000n)
  const { actor, result } = await runScheduled()
  assert.deepEqual([actor, result], ['gateway:north', 'failed'])
  await pass(66)
  assert.deepEqual(types(), ['ledger.audit_failed'])
  await setBalance(10_000_000_000_000n)
  await runScheduled()
  await pass(66)
  assert.deepEqual(types(), ['ledger.audit_failed', 'ledger.audit_failed.resolved'])
})

test('an audit that cannot run fires and says why, and the next one resolves it', async () => {
  const { database } = gateway.context
  await database.transact((transaction) =>
    transaction.script('ALTER TABLE exchange_cut RENAME TO hidden'),
  )
  const { result, error } = await runScheduled()
  assert.equal(result, 'not_run')
  assert.match(String(error), /exchange_cut/)
  await pass(66)
  assert.deepEqual(types(), ['ledger.audit_failed'])
  assert.equal(dataOf(receiver.received[0])['subject'], 'not_run')
  await database.transact((transaction) =>
    transaction.script('ALTER TABLE hidden RENAME TO exchange_cut'),
  )
  assert.equal((await runScheduled())['result'], 'passed')
  await pass(66)
  assert.deepEqual(types(), ['ledger.audit_failed', 'ledger.audit_failed.resolved'])
})
