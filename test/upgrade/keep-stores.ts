/**
 * Makes the stores that `kept-store.ts` keeps: a gateway with simulated vendors serves accounts, and the
 * texts are taken while an answer is on its way, so that a hold is open. `node scripts/run.mjs keep-stores`
 * runs it.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hourMs } from '../../src/base/clock.ts'
import { thisBuild } from '../../src/base/build.ts'
import { sealHours } from '../../src/ledger/proof/sealing.ts'
import {
  createAccount,
  createAdminToken,
  createClientKey,
  creditAccount,
  refundRequest,
  revokeKey,
} from '../support/operations.ts'
import { startPostgres } from '../support/postgres.ts'
import { scenario, sharedMasterKey, type Scenario } from '../support/scenario.ts'
import { dumpPostgres, dumpSqlite, keptAccount, openKept, pathOfKept } from './kept-store.ts'

const { version } = thisBuild()

/** Writes both texts of the version that package.json names; returns their paths. */
export async function keepStores(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-keep-'))
  const server = await startPostgres()
  try {
    const path = join(folder, 'turnpike.db')
    await keep('sqlite', `sqlite:${path}`, () => dumpSqlite(path))
    const url = await server.createDatabase()
    await keep('postgres', url, () => dumpPostgres(server.urlOf(new URL(url).pathname.slice(1))))
    return [pathOfKept(version, 'sqlite'), pathOfKept(version, 'postgres')]
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

async function keep(
  dialect: 'sqlite' | 'postgres',
  storeUrl: string,
  dump: () => string | Promise<string>,
): Promise<void> {
  const gateway = await scenario({
    storeUrl,
    masterKey: sharedMasterKey,
    settings: { node_name: 'kept' },
    fill: async (context, vendorUrl) => {
      await createAccount(context, { name: keptAccount, balance_usd: '100', monthly_usd: '50' })
      return openKept(context, vendorUrl)
    },
  })
  try {
    await fill(gateway)
    gateway.sandbox.faults.set('alpha-main', { hold: 'open@before_head' })
    const held = gateway.ask({ format: 'messages', isStream: false, marker: 'open' })
    await gateway.sandbox.faults.reached('open')
    writeFileSync(pathOfKept(version, dialect), await dump())
    gateway.sandbox.faults.release('open')
    assert.equal((await held).status, 200)
  } finally {
    await gateway.close()
  }
}

/** Every kind of row that a business has after its first day. */
async function fill(gateway: Scenario): Promise<void> {
  const { context, account } = gateway
  const answers = [
    await gateway.ask({ format: 'messages', isStream: true }),
    await gateway.ask({ format: 'chat', isStream: true }),
    await gateway.ask({ format: 'responses', isStream: false }),
    await gateway.ask({ format: 'embeddings', isStream: false }),
  ]
  for (const answer of answers) assert.equal(answer.status, 200)
  const missing = await gateway.ask({ format: 'messages', isStream: false, model: 'unknown' })
  assert.equal(missing.status, 404)
  await gateway.ended(account, answers.length)
  const second = await gateway.createAccount({ balance_usd: '5', daily_usd: '1', rpm: 60 })
  await creditAccount(context, { account: second.name, amount_usd: '2', reference: 'bank-1' })
  const [first] = answers
  await refundRequest(context, {
    request: first?.headers['x-turnpike-request-id'],
    amount_usd: '0.00001',
  })
  const old = await createClientKey(context, { account: second.name, name: 'old' })
  await revokeKey(context, { kind: 'client', id: old.key.id })
  const { secret } = await createAdminToken(context, { name: 'kept', role: 'owner' })
  const admin = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(`${gateway.adminUrl}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.text()}`)
  }
  await admin('/notes', { account: account.id, text: 'Pays in advance.' })
  await admin('/codes', { amount_usd: '10', count: 2 })
  // Entries and charges of this hour are sealed with a signed head; the credit after them is not.
  await sealHours(context.database, {
    nowMs: context.clock.now() + hourMs,
    masterKey: context.masterKey(),
    pause: () => Promise.resolve(),
  })
  await admin('/audits', {})
  await creditAccount(context, { account: second.name, amount_usd: '3', reference: 'bank-2' })
}
