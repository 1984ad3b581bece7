/**
 * A start on PostgreSQL refuses a server or database that could lose a charge or cannot hold the store.
 * Goal: the program ends with the reason and without the password: 2 where the operator must change the
 * settings or the server, 1 where a later start may work.
 */
import assert from 'node:assert/strict'
import { readFileSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { failure, newFolder, run, runOn } from '../support/command-line.ts'
import { disguisePostgres } from '../support/disguised-postgres.ts'
import { findFreePort, startPostgres, type PostgresServer } from '../support/postgres.ts'

const masterKey = '7'.repeat(64)

interface Refused {
  readonly what: string
  /** Done to the database, as superuser. */
  readonly sql: (database: string) => string
  readonly exitCode: 1 | 2
  readonly text: RegExp
}

const refusals: readonly Refused[] = [
  {
    what: 'a database that answers before a commit is on its disk',
    sql: (database) => `ALTER DATABASE ${database} SET synchronous_commit = off`,
    exitCode: 2,
    text: /synchronous_commit = off[^]*ALTER ROLE … SET synchronous_commit = on/,
  },
  {
    what: 'a role that does not wait for the standby',
    sql: (database) => `ALTER ROLE turnpike IN DATABASE ${database} SET synchronous_commit = local`,
    exitCode: 2,
    text: /synchronous_commit = local/,
  },
  {
    what: 'a database that is only read',
    sql: (database) => `ALTER DATABASE ${database} SET default_transaction_read_only = on`,
    exitCode: 1,
    text: /the server is a standby or read-only/,
  },
  {
    what: 'a database whose tables another role may make',
    sql: (database) => `ALTER DATABASE ${database} OWNER TO postgres`,
    exitCode: 1,
    text: /permission denied for schema public/,
  },
]

describe('a start on PostgreSQL refuses', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())

  /** What `turnpike serve` says of this store. */
  async function refusal(
    store: string,
    exitCode: 1 | 2,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { exit, message } = await failure(newFolder(), 'serve', {
      ...environmentOf(store),
      ...environment,
      // Taken, so that a start which is not refused ends as well.
      TURNPIKE_LISTEN: `127.0.0.1:${server.port}`,
    })
    assert.equal(exit, exitCode, message)
    assert.ok(!message.includes(server.password), message)
    return message
  }

  for (const { what, sql, exitCode, text } of refusals)
    it(what, async () => {
      const url = await server.createDatabase()
      await server.run(sql(databaseOf(url)))
      assert.match(await refusal(url, exitCode), text)
    })

  for (const encoding of ['SQL_ASCII', 'LATIN1'])
    it(`a database in ${encoding}`, async () => {
      const name = `in_${encoding.toLowerCase()}`
      await server.run(
        `CREATE DATABASE ${name} OWNER turnpike ENCODING '${encoding}' TEMPLATE template0`,
      )
      assert.match(
        await refusal(server.urlOf(name), 2),
        new RegExp(`encoding ${encoding}; create one with ENCODING 'UTF8'`),
      )
    })

  it('a server older than 15', async () => {
    const url = await server.createDatabase()
    const real = await server.run('SHOW server_version_num')
    const disguised = await disguisePostgres(server, { real, shown: '149999' })
    try {
      const message = await refusal(withPort(url, disguised.port), 2)
      assert.match(message, /is too old; version 15 or newer is needed/)
    } finally {
      await disguised.close()
    }
  })

  it('a store that a newer Turnpike has used', async () => {
    const url = await server.createDatabase()
    const migrated = await run(newFolder(), ['migrate'], environmentOf(url))
    assert.equal(migrated.code, 0, migrated.error)
    await server.run(
      "INSERT INTO schemaversion (version, name, md5, run_at) VALUES (900, 'later', '', '')",
      databaseOf(url),
    )
    assert.match(await refusal(url, 1), /schema version 900[^]*newer Turnpike/)
  })

  it('nothing where a stored function differs: it is replaced, and the doctor only says so', async () => {
    const url = await server.createDatabase()
    const environment = environmentOf(url)
    assert.equal((await run(newFolder(), ['migrate'], environment)).code, 0)
    const place = databaseOf(url)
    await server.run("UPDATE stored_function SET md5 = '' WHERE name = 'store_time'", place)
    const doctor = await run(newFolder(), ['doctor', '--json'], environment)
    assert.equal(doctor.code, 1, doctor.error)
    assert.match(doctor.out, /lacks a change that this program needs\. .*turnpike migrate/)
    const migrated = await run(newFolder(), ['migrate', '--json'], environment)
    const applied = { applied: ['function store_time'], version: 1 }
    assert.deepEqual(JSON.parse(migrated.out), applied)
  })

  it('a server that does not answer, and an unknown database or user', async () => {
    const url = await server.createDatabase()
    const unused = await findFreePort()
    assert.match(
      await refusal(withPort(url, unused), 1),
      new RegExp(`127.0.0.1:${unused}.*ECONNREFUSED`),
    )
    assert.match(await refusal(server.urlOf('nowhere'), 1), /database "nowhere" does not exist/)
    const stranger = url.replace(server.password, 'a-wrong-word')
    const message = await refusal(stranger, 1)
    assert.match(message, /password authentication failed for user "turnpike"/)
    assert.ok(!message.includes('a-wrong-word'))
  })

  it('a port in use, and keeps the admin token that other gateways of the store accept', async () => {
    const url = await server.createDatabase()
    const ports = { TURNPIKE_LISTEN: '127.0.0.1:0', TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }
    await runOn(newFolder(), ['serve', '--json'], {
      ...environmentOf(url),
      ...ports,
      TURNPIKE_ADMIN_TOKEN: `ad_former${'a'.repeat(37)}`,
    })
    const tokens = (): ReturnType<typeof run> =>
      run(newFolder(), ['admin-token', 'list', '--json'], environmentOf(url))
    const before = await tokens()
    assert.match(before.out, /"state": "active"/)
    const other = { TURNPIKE_ADMIN_TOKEN: `ad_other${'b'.repeat(38)}` }
    assert.match(await refusal(url, 1, other), /^Port \d+ is already in use\./)
    assert.deepEqual(await tokens(), before)
  })

  it('to make an admin token that no file can take, and makes it on the next start', async () => {
    const url = await server.createDatabase()
    const ports = { TURNPIKE_LISTEN: '127.0.0.1:0', TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }
    const environment = { ...environmentOf(url), ...ports }
    const inProc = await runOn('/proc', ['serve', '--json'], environment)
    assert.deepEqual([inProc['admin_token'], inProc['admin_token_file']], [null, null])
    const tokens = await run(newFolder(), ['admin-token', 'list', '--json'], environment)
    assert.deepEqual(JSON.parse(tokens.out), [])
    const folder = newFolder()
    const served = await runOn(folder, ['serve', '--json'], environment)
    const path = String(served['admin_token_file'])
    assert.equal(dirname(path), realpathSync(folder))
    assert.match(readFileSync(path, 'utf8'), /^ad_\w{49}\n$/)
  })

  it('to read where there is no store, and creates none', async () => {
    const url = await server.createDatabase()
    const refused = await failure(newFolder(), 'audit', environmentOf(url))
    assert.deepEqual([refused.exit, refused.code], [1, 'operations.not_found'])
    assert.match(refused.message, /There is no store in that database/)
    const tables = "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'"
    assert.equal((await server.run(tables, databaseOf(url))).trim(), '0')
  })

  it('a server that does not sync its disk', async () => {
    const url = await server.createDatabase()
    await server.restart('fast', { fsync: 'off' })
    try {
      assert.match(await refusal(url, 2), /fsync = off[^]*Set fsync = on/)
    } finally {
      await server.restart('fast', {})
    }
  })
})

function environmentOf(store: string): Readonly<Record<string, string>> {
  return { TURNPIKE_STORE: store, TURNPIKE_MASTER_KEY: masterKey }
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

function withPort(url: string, port: number): string {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}
