/** The PostgreSQL that other tests stand on: it is real, durable, and leaves nothing behind. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

describe('the PostgreSQL server of the tests', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())

  test('runs without privileges and keeps its promise of durability', async () => {
    const { uid } = await stat(join(server.folder, 'data'))
    assert.notEqual(uid, 0)
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes'])
      assert.equal(await server.run(`SHOW ${name}`), 'on')
  })

  test('gives each test a database of its own, whose role is no superuser', async () => {
    const [one, other] = [await server.createDatabase(), await server.createDatabase()]
    assert.notEqual(one, other)
    assert.equal(await server.run(`SELECT rolsuper FROM pg_roles WHERE rolname = 'turnpike'`), 'f')
  })

  test('keeps commits over a crash, on the same port', async () => {
    const { port } = server
    await server.run('CREATE TABLE kept AS SELECT 7 AS value')
    await server.restart('immediate', { synchronous_commit: 'off' })
    assert.equal(server.port, port)
    assert.equal(await server.run('SELECT value FROM kept'), '7')
    assert.match(server.log(), /not properly shut down/)
    assert.equal(await server.run('SHOW synchronous_commit'), 'off')
    await server.restart('fast', {})
    assert.equal(await server.run('SHOW synchronous_commit'), 'on')
  })
})

test('a PostgreSQL goes away with the test process, however that ends', async () => {
  const child = fork(join(import.meta.dirname, '..', 'support', 'postgres-holder.ts'))
  const [{ folder, pid }] = (await once(child, 'message')) as [{ folder: string; pid: number }]
  assert.ok(existsSync(folder))
  child.kill('SIGKILL')
  await once(child, 'exit')
  // The server and its watch have no parent any more; their ends are seen from outside only.
  while (existsSync(folder) || isRunning(pid)) await new Promise((resolve) => setImmediate(resolve))
})

/** Of a process that has ended and was not fetched by anyone yet, the command line is empty. */
function isRunning(pid: number): boolean {
  const path = `/proc/${pid}/cmdline`
  try {
    return readFileSync(path, 'utf8') !== ''
  } catch {
    return false
  }
}
