/**
 * Copies a SQLite store to PostgreSQL and audits both sides. It may fail anywhere and be run again: the new
 * store has all of the copy or none. The invariant: no other process writes to either side meanwhile. The
 * old store is locked, and one transaction of the new store keeps other writers waiting.
 */
import { resolve } from 'node:path'
import type { Database, Dialect, Queryable, Transaction } from '../../storage/database.ts'
import { requireStore, openStore } from '../../storage/open.ts'
import { parseStoreLocation } from '../../storage/location.ts'
import { lockStore } from '../../storage/sqlite/lock.ts'
import { migrate, refuseForeignTables } from '../../storage/migrate.ts'
import {
  compareCounts,
  copyTables,
  isEmpty,
  type CopiedTable,
  type CopyOptions,
} from '../../storage/store-copy.ts'
import { listHoldLeases } from '../../storage/node-store.ts'
import { auditLedger } from './audit.ts'
import type { AuditView } from './audit-forms.ts'
import { attempt, conflict, invalid, type Outcome } from '../operation.ts'

export interface StoreCopyRequest {
  readonly from: string
  readonly to: string
  /** Called when a page is written to the new store. */
  readonly onPage?: CopyOptions['onPage']
}

export interface StoreCopyView {
  readonly tables: readonly CopiedTable[]
  /** The audit of the new store. The old one passed before the copy began. */
  readonly audit: AuditView
}

export function copyStoreTo(request: StoreCopyRequest): Promise<Outcome<StoreCopyView>> {
  return attempt(async () => {
    const from = parseStoreLocation(request.from)
    if (from.kind !== 'sqlite' || parseStoreLocation(request.to).kind !== 'postgres')
      throw invalid('A store can be copied only from sqlite:PATH to postgres://…')
    await requireStore(request.from)
    const path = resolve(from.path)
    const lock = lockStore(path)
    try {
      const source = await openStore(`sqlite:${path}`)
      try {
        await migrate(source)
        // Held to the end, so that no command writes to the old store during the copy.
        return await source.transact((snapshot) => fill(snapshot, request))
      } finally {
        await source.close()
      }
    } finally {
      lock.close()
    }
  })
}

async function fill(
  source: Queryable,
  { to, onPage = () => undefined }: StoreCopyRequest,
): Promise<StoreCopyView> {
  requireClean(await auditLedger({ database: readOnly(source, 'sqlite') }), 'old')
  const target = await openStore(to)
  try {
    await migrate(target)
    await refuseForeignTables(target)
    return await target.transact(async (transaction) => {
      await refuseUsed(transaction)
      const tables = await copyTables({ source, target: transaction, onPage })
      const differences = await compareCounts(source, transaction)
      if (differences.length > 0)
        throw conflict(`The copy is not complete: ${differences.join('; ')}.`)
      const audit = await auditLedger({ database: readOnly(transaction, 'postgres') })
      requireClean(audit, 'new')
      return { tables, audit }
    })
  } finally {
    await target.close()
  }
}

async function refuseUsed(target: Transaction): Promise<void> {
  if (!(await isEmpty(target))) throw conflict('The new store is not empty. Use an empty database.')
  const nodes = await listHoldLeases(target)
  if (nodes.length > 0)
    throw conflict(`Gateways are running on the new store (${nodes.join(', ')}). Stop them first.`)
}

function requireClean(audit: AuditView, side: 'old' | 'new'): void {
  if (audit.clean) return
  throw conflict(
    `Ledger audit of the ${side} store failed: ${audit.counts.differences} differences. ` +
      'For details run turnpike audit on it. A store that fails the audit cannot be copied.',
  )
}

/** Wraps a transaction as a read-only database. */
function readOnly(source: Queryable, dialect: Dialect): Database {
  return {
    dialect,
    query: (sql, parameters) => source.query(sql, parameters),
    snapshot: (work) => work(source),
    transact: () => Promise.reject(invalid('The copy is only read.')),
    close: () => Promise.resolve(),
  }
}
