/** The chains of sealed entries are the same on PostgreSQL. */
import { after, before } from 'node:test'
import { openPostgresHarness } from './postgres-harness.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeProofs } from './proofs-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeProofs('sealed entries on PostgreSQL', async () =>
  openPostgresHarness(await server.createDatabase()),
)
