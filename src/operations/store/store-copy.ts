/**
 * Copies a SQLite store to PostgreSQL and audits both sides. It may fail anywhere and be run again. The
 * invariant: no other process writes to either side meanwhile. The old store is locked, and no gateway
 * starts on the new store before the copy is complete.
 */
import { resolve } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { requireStore, openStore } from '../../storage/open.ts'
import { parseStoreLocation } from '../../storage/location.ts'
import { lockStore } from '../../storage/sqlite/lock.ts'
import { migrate, refuseForeignTables } from '../../storage/migrate.ts'
import {
  compareCounts,
  copyTables,
  isEmpty,
  stateOf,
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
  readonly clock: Clock
  /** Called when a page is durable in the new store. */
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
        return await source.transact((snapshot) => fill(snapshot, path, request))
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
  path: string,
  { to, clock, onPage = () => undefined }: StoreCopyRequest,
): Promise<StoreCopyView> {
  requireClean(await auditLedger({ database: readOnly(source) }), 'old')
  const target = await openStore(to)
  try {
    await migrate(target)
    await refuseForeignTables(target)
    await begin(target, { path, state: await stateOf(source), atMs: clock.now() })
    const tables = await copyTables({ source, target, onPage })
    const differences = await compareCounts(source, target)
    if (differences.length > 0)
      throw conflict(`The copy is not complete: ${differences.join('; ')}.`)
    const audit = await auditLedger({ database: target })
    requireClean(audit, 'new')
    await target.transact((transaction) =>
      transaction.query('UPDATE store_copy SET finished_at_ms = $1', [clock.now()]),
    )
    return { tables, audit }
  } finally {
    await target.close()
  }
}

/** Marks the new store as incomplete, or finds the mark of an earlier copy to continue. */
async function begin(
  target: Database,
  copy: { readonly path: string; readonly state: string; readonly atMs: number },
): Promise<void> {
  await target.transact(async (transaction) => {
    const [known] = await transaction.query('SELECT * FROM store_copy')
    if (known !== undefined) {
      if (known['source'] !== copy.path || known['finished_at_ms'] !== null)
        throw conflict(
          `The new store is ${known['finished_at_ms'] === null ? 'an incomplete copy' : 'a copy'} ` +
            `of ${String(known['source'])}. Use an empty database.`,
        )
      if (known['state_of_source'] !== copy.state)
        throw conflict(
          'The old store has changed since this copy began. Start again with an empty database.',
        )
      return
    }
    if (!(await isEmpty(transaction)))
      throw conflict('The new store is not empty. Use an empty database.')
    await transaction.query(
      'INSERT INTO store_copy (source, state_of_source, started_at_ms) VALUES ($1, $2, $3)',
      [copy.path, copy.state, copy.atMs],
    )
  })
  // Checked after the mark: a gateway that starts later sees the mark, an earlier one is seen here.
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
function readOnly(source: Queryable): Database {
  return {
    dialect: 'sqlite',
    query: (sql, parameters) => source.query(sql, parameters),
    snapshot: (work) => work(source),
    transact: () => Promise.reject(invalid('The old store is read-only.')),
    close: () => Promise.resolve(),
  }
}
