/**
 * Restores a backup of sealed books: an entry in the chain says that it was done, the next hour signs it, and
 * holders verify what they had before the backup. A head from after the backup is not in the new chain.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, it } from 'node:test'
import { findHead } from '../../src/ledger/proof/seal-store.ts'
import { contextOn } from '../../src/operations/context.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { verifyStatement } from '../../src/operations/reports/verify-statement.ts'
import { auditLedger } from '../../src/operations/store/audit.ts'
import { backupStore, restoreStore } from '../../src/operations/store/backup.ts'
import { openStore } from '../../src/storage/open.ts'
import { makeFolder, openEmbedded, type EmbeddedHarness } from '../storage/embedded-harness.ts'
import { addCredit, makeAccount } from '../storage/ledger-harness.ts'
import { chargeBills, sealNextHour, verifiableOf } from '../support/sealed-books.ts'

let harness: EmbeddedHarness
let folder: ReturnType<typeof makeFolder>
beforeEach(async () => {
  folder = makeFolder()
  harness = await openEmbedded()
})
afterEach(async () => {
  await harness.close()
  folder.remove()
})

it('signs an entry that says when the backup was made', async () => {
  const account = await makeAccount(harness, { balancePicos: 10_000_000_000_000n })
  await chargeBills(harness, account)
  await sealNextHour(harness)
  const atBackup = await verifiableOf(harness, account)
  const context = contextOn(harness.database, { clock: harness.clock, actor: 'cli:ada' })
  const { file } = valueOf(await backupStore(context, { file: join(folder.path, 'copy.db') }))
  await addCredit(harness, account, 1n)
  await sealNextHour(harness)
  const lost = await verifiableOf(harness, account)

  const path = join(folder.path, 'restored.db')
  valueOf(await restoreStore({ file, location: { kind: 'sqlite', path } }))
  const database = await openStore(`sqlite:${path}`)
  try {
    const restored = { database, clock: harness.clock }
    // The restore has the time of this machine.
    harness.clock.advance(Math.max(0, Date.now() - harness.clock.now()))
    await sealNextHour(restored)
    assert.deepEqual((await auditLedger({ database })).differences, [])
    const newer = await verifiableOf(restored, account)
    const entry = newer.entries.at(-1)
    assert.match(entry?.reference ?? '', /^restored:2026-11-21T1/)
    const head = await findHead(database, account)
    assert.deepEqual([head?.place, head?.hash], [entry?.proof?.place, entry?.proof?.hash])
    assert.deepEqual(verifyStatement(newer, { older: atBackup }).problems, [])
    assert.match(
      verifyStatement(newer, { older: lost }).problems.join(),
      /that you kept is not in the newer books/,
    )
  } finally {
    await database.close()
  }
})
