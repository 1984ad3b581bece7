/** Embedded stores for tests: a folder of their own, migrated, gone afterwards. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmbeddedLedger } from '../../src/ledger/embedded/ledger.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { ManualClock } from '../support/manual-clock.ts'
import type { LedgerHarness } from './ledger-harness.ts'

export interface EmbeddedHarness extends LedgerHarness {
  readonly path: string
  /** What the ledger has reported as beyond repair, and the exchanges the store refused. */
  readonly fatalErrors: readonly Error[]
  readonly faults: readonly string[]
}

export function makeFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'turnpike-store-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export async function openEmbedded(
  options: { readonly pagesMax?: number } = {},
): Promise<EmbeddedHarness> {
  const folder = makeFolder()
  const path = join(folder.path, 'store.db')
  const database = openSqlite(path)
  await migrate(database)
  const removeAll = async (): Promise<void> => {
    await database.close()
    folder.remove()
  }
  return openLedger({ path, database, clock: new ManualClock(), removeAll, ...options })
}

interface Store {
  readonly path: string
  readonly database: Database
  readonly clock: ManualClock
  readonly pagesMax?: number
  removeAll(): Promise<void>
}

async function openLedger(store: Store): Promise<EmbeddedHarness> {
  const fatalErrors: Error[] = []
  const faults: string[] = []
  const ledger = await createEmbeddedLedger({
    ...store,
    onFatal: (error) => fatalErrors.push(error),
    onFault: (_error, exchangeId) => faults.push(exchangeId),
  })
  return {
    path: store.path,
    ledger,
    clock: store.clock,
    database: store.database,
    fatalErrors,
    faults,
    becomeCurrent: () => ledger.refresh(),
    async restart() {
      await ledger.close()
      return openLedger(store)
    },
    async close() {
      await ledger.close()
      await store.removeAll()
    },
  }
}
