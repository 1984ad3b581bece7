/**
 * A gateway dies by kill -9 while it serves. What its vendor counted then is in no book. Goal: the stop is
 * recorded with its window, and the reconciliation shows it beside what the vendor counted more.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { reconcileChannel, type Reconciliation } from '../../src/operations/reconcile/reconcile.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { chargesOf } from '../support/money.ts'
import { openAsk, sendAsk, type Ask } from '../support/requests.ts'
import { scenario, type ProcessScenario } from '../support/scenario.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

const lost = 5
const ask: Ask = { format: 'messages', isStream: true, sandbox: 'input=20; output=6' }
const vendorCounts = (requests: number): string =>
  `model,requests,input,output\nlarge-1,${requests},${requests * 20},${requests * 6}\n`

async function reconcile(setup: ProcessScenario, counts: string) {
  const day = (offset: number): string =>
    new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
  return valueOf(
    await reconcileChannel(setup.context, {
      channel: 'alpha-main',
      from: day(-1),
      to: day(1),
      vendor_counts: counts,
    }),
  )
}

/** The vendor's requests for the only model, and the gateway's own. */
function requestsOf([model]: Reconciliation['models']): readonly unknown[] {
  const requests = model?.counts.find(({ figure }) => figure === 'requests')
  return [requests?.vendor, requests?.expected]
}

/** Has a gateway die in the middle of five streams. */
async function die(setup: ProcessScenario): Promise<void> {
  const gateway = await setup.start()
  const { key } = setup.account
  const held = { ...ask, sandbox: 'input=20; output=6; hold=gate@mid' }
  const clients = Array.from({ length: lost }, () => openAsk(gateway.url, key, held))
  for (const client of clients) await client.until((text) => text !== '')
  gateway.signal('SIGKILL')
  await gateway.ended
  setup.sandbox.faults.release('gate')
}

function testStop(open: () => Promise<ProcessScenario>): void {
  let setup: ProcessScenario
  before(async () => {
    setup = await open()
  })
  after(() => setup.close())

  test('is not reported before one happened', async () => {
    const gateway = await setup.start()
    await sendAsk(gateway.url, setup.account.key, ask)
    gateway.signal('SIGTERM')
    assert.equal(await gateway.ended, 0)
    const { unclean_stops, models } = await reconcile(setup, vendorCounts(1 + lost))
    assert.deepEqual(unclean_stops, [])
    assert.deepEqual(requestsOf(models), [1 + lost, 1])
  })

  test('is recorded, and shown beside what the vendor counted more', async () => {
    const killedAfterMs = Date.now()
    await die(setup)
    const { database } = setup.context
    // One gateway of several counts as running for 15 seconds: let them have passed.
    if (database.dialect === 'postgres')
      await database.query(
        'UPDATE gateway_node SET seen_at_ms = seen_at_ms - 20000 WHERE ended_at_ms IS NULL',
      )
    const next = await setup.start()
    const { unclean_stops, models } = await reconcile(setup, vendorCounts(1 + lost))
    assert.equal((await chargesOf(database)).size, 1)
    const [stop] = unclean_stops
    assert.equal(unclean_stops.length, 1)
    assert.ok(Date.parse(stop?.from ?? '') >= killedAfterMs - 30_000)
    assert.ok(Date.parse(stop?.to ?? '') <= Date.now() + 1_000)
    assert.deepEqual(requestsOf(models), [1 + lost, 1])
    next.signal('SIGTERM')
    assert.equal(await next.ended, 0)
  })
}

describe('an unclean stop, on SQLite', () => testStop(() => scenario({ process: 'own' })))

describe('an unclean stop, on PostgreSQL', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())
  testStop(async () => scenario({ process: 'own', storeUrl: await server.createDatabase() }))
})
