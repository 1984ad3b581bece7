/** Changes of single entries of the catalogue mean the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeEntries } from './catalogue-entries-conformance.ts'
import { describeEquivalence } from './catalogue-equivalence-conformance.ts'
import { openPostgresHarness } from './postgres-harness.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeEntries('entries of the catalogue on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
describeEquivalence('an entry and its file on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
