/** Keys of all accounts mean the same on PostgreSQL. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeKeyList } from './key-list-conformance.ts'
import { openPostgresHarness } from './postgres-harness.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeKeyList('keys of all accounts on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
