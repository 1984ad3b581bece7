/** Payments are booked the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describePayments } from './payments-conformance.ts'
import { openPostgresHarness } from './postgres-harness.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describePayments('payments on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
