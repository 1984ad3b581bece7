/** Changes on PostgreSQL are heard of without polling: the clock stands still, so no poll is ever made. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readRevisions, type RevisionWatch, watchRevisions } from '../../src/storage/changes.ts'
import type { RevisionArea } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import {
  listenForRevisions,
  openPostgres,
  type PostgresDatabase,
} from '../../src/storage/postgres/postgres.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

describe('changes of a store on PostgreSQL', () => {
  let server: PostgresServer
  let database: PostgresDatabase
  let watch: RevisionWatch
  let heard: (area: RevisionArea) => Promise<void>
  before(async () => {
    server = await startPostgres()
    const location = parsePostgresUrl(await server.createDatabase())
    database = await openPostgres(location)
    await migrate(database)
    const waiting = new Map<RevisionArea, () => void>()
    heard = (area) => new Promise((resolve) => waiting.set(area, resolve))
    watch = watchRevisions({
      database,
      clock: new ManualClock(),
      since: await readRevisions(database),
      onChange: async (area) => waiting.get(area)?.(),
      onError: (error) => assert.fail(String(error)),
      onRecovered: (area) => assert.fail(area),
      listen: (hint) => listenForRevisions({ location, hint }),
    })
  })
  after(async () => {
    watch.close()
    await database.close()
    await server.close()
  })

  it('are reported by area, also after the connection was cut', async () => {
    const account = heard('accounts')
    await database.query(
      "INSERT INTO account (id, name, created_at_ms) VALUES ('acc_one', 'one', 1)",
    )
    await account
    await server.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
    )
    const key = heard('access')
    await database.query(
      `INSERT INTO key (id, kind, account_id, head, secret_hash, created_at_ms)
       VALUES ('key_one', 'client', 'acc_one', 'cr_a', 'hash', 1)`,
    )
    await key
  })
})
