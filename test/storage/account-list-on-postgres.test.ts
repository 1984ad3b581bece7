/** The list of accounts means the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { openPostgresHarness } from './postgres-harness.ts'
import { describeAccountList } from './account-list-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeAccountList('the list of accounts on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
