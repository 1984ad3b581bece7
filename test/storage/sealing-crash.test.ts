/**
 * A process that seals is killed (kill -9) in the middle, again and again, while the account is charged. Then
 * every entry has its place in the chain once, and the last head covers all of them.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { hourMs } from '../../src/base/clock.ts'
import { findHead } from '../../src/ledger/proof/seal-store.ts'
import { startPostgres } from '../support/postgres.ts'
import { openEmbedded } from './embedded-harness.ts'
import { charge, findDifferences, makeAccount, type LedgerHarness } from './ledger-harness.ts'
import { openPostgresHarness } from './postgres-harness.ts'

const script = join(import.meta.dirname, 'sealing-process.ts')
/** More than three transactions seal. */
const chargeCount = 800
/** How many lines each process prints before it is killed; the last one runs to its end. */
const killedAfter = [1, 1, 2, undefined]

test('a chain is whole after kill -9, on the embedded store', async () => {
  const harness = await openEmbedded()
  try {
    await crashAndSeal(harness, `sqlite:${harness.path}`)
  } finally {
    await harness.close()
  }
})

test('a chain is whole after kill -9, on PostgreSQL', async () => {
  const server = await startPostgres()
  try {
    const url = await server.createDatabase()
    const harness = await openPostgresHarness(url)
    try {
      await crashAndSeal(harness, url)
    } finally {
      await harness.close()
    }
  } finally {
    await server.close()
  }
})

async function crashAndSeal(harness: LedgerHarness, url: string): Promise<void> {
  const accountId = await makeAccount(harness, { balancePicos: 10_000n })
  const chargeMany = (count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => charge(harness, accountId, 3n)))
  for (let charged = 0; charged < chargeCount; charged += 100) await chargeMany(100)
  harness.clock.advance(hourMs)
  for (const count of killedAfter) {
    await Promise.all([sealUntil(harness, { url, count }), chargeMany(5)])
    assert.deepEqual(await findDifferences(harness.database), [])
  }
  harness.clock.advance(hourMs)
  await sealUntil(harness, { url, count: undefined })
  assert.deepEqual(await findDifferences(harness.database), [])
  const head = await findHead(harness.database, accountId)
  const charges = chargeCount + 5 * killedAfter.length
  assert.deepEqual([head?.place, head?.sumPicos], [1 + charges, 10_000n - 3n * BigInt(charges)])
}

/** The process is killed after `count` lines; undefined = it ends by itself. */
async function sealUntil(
  { clock }: LedgerHarness,
  { url, count }: { readonly url: string; readonly count: number | undefined },
): Promise<void> {
  const child = spawn(process.execPath, [script, url, String(clock.now())], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  let lines = 0
  for await (const line of createInterface(child.stdout)) {
    assert.match(line, /^(page|sealed)$/)
    if (++lines === count) child.kill('SIGKILL')
  }
  const [code] = (await ended) as [number | null]
  if (count === undefined) assert.equal(code, 0)
}
