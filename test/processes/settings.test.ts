/** Starts of several processes that cannot work, and what one process says of it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { failure, newFolder, run, runOn } from '../support/command-line.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { openProgram } from '../support/program.ts'

describe('turnpike serve --processes', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())

  it('is refused on SQLite, with what to do instead', async () => {
    for (const [line, environment] of [
      ['serve --processes 2', {}],
      ['serve', { TURNPIKE_PROCESSES: '2' }],
    ] as const) {
      const { exit, message } = await failure(newFolder(), line, environment)
      assert.equal(exit, 2)
      assert.match(message, /only one process can use a SQLite file.*postgres:\/\/.*store copy/s)
      assert.match(message, line === 'serve' ? /TURNPIKE_PROCESSES needs/ : /--processes needs/)
    }
  })

  it('refuses a wrong number', async () => {
    for (const given of ['0', '1.5', 'all', '257']) {
      const { exit, message } = await failure(newFolder(), `serve --processes ${given}`)
      assert.equal(exit, 2)
      assert.match(message, /whole number from 1 to 256, or auto/)
    }
  })

  it('is one process on SQLite with auto, which says so and ignores SIGUSR2', async () => {
    const program = await openProgram({ TURNPIKE_PROCESSES: 'auto' })
    try {
      const serving = await program.serve()
      assert.match(
        serving.output(),
        /"processes":"auto","store":"sqlite","msg":"one process serves"/,
      )
      process.kill(serving.pid, 'SIGUSR2')
      assert.equal(await serving.stop(), 0)
      assert.match(serving.output(), /SIGUSR2 ignored/)
    } finally {
      await program.close()
    }
  })

  it('ends with the message of the first process where that cannot start', async () => {
    const url = (await server.createDatabase()).replace(/:[^:@]*@/, ':wrong@')
    const environment = environmentOf(url)
    const one = await failure(newFolder(), 'serve', environment)
    const two = await failure(newFolder(), 'serve --processes 2', environment)
    assert.deepEqual(two, one)
    assert.match(two.message, /password authentication failed/)
  })

  it('prints one document and makes one admin token, and can be stopped meanwhile', async () => {
    const environment = environmentOf(await server.createDatabase())
    const folder = newFolder()
    const words = ['serve', '--processes', '3', '--json']
    const document = await runOn(folder, words, environment)
    assert.match(String(document['address']), /^127\.0\.0\.1:\d+$/)
    assert.match(String(document['admin_token_file']), /\.admin-token$/)
    const listed = await run(folder, ['admin-token', 'list', '--json'], environment)
    assert.equal((listed.out.match(/"head": "ad_/g) ?? []).length, 1, listed.out + listed.error)
  })

  it('says which port is in use', async () => {
    const environment = {
      ...environmentOf(await server.createDatabase()),
      TURNPIKE_LISTEN: `127.0.0.1:${server.port}`,
    }
    const { exit, message } = await failure(newFolder(), 'serve --processes 2', environment)
    assert.equal(exit, 1)
    assert.match(
      message,
      new RegExp(`Port ${server.port} is already in use\\. Set TURNPIKE_LISTEN`),
    )
  })
})

function environmentOf(store: string) {
  return {
    TURNPIKE_STORE: store,
    TURNPIKE_MASTER_KEY: '7'.repeat(64),
    TURNPIKE_LISTEN: '127.0.0.1:0',
    TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
  }
}
