/** What becomes of the demo's account and keys when an operator applies a catalogue of their own. */
import { noCheck } from '../../src/operations/channels/run-check.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { demoCatalogueText } from '../../sandbox/demo.ts'
import { Secret } from '../../src/base/secret.ts'
import type { RunCheck } from '../../src/operations/channels/run-check.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { ManualClock } from '../support/manual-clock.ts'
import {
  applyCatalogue,
  createAccount,
  createClientKey,
  createReaderToken,
  listAccountKeys,
  setAccountStatus,
  showAccount,
  diagnose,
} from '../support/operations.ts'
import { openNewStore } from '../support/test-store.ts'

const ownCatalogue = `
models:
  large-1: { vendor: alpha, price: { input: 3, output: 15 } }
channels:
  vendor-main: { vendor: alpha, url: https://vendor.example, credential: sk-own, models: [large-1] }
`
const account = 'demo'

/** A store as the first start leaves it, with `maker` as the one who made the account. */
async function openDemo(t: TestContext, maker = 'start'): Promise<OperationContext> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-demo-'))
  const database = await openNewStore(folder)
  t.after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  await migrate(database)
  const context: OperationContext = {
    database,
    clock: new ManualClock(),
    actor: 'cli:test',
    masterKey: () => new Secret('0123456789abcdef'.repeat(4)),
    environment: () => undefined,
    runCheck: noCheck,
  }
  const made = { ...context, actor: maker }
  await applyCatalogue(made, { text: demoCatalogueText('http://127.0.0.1:9100') })
  await createAccount(made, { name: account, balance_usd: '10' })
  await createClientKey(made, { account, name: 'demo' })
  await createReaderToken(made, { account, name: 'demo' })
  return context
}

async function accessOf(context: OperationContext): Promise<readonly string[]> {
  const { status } = await showAccount(context, { account })
  const clients = await listAccountKeys(context, { account, kind: 'client' })
  const readers = await listAccountKeys(context, { account, kind: 'reader' })
  return [status, ...[...clients, ...readers].map((key) => key.state).sort()]
}

async function demoFindings(context: OperationContext): Promise<readonly string[]> {
  const run: RunCheck = () => Promise.resolve({ outcome: 'ok', durationMs: 1, status: 200 })
  const { findings } = await diagnose(context, {}, run)
  return findings.map(({ message }) => message).filter((message) => message.includes('demo'))
}

test('an own catalogue ends the account and the keys of the demo, and says how to keep them', async (t) => {
  const context = await openDemo(t)
  const planned = await applyCatalogue(context, { text: ownCatalogue, dry_run: true })
  assert.deepEqual(await accessOf(context), ['active', 'active', 'active'])
  const applied = await applyCatalogue(context, { text: ownCatalogue })
  assert.deepEqual(applied.diff, planned.diff)
  const ended = applied.diff.filter(({ kind }) => kind === 'account' || kind === 'key')
  assert.deepEqual(
    ended.map(({ action, kind }) => `${action} ${kind}`),
    ['retire account', 'retire key', 'retire key'],
  )
  assert.match(applied.notes.join('\n'), /turnpike account resume demo, then turnpike key create/)
  assert.deepEqual(await accessOf(context), ['suspended', 'revoked', 'revoked'])
  assert.deepEqual(await demoFindings(context), [])
})

test('an account that was resumed stays, with its new key, at the next apply', async (t) => {
  const context = await openDemo(t)
  await applyCatalogue(context, { text: ownCatalogue })
  await setAccountStatus(context, { account, status: 'active' })
  await createClientKey(context, { account, name: 'own' })
  await applyCatalogue(context, { text: ownCatalogue.replace('input: 3', 'input: 4') })
  assert.deepEqual(await accessOf(context), ['active', 'active', 'revoked', 'revoked'])
  assert.deepEqual(await demoFindings(context), [])
})

test('the demo on another port keeps its account and its keys', async (t) => {
  const context = await openDemo(t)
  await applyCatalogue(context, { text: demoCatalogueText('http://127.0.0.1:9999') })
  assert.deepEqual(await accessOf(context), ['active', 'active', 'active'])
  assert.deepEqual(await demoFindings(context), [])
})

test('an operator’s own account is not the demo’s, whatever its name', async (t) => {
  const context = await openDemo(t, 'cli:somebody')
  await applyCatalogue(context, { text: ownCatalogue })
  assert.deepEqual(await accessOf(context), ['active', 'active', 'active'])
})

test('doctor finds keys of the demo that are still valid beside an own catalogue', async (t) => {
  const context = await openDemo(t)
  await applyCatalogue({ ...context }, { text: 'channels: {}\nmodels: {}\nvendors: {}' })
  await applyCatalogue(context, { text: ownCatalogue })
  // As an earlier version left it, which knew nothing of the demo's end.
  await context.database.transact(async (transaction) => {
    await transaction.query('UPDATE key SET revoked_at_ms = NULL')
    await transaction.query("UPDATE account SET status = 'active'")
  })
  const [finding = ''] = await demoFindings(context)
  assert.match(finding, /turnpike key revoke key_\w+/)
  assert.match(finding, /turnpike token revoke key_\w+/)
  assert.match(finding, /turnpike account suspend demo/)
})
