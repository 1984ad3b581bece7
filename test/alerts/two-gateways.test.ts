/**
 * Two gateways on one PostgreSQL: what both could find is one alert; when the one that sends is killed after
 * the receiver has its message, the other sends that message again, with the same id.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { changeAccount } from '../support/operations.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres } from '../support/postgres.ts'
import { scenario } from '../support/scenario.ts'
import { answers, distinct, startReceiver } from './harness.ts'

/** A lease lasts 15 s, and the other node looks for it every 5 s. */

test('one alert from two gateways, and none is lost when the sender is killed', async () => {
  const server = await startPostgres()
  const receiver = await startReceiver()
  const gateways = await scenario({
    process: 'own',
    storeUrl: await server.createDatabase(),
    account: { balance_usd: '1' },
    settings: { alert_networks: '127.0.0.0/8' },
  })
  try {
    const { context, account } = gateways
    const input = { name: 'pager', format: 'webhook', address: receiver.url }
    valueOf(await alertEndpoints.create.operation(context, input))
    const nodes = new Map(
      await Promise.all(
        ['first', 'second'].map(
          async (name) => [name, await gateways.start({ node_name: name })] as const,
        ),
      ),
    )
    receiver.behave(() => undefined)
    await changeAccount(context, { account: account.id, alert_below_usd: '5' })
    const look = async () => {
      await setImmediate()
      return receiver.received
    }
    await eventually('the first attempt', look, (all) => all.length > 0)
    const [holder] = await context.database.query(
      `SELECT n.name FROM node_lease l JOIN gateway_node n ON n.id = l.node WHERE l.task = 'alerts'`,
    )
    const leader = String(holder?.['name'])
    nodes.get(leader)?.signal('SIGKILL')
    receiver.behave(answers(200))
    const all = await eventually('the second attempt', look, (seen) => seen.length > 1)
    assert.equal(distinct(all).size, 1)
    const delivered = () =>
      context.database.query(`SELECT state FROM alert_delivery WHERE state = 'delivered'`)
    await eventually('the mark', delivered, (rows) => rows.length === 1)
    const alerts = await context.database.query('SELECT id FROM alert')
    assert.equal(alerts.length, 1)
    const [next] = await context.database.query(
      `SELECT n.name FROM node_lease l JOIN gateway_node n ON n.id = l.node WHERE l.task = 'alerts'`,
    )
    assert.notEqual(String(next?.['name']), leader)
  } finally {
    await gateways.close()
    await receiver.close()
    await server.close()
  }
})
