/**
 * A start that fails because another gateway serves the store, or because a port is in use. Goal: the store
 * does not change, so that the running gateway keeps its admin token, its schema and its vendors.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { lockStore } from '../../src/storage/sqlite/lock.ts'
import { failure, newFolder } from '../support/command-line.ts'
import { send } from '../support/http-client.ts'
import { openProgram, type Program } from '../support/program.ts'

const former = `ad_former${'a'.repeat(37)}`
const other = `ad_other${'b'.repeat(38)}`
const anyPorts = { TURNPIKE_LISTEN: '127.0.0.1:0', TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }

describe('a start with another admin token', () => {
  it('keeps the token of the running gateway', async (test) => {
    const program = await openProgram({ TURNPIKE_ADMIN_TOKEN: former })
    test.after(() => program.close())
    const gateway = await program.serve()
    const before = await adminTokens(program)
    const refused = await failure(program.folder, 'serve', {
      ...anyPorts,
      TURNPIKE_ADMIN_TOKEN: other,
    })
    assert.deepEqual([refused.exit, refused.code], [1, 'operations.conflict'])
    assert.match(refused.message, /^Another gateway process is serving the store/)
    assert.deepEqual(await adminTokens(program), before)
    const headers = { authorization: `Bearer ${former}` }
    assert.equal((await send(`${gateway.adminUrl}/metrics`, { headers })).status, 200)
  })

  it('keeps the token of the earlier start where a port is in use', async (test) => {
    const program = await openProgram({ TURNPIKE_ADMIN_TOKEN: former })
    test.after(() => program.close())
    assert.equal(await (await program.serve()).stop(), 0)
    const before = await adminTokens(program)
    const taken = createServer().listen(0, '127.0.0.1')
    test.after(() => taken.close())
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const refused = await failure(program.folder, 'serve', {
      ...anyPorts,
      TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${port}`,
      TURNPIKE_ADMIN_TOKEN: other,
    })
    assert.match(refused.message, /^Port \d+ is already in use\./)
    assert.deepEqual(await adminTokens(program), before)
  })
})

describe('a start on a store that another process holds', () => {
  it('does not migrate its schema', async (test) => {
    const folder = newFolder()
    const path = join(folder, 'held.db')
    const lock = lockStore(path)
    test.after(() => lock.close())
    const environment = { ...anyPorts, TURNPIKE_STORE: `sqlite:${path}` }
    assert.equal((await failure(folder, 'serve', environment)).code, 'operations.conflict')
    assert.equal(existsSync(path), false)
  })
})

interface AdminToken {
  readonly status: string
  readonly head: string
}

function adminTokens(program: Program): Promise<readonly AdminToken[]> {
  return program.json<readonly AdminToken[]>('admin-token', 'list')
}
