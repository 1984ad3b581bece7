/** Stores on PostgreSQL of every earlier schema, opened by this program. */
import { after, before } from 'node:test'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { describeUpgrades } from './earlier-schemas.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeUpgrades('a store on PostgreSQL', async () => {
  const location = parsePostgresUrl(await server.createDatabase())
  const database = await openPostgres(location, { connectionsMax: 2 })
  return { database, close: () => database.close() }
})
