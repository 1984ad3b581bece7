/**
 * The shares of an account's limits: 50 and 80 % are told once in a period, by any node and over restarts;
 * the limit itself is an alert. Spend is written as the books have it, because only its sums count here.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { dayMs, utcDay, utcMonth } from '../../src/base/clock.ts'
import { parseUsd, zeroPicos } from '../../src/base/money.ts'
import { noReport } from '../../src/ledger/report-day.ts'
import { insertRow } from '../../src/storage/rows.ts'
import { changeAccount, createAccount } from '../support/operations.ts'
import {
  dataOf,
  distinct,
  openBench,
  startReceiver,
  type AlertBench,
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

/** The account has spent this much today, in requests of a cent, and as much in the month before today. */
async function spend(accountId: string, todayUsd: string, beforeUsd = '0'): Promise<void> {
  const { database, clock } = bench
  const today = parseUsd(todayUsd) ?? zeroPicos
  const before = parseUsd(beforeUsd) ?? zeroPicos
  const day = utcDay(clock.now())
  const requests = Math.round(Number(todayUsd) * 100)
  await database.transact(async (transaction) => {
    await transaction.query('DELETE FROM report_day WHERE account_id = $1', [accountId])
    await transaction.query('DELETE FROM usage_month WHERE account_id = $1', [accountId])
    await insertRow(transaction, 'report_day', {
      ...noReport(),
      day,
      account_id: accountId,
      key_id: 'key_1',
      model: 'large-1',
      channel: 'alpha-main',
      label: '',
      charged_requests: requests,
      requests,
      revenue_picos: today,
    })
    await insertRow(transaction, 'usage_month', {
      account_id: accountId,
      month: utcMonth(clock.now()),
      model: 'large-1',
      requests,
      input_tokens: 0,
      output_tokens: 0,
      cache_tokens: 0,
      cost_picos: today + before,
    })
  })
}

/** What the receiver has got: the step, or the kind of an alert, with the severity. */
function told(): readonly string[] {
  return [...distinct(receiver.received).values()].map((message) => {
    const { kind, state, severity, facts } = dataOf(message)
    const { step, limit_of: limitOf } = facts as Readonly<Record<string, string | number>>
    const what = step === undefined ? String(kind) : `${step} % of the ${limitOf}`
    return `${what} ${state === 'firing' ? String(severity) : 'over'}`
  })
}

async function account(fields: object): Promise<string> {
  return (await createAccount(bench.context, { name: 'acme', balance_usd: '1000', ...fields })).id
}

const look = 16

test('each step is told once, by any node, and again in the next period', async () => {
  await bench.addWebhook('pager', receiver.url)
  const id = await account({ daily_usd: '10' })
  const first = bench.node()
  await spend(id, '4.99')
  await bench.pass(look, [first])
  assert.deepEqual(told(), [])
  await spend(id, '5')
  await bench.pass(look, [first])
  await bench.pass(look, [first])
  await first.close()
  // Another process takes over.
  const second = bench.node()
  await bench.pass(look, [second])
  assert.deepEqual(told(), ['50 % of the day info'])
  await spend(id, '8')
  await bench.pass(look, [second])
  // A refund lowers the sum, and it rises again.
  await spend(id, '7')
  await bench.pass(look, [second])
  await spend(id, '8.5')
  await bench.pass(look, [second])
  assert.deepEqual(told().slice(1), ['80 % of the day warning'])
  bench.clock.jumpWallTime(dayMs)
  await spend(id, '6')
  await bench.pass(look, [second])
  assert.deepEqual(told().slice(2), ['50 % of the day info'])
  await second.close()
})

test('two nodes at the same time tell a step once', async () => {
  await bench.addWebhook('pager', receiver.url)
  const id = await account({ daily_usd: '10', monthly_usd: '100' })
  const nodes = [bench.node(), bench.node({ nodeName: 'node-2' })]
  await spend(id, '6', '75')
  bench.clock.advance(look * 1_000)
  await Promise.all(nodes.map((node) => node.round()))
  for (const _ of nodes) await bench.pass(look, nodes)
  assert.deepEqual(told().toSorted(), ['50 % of the day info', '80 % of the month warning'])
  for (const node of nodes) await node.close()
})

test('a step that a higher one has passed over is not told, then or later', async () => {
  await bench.addWebhook('pager', receiver.url)
  const id = await account({ daily_usd: '10' })
  const node = bench.node()
  await spend(id, '9')
  await bench.pass(look, [node])
  assert.deepEqual(told(), ['80 % of the day warning'])
  await changeAccount(bench.context, { account: id, daily_usd: '9' })
  await bench.pass(look, [node])
  // A refund frees the limit: the alert is over, and no step follows.
  await spend(id, '8')
  await bench.pass(look, [node])
  assert.deepEqual(told().slice(1), [
    'account.daily_limit_reached warning',
    'account.daily_limit_reached over',
  ])
  await node.close()
})

test('another limit in the same period has steps anew; a suspended account has none', async () => {
  await bench.addWebhook('pager', receiver.url)
  const id = await account({ daily_usd: '10' })
  const node = bench.node()
  await spend(id, '8')
  await bench.pass(look, [node])
  await changeAccount(bench.context, { account: id, daily_usd: '15' })
  await bench.pass(look, [node])
  await changeAccount(bench.context, { account: id, status: 'suspended' })
  await spend(id, '14')
  await bench.pass(look, [node])
  assert.deepEqual(told(), ['80 % of the day warning', '50 % of the day info'])
  await changeAccount(bench.context, { account: id, status: 'active' })
  await bench.pass(look, [node])
  assert.deepEqual(told().slice(2), ['80 % of the day warning'])
  await node.close()
})

test('a target gets the steps of its severity', async () => {
  await bench.addWebhook('pager', receiver.url, { min_severity: 'warning' })
  const id = await account({ monthly_usd: '100' })
  const node = bench.node()
  await spend(id, '1', '50')
  await bench.pass(look, [node])
  assert.deepEqual(told(), [])
  await spend(id, '1', '80')
  await bench.pass(look, [node])
  assert.deepEqual(told(), ['80 % of the month warning'])
  await node.close()
})
