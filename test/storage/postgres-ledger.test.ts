/** The ledger on PostgreSQL keeps the contract of every ledger. */
import { after, before } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeLedger } from './ledger-conformance.ts'
import { openPostgresHarness } from './postgres-harness.ts'

let server: PostgresServer
let url: string
before(async () => {
  server = await startPostgres()
  url = await server.createDatabase()
})
after(() => server.close())

describeLedger('the ledger on PostgreSQL', () => openPostgresHarness(url))
