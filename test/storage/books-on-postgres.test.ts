/** Statements and reconciliations mean the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeBooks } from './books-conformance.ts'
import { openPostgresHarness } from './postgres-harness.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeBooks('the books on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
