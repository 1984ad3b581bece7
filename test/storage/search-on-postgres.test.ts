/** The search means the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { openPostgresHarness } from './postgres-harness.ts'
import { describeSearch } from './search-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeSearch('the search on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
