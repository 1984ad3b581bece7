/** Refunds mean the same on PostgreSQL, and with two gateways at once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Secret } from '../../src/base/secret.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { refundRequest } from '../support/operations.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { findDifferences, holdRequest, makeAccount, mustPlace, recordOf } from './ledger-harness.ts'
import { openPostgresHarness } from './postgres-harness.ts'
import { describeRefunds } from './refunds-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeRefunds('refunds on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)

test('two nodes refund each charge once, while both charge the account', async () => {
  const url = await server.createDatabase()
  const harness = await openPostgresHarness(url)
  const stores = await Promise.all([0, 1].map(() => openPostgres(parsePostgresUrl(url))))
  try {
    const nodes = [harness.ledger, await harness.openNode()]
    const accountId = await makeAccount(harness, { balancePicos: 10_000n })
    const chargeOn = async (index: number): Promise<string> => {
      const ledger = nodes[index % nodes.length] ?? harness.ledger
      const hold = await mustPlace(ledger, holdRequest(harness, accountId, 9n))
      await ledger.settle(hold, recordOf(hold, 7n, { endedAtMs: harness.clock.now() }))
      return hold.exchangeId
    }
    const refundOn = (index: number, request: string) =>
      refundRequest(
        {
          database: stores[index % stores.length] ?? harness.database,
          clock: harness.clock,
          actor: `node ${index}`,
          masterKey: () => new Secret('5'.repeat(64)),
          environment: () => undefined,
          runCheck: noCheck,
        },
        { request },
      )
    const charged = await Promise.all(Array.from({ length: 30 }, (_, index) => chargeOn(index)))
    const [refunds] = await Promise.all([
      Promise.all(
        charged.flatMap((request) =>
          Array.from({ length: 4 }, (_, index) => refundOn(index, request)),
        ),
      ),
      Promise.all(Array.from({ length: 60 }, (_, index) => chargeOn(index))),
    ])
    assert.equal(refunds.filter(({ repeated }) => !repeated).length, 30)
    for (const ledger of nodes) {
      const usage = await ledger.usage(accountId, 'day', harness.clock.now())
      assert.equal(usage?.balancePicos, 10_000n - 60n * 7n)
      assert.equal(usage.dailyUsedPicos, 60n * 7n)
    }
    assert.deepEqual(await findDifferences(harness.database), [])
  } finally {
    await Promise.all(stores.map((store) => store.close()))
    await harness.close()
  }
})
