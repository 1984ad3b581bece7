/**
 * The restore drill on PostgreSQL, with the server's own tools as docs/operating.md names them: one
 * moment is dumped while clients are being served, restored into another database, audited, and
 * served from. What a client had seen the end of before has to be there.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AuditView } from '../../src/operations/store/audit-forms.ts'
import { wireRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario, sharedMasterKey } from '../support/scenario.ts'
import { send, usage } from '../support/http-client.ts'
import { runPostgresProgram } from '../support/postgres-programs.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { openProgram, type Program } from '../support/program.ts'
import { backUpUnderLoad, demandCharges } from './backup-load.ts'

let server: PostgresServer
let gateway: Scenario
let account: TestAccount
let elsewhere: Program
let acknowledged: readonly string[] = []

before(async () => {
  server = await startPostgres()
  const storeUrl = await server.createDatabase()
  gateway = await scenario({ storeUrl })
  account = await gateway.createAccount({ balance_usd: '100' })
  const file = join(server.folder, 'one.dump')
  const taken = await backUpUnderLoad(gateway, account, () =>
    runPostgresProgram('pg_dump', ['--format=custom', `--file=${file}`, storeUrl]),
  )
  acknowledged = taken.acknowledged
  assert.ok(taken.answeredWhile > 0, 'clients were served meanwhile')
  const restoredUrl = await server.createDatabase()
  await runPostgresProgram('pg_restore', [
    '--exit-on-error',
    '--no-owner',
    `--dbname=${restoredUrl}`,
    file,
  ])
  elsewhere = await openProgram({
    TURNPIKE_STORE: restoredUrl,
    TURNPIKE_MASTER_KEY: sharedMasterKey,
  })
})
after(async () => {
  await elsewhere.close()
  await gateway.close()
  await server.close()
})

test('a restored backup has every acknowledged charge and passes the audit', async () => {
  const { clean, counts } = await elsewhere.json<AuditView>('audit')
  assert.equal(clean, true)
  assert.ok(counts.charges >= acknowledged.length)
  await demandCharges(elsewhere, account, acknowledged)
})

test('a gateway serves from the restored store and continues its ledger', async () => {
  const serving = await elsewhere.serve()
  const requests = async (): Promise<number> =>
    ((await usage(serving.url, account.token, 'total'))['usage'] as { requests: number }).requests
  const beforehand = await requests()
  const wire = wireRequest(account.key, { format: 'messages', isStream: false })
  const answer = await send(`${serving.url}/alpha/v1/messages`, wire)
  assert.equal(answer.status, 200, answer.body.toString())
  assert.equal(await requests(), beforehand + 1)
  assert.equal(await serving.stop(), 0)
  assert.equal((await elsewhere.json<AuditView>('audit')).clean, true)
})
