/**
 * What a pool does when its server has room for fewer connections than it would like. The room is
 * set by the database's own limit, which a server that is full words alike.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import type { PostgresConnection } from '../../src/storage/postgres/connection.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { PostgresPool } from '../../src/storage/postgres/pool.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

interface Lent {
  readonly connection: PostgresConnection
  /** Gives it back; resolves when the pool has it. */
  giveBack(): Promise<void>
}

describe('a pool on a server without free connections', () => {
  let server: PostgresServer
  let database: string
  let pool: PostgresPool
  let lent: Lent[]
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())
  beforeEach(async () => {
    const url = await server.createDatabase()
    database = new URL(url).pathname.slice(1)
    pool = new PostgresPool({ location: parsePostgresUrl(url), connectionsMax: 3 })
    lent = []
  })
  afterEach(async () => {
    await Promise.all(lent.map((one) => one.giveBack()))
    await pool.close()
  })

  const makeRoom = (connections: number): Promise<string> =>
    server.run(`ALTER DATABASE ${database} CONNECTION LIMIT ${connections}`)
  /** Twice: between the two the pool has heard of the first. */
  async function hasRefused(): Promise<void> {
    const words = `too many connections for database "${database}"`
    await eventually(
      'the server has refused twice',
      () => nextTurn(server.log().split(words).length - 1),
      (count) => count >= 2,
    )
  }

  const isFoundAgain = (): Promise<boolean> =>
    eventually('it is available', () => nextTurn(pool.isAvailable()), Boolean)

  async function lend(): Promise<Lent> {
    const arrived = Promise.withResolvers<PostgresConnection>()
    const over = Promise.withResolvers<void>()
    const used = pool.use((connection) => {
      arrived.resolve(connection)
      return over.promise
    })
    used.catch(arrived.reject)
    const connection = await arrived.promise
    const one: Lent = {
      connection,
      giveBack() {
        over.resolve()
        return used
      },
    }
    lent.push(one)
    return one
  }
  /** The process on the server behind a connection that the pool lends now. */
  const ask = (): Promise<unknown> =>
    pool.use(async (connection) => (await connection.query('SELECT pg_backend_pid() AS id'))[0])

  it('shares its connections between callers', async () => {
    await makeRoom(2)
    const first = await lend()
    const second = await lend()
    const third = ask()
    await hasRefused()
    await first.giveBack()
    await third
    assert.equal(pool.isAvailable(), true)
    await second.giveBack()
    await Promise.all(Array.from({ length: 20 }, ask))
    assert.equal(pool.isAvailable(), true)
  })

  it('serves all concurrent callers with the connections it gets', async () => {
    await makeRoom(1)
    const answers = await Promise.all([ask(), ask(), ask()])
    assert.equal(new Set(answers.map((answer) => JSON.stringify(answer, asText))).size, 1)
    assert.equal(pool.isAvailable(), true)
  })

  it('opens its first connection alone, because a nearly full server may refuse all of several', async (context) => {
    let connectionCount = 0
    const refusing = createServer((socket) => {
      connectionCount++
      socket.resetAndDestroy()
    })
    refusing.listen(0, '127.0.0.1')
    context.after(() => void refusing.close())
    await once(refusing, 'listening')
    const { port } = refusing.address() as AddressInfo
    const location = parsePostgresUrl(`postgres://turnpike@127.0.0.1:${port}/turnpike`)
    const first = new PostgresPool({ location, connectionsMax: 3 })
    context.after(() => first.close())
    const answers = await Promise.allSettled(
      [1, 2, 3].map(() => first.use(() => Promise.resolve())),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set(['rejected']))
    assert.equal(connectionCount, 1)
  })

  it('opens one more connection for waiting callers when the server has one', async () => {
    await makeRoom(1)
    const first = await lend()
    const second = ask()
    await hasRefused()
    await makeRoom(2)
    await second
    await first.giveBack()
  })

  it('rejects waiting callers when its last connection is lost', async () => {
    await makeRoom(1)
    const last = await lend()
    const waiting = assert.rejects(ask(), { code: 'ledger.unavailable' })
    await hasRefused()
    await makeRoom(0)
    const isLost = new Promise<void>((resolve) => last.connection.onEnd(resolve))
    await server.terminateBackends()
    await isLost
    await last.giveBack()
    await waiting
    assert.equal(pool.isAvailable(), false)
    await assert.rejects(ask(), { code: 'ledger.unavailable' })
  })

  it('reconnects by itself after its last connection was lost', async () => {
    await makeRoom(1)
    const last = await lend()
    const isLost = new Promise<void>((resolve) => last.connection.onEnd(resolve))
    await makeRoom(0)
    await server.terminateBackends()
    await isLost
    await last.giveBack()
    await assert.rejects(ask(), { code: 'ledger.unavailable' })
    await makeRoom(1)
    await isFoundAgain()
    await ask()
  })

  it('uses no connection to a server with unsafe settings', async () => {
    const first = await lend()
    const second = await lend()
    await first.giveBack()
    await setFsync('off')
    try {
      const third = await lend()
      await assert.rejects(ask(), { code: 'ledger.unavailable' })
      await Promise.all([second, third].map((one) => one.giveBack()))
      await assert.rejects(ask(), { code: 'ledger.unavailable' })
    } finally {
      await setFsync('on')
    }
    await isFoundAgain()
    await ask()
  })

  async function setFsync(value: 'on' | 'off'): Promise<void> {
    await server.run(`ALTER SYSTEM SET fsync = ${value}`)
    await server.run('SELECT pg_reload_conf()')
    await eventually(
      'it has read its settings',
      () => server.run('SHOW fsync'),
      (shown) => shown === value,
    )
  }
})

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
