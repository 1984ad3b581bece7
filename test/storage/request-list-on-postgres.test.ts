/** The list of requests means the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { openPostgresHarness } from './postgres-harness.ts'
import { describeRequestList } from './request-list-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeRequestList('the list of requests on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
