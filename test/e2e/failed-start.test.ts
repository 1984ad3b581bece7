/**
 * A start that fails in a later step leaves nothing behind: no lock on the store, no connection,
 * thread, timer or socket. Goal: what the process and the store's server have is what they had before,
 * and the same store can be served at once.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { createApp, type App } from '../../src/gateway/app.ts'
import { systemClock } from '../../src/base/clock.ts'
import { seededRandom } from '../../src/base/random.ts'
import { Secret } from '../../src/base/secret.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { lockStore } from '../../src/storage/sqlite/lock.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { findFreePort, startPostgres, type PostgresServer } from '../support/postgres.ts'

describe('a failed start', () => {
  let folder: string
  let storePath: string
  /** Holds the port that the operator's address would need: the step that comes after all others. */
  let taken: Server
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turnpike-'))
    storePath = join(folder, 'turnpike.db')
    taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
  })
  after(async () => {
    taken.close()
    await rm(folder, { recursive: true })
  })

  const takenPort = (): number => (taken.address() as AddressInfo).port

  function start(
    ports: { readonly main?: number; readonly admin?: number },
    store: string,
  ): Promise<App> {
    const loaded = loadConfig({
      options: {},
      env: {
        TURNPIKE_STORE: store,
        TURNPIKE_LISTEN: `127.0.0.1:${ports.main ?? 0}`,
        TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${ports.admin ?? 0}`,
        TURNPIKE_MASTER_KEY: '3'.repeat(64),
      },
      cwd: folder,
    })
    assert.equal(loaded.kind, 'config')
    return createApp(loaded.config, {
      clock: systemClock,
      random: seededRandom(1),
      log: pino({ level: 'silent' }),
      environment: () => undefined,
      masterKey: () => new Secret('3'.repeat(64)),
      onFatal(error) {
        throw error
      },
    })
  }

  /** `fail` rejects, and soon afterwards the process has no more than before. */
  async function leavesNothing(fail: () => Promise<unknown>): Promise<void> {
    const before = lasting()
    await fail()
    let more = lasting()
    // What is closed has its turns to go; what is not stays however many there are.
    for (let turns = 0; turns < 50_000 && more.length > 0; turns++) {
      await setImmediate()
      more = lasting()
      for (const kind of before) {
        const index = more.indexOf(kind)
        if (index !== -1) more.splice(index, 1)
      }
    }
    assert.deepEqual(more, [])
  }

  it('for a port in use frees the store and its own port', async () => {
    const main = await findFreePort()
    const ports = { main, admin: takenPort() }
    await leavesNothing(() =>
      assert.rejects(start(ports, `sqlite:${storePath}`), { code: 'EADDRINUSE' }),
    )
    const [error] = (await once(connect(main, '127.0.0.1'), 'error')) as [{ code: string }]
    assert.equal(error.code, 'ECONNREFUSED')
    const app = await start({ main }, `sqlite:${storePath}`)
    await app.close()
  })

  it('for a store of a newer version leaves it unlocked', async () => {
    const database = await openStore(`sqlite:${storePath}`)
    await migrate(database)
    await database.query(
      "INSERT INTO schemaversion (version, name, md5, run_at) VALUES (900, 'later', '', '')",
    )
    await database.close()
    await leavesNothing(() => assert.rejects(start({}, `sqlite:${storePath}`), /newer Turnpike/))
    lockStore(storePath).close()
  })

  describe('on PostgreSQL', () => {
    let server: PostgresServer
    let url: string
    before(async () => {
      server = await startPostgres()
      url = await server.createDatabase()
    })
    after(() => server.close())

    it('leaves no connection and no node row', async () => {
      await leavesNothing(() =>
        assert.rejects(start({ admin: takenPort() }, url), { code: 'EADDRINUSE' }),
      )
      const name = new URL(url).pathname.slice(1)
      const backends = `SELECT count(*) FROM pg_stat_activity WHERE datname = '${name}'`
      while ((await server.run(backends)) !== '0');
      assert.equal(await server.run('SELECT count(*) FROM node', name), '0')
      const app = await start({}, url)
      await app.close()
    })
  })
})

/** What keeps this process alive, by kind. */
function lasting(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => !kind.startsWith('FSReq'))
}
