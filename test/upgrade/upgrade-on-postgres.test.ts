/** Upgrades of stores on PostgreSQL. */
import { after, before } from 'node:test'
import { openStore } from '../../src/storage/open.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { loadPostgres } from './kept-store.ts'
import { describeUpgrades } from './upgrade-conformance.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())

describeUpgrades('a store of a released version on PostgreSQL', async (version) => {
  const url = await server.createDatabase()
  const database = await openStore(url)
  await loadPostgres(version, database)
  await database.close()
  return url
})
