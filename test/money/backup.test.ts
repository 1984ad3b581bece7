/**
 * The restore drill, by the commands alone: a backup taken while clients are being served, put back
 * in another place, audited, and served from. What a client had seen the end of before the backup
 * began has to be there. No timing: the load goes on until the backup has been taken.
 */
import assert from 'node:assert/strict'
import { copyFile, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AuditView } from '../../src/operations/store/audit-forms.ts'
import type { BackupView } from '../../src/operations/store/backup.ts'
import { runCommand, type Ran } from '../support/command-hosts.ts'
import { wireRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { send, usage } from '../support/http-client.ts'
import { openProgram, type Program } from '../support/program.ts'
import { backUpUnderLoad, demandCharges } from './backup-load.ts'

let gateway: Scenario
let account: TestAccount
let elsewhere: Program
let acknowledged: readonly string[] = []
let backup: BackupView
let answeredWhile = 0

function here(...words: readonly string[]): Promise<Ran> {
  const env = { TURNPIKE_STORE: `sqlite:${gateway.folder}/turnpike.db` }
  return runCommand(words, { cwd: gateway.folder, env })
}

before(async () => {
  gateway = await scenario()
  account = await gateway.createAccount({ balance_usd: '100' })
  elsewhere = await openProgram()
  const taken = await backUpUnderLoad(gateway, account, () =>
    here('backup', 'copies/one.db', '--json'),
  )
  acknowledged = taken.acknowledged
  answeredWhile = taken.answeredWhile
  const ran = taken.result
  assert.equal(ran.code, 0, ran.error)
  backup = JSON.parse(ran.out) as BackupView
})
after(async () => {
  await elsewhere.close()
  await gateway.close()
})

test('a backup under load is private, intact and passes the audit', async () => {
  assert.ok(answeredWhile > 0, 'clients were served meanwhile')
  const { mode } = await stat(backup.file)
  assert.equal(mode & 0o777, 0o600)
  assert.deepEqual(await readdir(join(gateway.folder, 'copies')), ['one.db'])
  assert.equal(backup.audit.clean, true)
  assert.ok(backup.audit.counts.charges >= acknowledged.length)
  assert.equal(backup.last_entry?.sequence, backup.audit.counts.entries)
})

test('a restored backup has every acknowledged charge, passes the audit and serves', async () => {
  const restored = await elsewhere.json('restore', backup.file)
  assert.deepEqual(restored['audit'], backup.audit)
  await copyFile(join(gateway.folder, 'master.key'), join(elsewhere.folder, 'data', 'master.key'))
  await demandCharges(elsewhere, account, acknowledged)
  const { entries } = await elsewhere.json<{ entries: Record<string, unknown>[] }>(
    'account',
    'statement',
    account.name,
  )
  const restoredEntry = entries.at(-1)
  assert.deepEqual([restoredEntry?.['kind'], restoredEntry?.['amount']], ['adjustment', '0'])
  assert.match(String(restoredEntry?.['reference']), /^restored:20.*Z$/)

  const serving = await elsewhere.serve()
  const beforehand = await usage(serving.url, account.token, 'total')
  const wire = wireRequest(account.key, { format: 'messages', isStream: false })
  const answer = await send(`${serving.url}/alpha/v1/messages`, wire)
  assert.equal(answer.status, 200, answer.body.toString())
  const afterwards = await usage(serving.url, account.token, 'total')
  const requests = (figures: Record<string, unknown>): number =>
    (figures['usage'] as { requests: number }).requests
  assert.equal(requests(beforehand), backup.audit.counts.charges)
  assert.equal(requests(afterwards), requests(beforehand) + 1)
  assert.equal(await serving.stop(), 0)
  assert.equal((await elsewhere.json<AuditView>('audit'))['clean'], true)
})

test('neither a backup nor a restore overwrites a file', async () => {
  const before = await readFile(backup.file)
  const again = await here('backup', 'copies/one.db')
  assert.equal(again.code, 1)
  assert.match(again.error, /is not overwritten/)
  assert.deepEqual(await readFile(backup.file), before)
  const over = await here('restore', backup.file)
  assert.equal(over.code, 1)
  assert.match(over.error, /turnpike\.db already/)
  assert.equal((await gateway.audit()).clean, true)
})

test("a restore is refused where another store's log is left behind", async () => {
  const program = await openProgram()
  try {
    await mkdir(join(program.folder, 'data'))
    await program.write('data/turnpike.db-wal', 'of another store')
    const refused = await program.run('restore', backup.file)
    assert.equal(refused.code, 1)
    assert.match(refused.error, /turnpike\.db-wal already/)
  } finally {
    await program.close()
  }
})

test('a damaged file is refused and leaves no file behind', async () => {
  const program = await openProgram()
  try {
    const bytes = await readFile(backup.file)
    bytes.fill(0x55, 4_096 * 3, 4_096 * 6)
    await writeFile(join(program.folder, 'damaged.db'), bytes)
    const refused = await program.run('restore', 'damaged.db')
    assert.equal(refused.code, 1)
    assert.match(refused.error, /The copy is damaged: /)
    const left = (await readdir(join(program.folder, 'data'))).filter((name) => !/lock/.test(name))
    assert.deepEqual(left, [])
  } finally {
    await program.close()
  }
})

test('a copy whose audit fails is kept as evidence and reported', async () => {
  const program = await openProgram()
  try {
    await program.json('restore', backup.file)
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(join(program.folder, 'data', 'turnpike.db'))
    database
      .prepare('UPDATE account SET balance_picos = balance_picos + 1 WHERE id = ?')
      .run(account.id)
    database.close()
    const ran = await program.run('backup', 'evidence.db', '--json')
    assert.equal(ran.code, 1)
    const { audit } = JSON.parse(ran.out) as BackupView
    assert.deepEqual(
      audit.differences.map(({ invariant }) => invariant),
      ['I1'],
    )
    assert.equal((await stat(join(program.folder, 'evidence.db'))).mode & 0o777, 0o600)
  } finally {
    await program.close()
  }
})
