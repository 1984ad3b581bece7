/**
 * A process that saves another credential of a channel is killed (kill -9) at every step of the save. The
 * channel then has the old credential or the new one, never none, and the former one fits to it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '../../src/base/secret.ts'
import { readCatalogue } from '../../src/channels/channel-store.ts'
import { findFormerCredential } from '../../src/channels/former-credential-store.ts'
import { credentialField } from '../../src/channels/snapshot.ts'
import { contextOn } from '../../src/operations/context.ts'
import { unseal } from '../../src/storage/master-key.ts'
import { applyCatalogue } from '../support/operations.ts'
import { startPostgres } from '../support/postgres.ts'
import { openEmbedded } from './embedded-harness.ts'
import type { LedgerHarness } from './ledger-harness.ts'
import { openPostgresHarness } from './postgres-harness.ts'

const script = join(import.meta.dirname, 'credential-saving-process.ts')
const masterKey = new Secret('5'.repeat(64))
const [oldSecret, newSecret] = ['sk-old-secret', 'sk-new-secret']
const catalogue = `
models:
  large-1: { vendor: alpha, price: { input: 3, output: 15 } }
channels:
  main: { vendor: alpha, url: "https://main.example", credential: ${oldSecret}, models: [large-1] }
`

test('a credential is the old or the new one after kill -9, on the embedded store', async () => {
  const harness = await openEmbedded()
  try {
    await crashAndSave(harness, `sqlite:${harness.path}`)
  } finally {
    await harness.close()
  }
})

test('a credential is the old or the new one after kill -9, on PostgreSQL', async () => {
  const server = await startPostgres()
  try {
    const url = await server.createDatabase()
    const harness = await openPostgresHarness(url)
    try {
      await crashAndSave(harness, url)
    } finally {
      await harness.close()
    }
  } finally {
    await server.close()
  }
})

async function crashAndSave(harness: LedgerHarness, storeUrl: string): Promise<void> {
  const { database } = harness
  const context = contextOn(database, { actor: 'test', masterKey: () => masterKey })
  await applyCatalogue(context, { text: catalogue })
  const found: string[] = []
  for (let step = 1; ; step++) {
    const wasKilled = await saveUntil(storeUrl, step)
    found.push(await inForce(harness))
    if (!wasKilled || step > 50) break
    if (found.at(-1) === newSecret) continue
    assert.equal(await formerOf(harness), undefined)
  }
  // At least the channel, its former credential and the operators' log are written before the commit.
  const kept = found.lastIndexOf(oldSecret) + 1
  assert.ok(kept >= 4, found.join(' '))
  assert.deepEqual(new Set(found.slice(0, kept)), new Set([oldSecret]))
  assert.deepEqual(new Set(found.slice(kept)), new Set([newSecret]))
  assert.equal(await formerOf(harness), oldSecret)
}

/** Returns whether the process was killed at this step; with fewer steps it ends by itself. */
async function saveUntil(storeUrl: string, step: number): Promise<boolean> {
  const child = spawn(process.execPath, [script, storeUrl, 'main', newSecret, String(step)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.ok(signal === 'SIGKILL' || code === 0, `exit code ${code}`)
  return signal === 'SIGKILL'
}

async function inForce({ database }: LedgerHarness): Promise<string> {
  const { channels } = await readCatalogue(database)
  assert.equal(channels.length, 1)
  return open(channels[0]?.credential ?? '')
}

async function formerOf({ database }: LedgerHarness): Promise<string | undefined> {
  const former = await findFormerCredential(database, { channel: 'main', nowMs: Date.now() })
  return former && open(former.credential)
}

function open(sealed: string): string {
  const opened = unseal(masterKey, { owner: 'main', field: credentialField }, sealed)
  assert.equal(opened.kind, 'unsealed')
  return opened.secret.reveal()
}
