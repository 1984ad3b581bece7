/** Members of accounts mean the same on PostgreSQL. */
import { after, before } from 'node:test'
import { openPostgresHarness } from './postgres-harness.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeMembers } from './members-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeMembers('members on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
