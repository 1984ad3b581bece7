/**
 * The store itself goes away under a gateway: the outbox is in it, so the message goes out from memory, and
 * so does that of its end.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startPostgres } from '../support/postgres.ts'
import { scenario } from '../support/scenario.ts'
import { dataOf, startReceiver } from './harness.ts'

test('store.outage: the PostgreSQL server ends and starts again', async () => {
  const server = await startPostgres()
  const receiver = await startReceiver()
  const clock = new ManualClock(Date.now())
  const gateway = await scenario({
    clock,
    storeUrl: await server.createDatabase(),
    settings: { alert_networks: '127.0.0.0/8', node_name: 'node-1' },
  })
  /** Time passes; while the store is away a round may fail. */
  const look = async () => {
    clock.advance(1_000)
    await gateway.app.alerting.round().catch(() => undefined)
    await gateway.app.alerting.settled()
    await setImmediate()
    return receiver.received
  }
  const ask = async () => (await gateway.ask({ format: 'messages', isStream: false })).status
  try {
    const target = {
      name: 'pager',
      format: 'webhook',
      address: receiver.url,
      min_severity: 'critical',
    }
    valueOf(await alertEndpoints.create.operation(gateway.context, target))
    await look()
    await server.stop('immediate')
    await eventually('a refused request', ask, (status) => status === 503)
    const [out] = await eventually('the alert', look, ({ length }) => length > 0)
    assert.equal(dataOf(out)['kind'], 'store.outage')
    assert.equal(dataOf(out)['severity'], 'critical')
    assert.equal(dataOf(out)['subject'], 'node-1')
    await server.start()
    await eventually('an answered request', ask, (status) => status === 200)
    const all = await eventually('its end', look, ({ length }) => length > 1)
    assert.equal(dataOf(all[1])['state'], 'resolved')
    assert.equal(dataOf(all[1])['id'], dataOf(out)['id'])
    assert.equal(all.length, 2, 'each once')
  } finally {
    await gateway.close()
    await receiver.close()
    await server.close()
  }
})
