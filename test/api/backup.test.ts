/**
 * A backup through the admin API and by the command on another machine: it is the store, it is whole or it is
 * no file, and only a backup whose last byte was sent is in the operators' log.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { auditLedger } from '../../src/operations/store/audit.ts'
import type { BackupView } from '../../src/operations/store/backup.ts'
import { openSqliteReadOnly } from '../../src/storage/sqlite/sqlite.ts'
import { newFolder, run, type Ran } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { openUnread, send } from '../support/http-client.ts'
import { createAdminToken, recentActions } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

/** More than the buffers of a connection hold. */
const ballastBytes = 24_000_000

let gateway: Scenario
let secret: string
let authorization: string
const servers: Server[] = []

before(async () => {
  gateway = await scenario()
  assert.equal((await gateway.ask({ format: 'messages', isStream: false })).status, 200)
  const { database } = gateway.context
  await database.query('CREATE TABLE ballast AS SELECT randomblob($1) AS content', [ballastBytes])
  secret = (await createAdminToken(gateway.context, { name: 'ops', role: 'owner' })).secret
  authorization = `Bearer ${secret}`
})

after(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  await gateway.close()
})

const url = (): string => `${gateway.adminUrl}/admin/v1/backup`

async function recordedDigests(action = 'store.backup'): Promise<readonly unknown[]> {
  const actions = await recentActions(gateway.context, { limit: 1000, action })
  return actions.map(({ detail }) => detail['sha256'])
}

/** Runs `backup FILE` through a server. */
function backUp(cwd: string, words: readonly string[], server = gateway.adminUrl): Promise<Ran> {
  return run(cwd, ['backup', ...words], { TURNPIKE_SERVER: server, TURNPIKE_TOKEN: secret })
}

/** Starts a server that answers with these headers and bytes; `isCut` destroys the connection then. */
async function startSender(
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  isCut: boolean,
): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, headers)
    response.write(body, () => (isCut ? response.destroy() : response.end()))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a backup through the admin API', () => {
  it('is the store, with its length and its digest, and is recorded when it was sent', async () => {
    const answer = await send(url(), { headers: { authorization } })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/vnd.sqlite3')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers['content-length'], String(answer.body.length))
    assert.equal(answer.headers['x-turnpike-audit'], 'passed')
    const sha256 = hash('sha256', answer.body, 'base64')
    assert.equal(answer.headers['repr-digest'], `sha-256=:${sha256}:`)
    await eventually(
      'it is recorded',
      () => recordedDigests(),
      (digests) => digests.includes(sha256),
    )
    const listed = await send(`${url()}s`, { headers: { authorization } })
    const [backup] = (JSON.parse(listed.body.toString()) as { items: object[] }).items
    assert.partialDeepStrictEqual(backup, {
      actor_name: 'ops',
      file: null,
      bytes: answer.body.length,
      sha256,
      audit: 'passed',
    })

    const file = join(newFolder(), 'copy.db')
    await writeFile(file, answer.body)
    const copy = openSqliteReadOnly(file)
    try {
      const { clean, counts } = await auditLedger({ database: copy })
      assert.equal(clean, true)
      assert.equal(counts.charges, 1)
    } finally {
      await copy.close()
    }
    assert.deepEqual(await leftOvers(), [])
  })

  it('is one at a time, and a client that leaves makes no backup, but a line that it began', async () => {
    const before = await recordedDigests()
    const begunBefore = await recordedDigests('store.download')
    const first = await openUnread(url(), { headers: { authorization } })
    assert.equal(first.statusCode, 200)
    assert.deepEqual(await leftOvers(), [])
    const beside = await send(url(), { headers: { authorization } })
    assert.equal(beside.status, 409)
    assert.match(beside.body.toString(), /making or sending a backup already/)
    assert.equal((await recordedDigests('store.download')).length, begunBefore.length + 1)
    first.destroy()
    const again = (): ReturnType<typeof send> => send(url(), { headers: { authorization } })
    const next = await eventually('the next one is made', again, ({ status }) => status === 200)
    const sha256 = hash('sha256', next.body, 'base64')
    await eventually(
      'it is recorded',
      () => recordedDigests(),
      (digests) => digests.includes(sha256),
    )
    assert.equal((await recordedDigests()).length, before.length + 1)
  })

  it('is not made for a HEAD request', async () => {
    const before = await recordedDigests()
    const answer = await send(url(), { method: 'HEAD', headers: { authorization } })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/vnd.sqlite3')
    assert.equal(answer.headers['repr-digest'], undefined)
    assert.deepEqual(await recordedDigests(), before)
  })
})

describe('the command backup through a server', () => {
  it('saves a private file that can be restored', async () => {
    const cwd = newFolder()
    const ran = await backUp(cwd, ['copies/one.db', '--json'])
    assert.equal(ran.code, 0, ran.error)
    const backup = JSON.parse(ran.out) as BackupView
    assert.equal(backup.file, join(cwd, 'copies', 'one.db'))
    assert.equal(backup.is_recorded, true)
    assert.equal(backup.audit.clean, true)
    assert.deepEqual(await readdir(join(cwd, 'copies')), ['one.db'])
    assert.equal((await stat(backup.file)).mode & 0o777, 0o600)
    const place = { TURNPIKE_STORE: `sqlite:${join(newFolder(), 'turnpike.db')}` }
    const restored = await run(cwd, ['restore', backup.file, '--json'], place)
    assert.equal(restored.code, 0, restored.error)
    assert.deepEqual((JSON.parse(restored.out) as BackupView).audit, backup.audit)
    assert.equal((await run(cwd, ['audit'], place)).code, 0)
  })

  it('replaces no file', async () => {
    const cwd = newFolder({ 'one.db': 'precious' })
    const before = await recordedDigests()
    const ran = await backUp(cwd, ['one.db'])
    assert.equal(ran.code, 1)
    assert.match(ran.error, /is not overwritten\. Name another file/)
    assert.equal(await readFile(join(cwd, 'one.db'), 'utf8'), 'precious')
    assert.deepEqual(await recordedDigests(), before)
  })

  it('leaves no file where the answer is cut, or has changed on its way', async () => {
    const whole = await send(url(), { headers: { authorization } })
    const headers = {
      'content-length': String(whole.body.length),
      'repr-digest': String(whole.headers['repr-digest']),
      'x-turnpike-taken-at': String(whole.headers['x-turnpike-taken-at']),
    }
    const changed = Buffer.from(whole.body)
    changed.writeUInt8(changed.readUInt8(5_000) ^ 1, 5_000)
    const half = whole.body.subarray(0, whole.body.length / 2)
    const { 'repr-digest': _, ...withoutDigest } = headers
    const cases = [
      [await startSender(headers, half, true), /before the answer was complete/],
      [await startSender(headers, changed, false), /its digest is another one/],
      [await startSender(withoutDigest, whole.body, false), /cannot be checked/],
    ] as const
    for (const [server, why] of cases) {
      const cwd = newFolder()
      const ran = await backUp(cwd, ['one.db'], server)
      assert.equal(ran.code, 1)
      assert.match(ran.error, why)
      assert.deepEqual(await readdir(cwd), [])
    }
  })

  it('refuses a token that is no owner', async () => {
    const cwd = newFolder()
    const { secret: low } = await createAdminToken(gateway.context, { role: 'operator' })
    const ran = await run(cwd, ['backup', 'one.db', '--json'], {
      TURNPIKE_SERVER: gateway.adminUrl,
      TURNPIKE_TOKEN: low,
    })
    assert.equal(ran.code, 1)
    assert.match(ran.out, /access\.role_insufficient/)
    assert.deepEqual(await readdir(cwd), [])
  })
})

async function leftOvers(): Promise<readonly string[]> {
  return (await readdir(gateway.folder)).filter((name) => name.includes('unfinished'))
}
