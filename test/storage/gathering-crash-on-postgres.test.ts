/** kill -9 at each step of the commit of charges that gather, on PostgreSQL. */
import { after, before, describe } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { testGatheringCrashes } from './gathering-crash.ts'
import { openPostgresHarness, type PostgresHarness } from './postgres-harness.ts'

describe('a process killed on PostgreSQL', () => {
  let server: PostgresServer
  let storeUrl: string
  let harness: PostgresHarness
  before(async () => {
    server = await startPostgres()
    storeUrl = await server.createDatabase()
    harness = await openPostgresHarness(storeUrl)
  })
  after(async () => {
    await harness.close()
    await server.close()
  })

  testGatheringCrashes(() => ({ harness, storeUrl }))
})
