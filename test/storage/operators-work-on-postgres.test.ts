/** What operators keep about their work means the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeWork } from './operators-work-conformance.ts'
import { openPostgresHarness } from './postgres-harness.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeWork('the work of operators on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
