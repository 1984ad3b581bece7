/**
 * Moves an operator from SQLite to PostgreSQL: everything worth keeping is copied, and the books are
 * audited on both sides before the new store may be used. May be broken off anywhere and asked again.
 * Neither side can be written meanwhile: the old one is locked, and nothing starts on the new one
 * before the copy is finished.
 */
import { resolve } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { Database, Queryable } from '../storage/database.ts'
import { demandStore } from '../storage/existing-store.ts'
import { parseStoreLocation } from '../storage/location.ts'
import { lockStore } from '../storage/lock.ts'
import { migrate } from '../storage/migrate.ts'
import { openStore } from '../storage/open.ts'
import {
  compareCounts,
  copyTables,
  isEmpty,
  stateOf,
  type CopiedTable,
  type CopyOptions,
} from '../storage/store-copy.ts'
import { liveNodes } from '../ledger/postgres/node-store.ts'
import { auditLedger, type AuditView } from './audit.ts'
import { conflict, invalid } from './context.ts'

export interface StoreCopyRequest {
  readonly from: string
  readonly to: string
  readonly clock: Clock
  /** Called when a page is durable. */
  readonly onPage?: CopyOptions['onPage']
}

export interface StoreCopyView {
  readonly tables: readonly CopiedTable[]
  /** Of the new store; the old one was clean before anything was copied. */
  readonly audit: AuditView
}

export async function copyStoreTo(request: StoreCopyRequest): Promise<StoreCopyView> {
  const from = parseStoreLocation(request.from)
  if (from.kind !== 'sqlite' || parseStoreLocation(request.to).kind !== 'postgres')
    throw invalid('A store is copied from sqlite:PATH to postgres://…, in no other direction.')
  await demandStore(request.from)
  const path = resolve(from.path)
  const lock = lockStore(path)
  try {
    const source = await openStore(`sqlite:${path}`)
    try {
      await migrate(source)
      // Its write lock is held to the end, so that no command writes what would be left behind.
      return await source.transact((standing) => fill(standing, path, request))
    } finally {
      await source.close()
    }
  } finally {
    lock.close()
  }
}

async function fill(
  source: Queryable,
  path: string,
  { to, clock, onPage = () => undefined }: StoreCopyRequest,
): Promise<StoreCopyView> {
  demandClean(await auditLedger({ database: still(source) }), 'old')
  const target = await openStore(to)
  try {
    await migrate(target)
    await begin(target, { path, state: await stateOf(source), atMs: clock.now() })
    const tables = await copyTables({ source, target, onPage })
    const differences = await compareCounts(source, target)
    if (differences.length > 0)
      throw conflict(`The copy is not complete: ${differences.join('; ')}.`)
    const audit = await auditLedger({ database: target })
    demandClean(audit, 'new')
    await target.transact((transaction) =>
      transaction.query('UPDATE store_copy SET finished_at_ms = $1', [clock.now()]),
    )
    return { tables, audit }
  } finally {
    await target.close()
  }
}

/** Marks the new store as one that is being filled, or finds the mark of a copy to go on with. */
async function begin(
  target: Database,
  copy: { readonly path: string; readonly state: string; readonly atMs: number },
): Promise<void> {
  await target.transact(async (transaction) => {
    const [known] = await transaction.query('SELECT * FROM store_copy')
    if (known !== undefined) {
      if (known['source'] !== copy.path || known['finished_at_ms'] !== null)
        throw conflict(
          `The new store is ${known['finished_at_ms'] === null ? 'being filled' : 'a copy made'} ` +
            `from ${String(known['source'])}. Give an empty database.`,
        )
      if (known['state_of_source'] !== copy.state)
        throw conflict(
          'The old store has been used since the copy was begun, so the halves would not fit. ' +
            'Give an empty database and copy anew.',
        )
      return
    }
    if (!(await isEmpty(transaction)))
      throw conflict('The new store is in use already. Give an empty database.')
    await transaction.query(
      'INSERT INTO store_copy (source, state_of_source, started_at_ms) VALUES ($1, $2, $3)',
      [copy.path, copy.state, copy.atMs],
    )
  })
  // After the mark: a gateway that starts from now on sees it, one that started before is seen here.
  const nodes = await liveNodes(target)
  if (nodes.length > 0)
    throw conflict(`Gateways are running on the new store (${nodes.join(', ')}). Stop them first.`)
}

function demandClean(audit: AuditView, side: 'old' | 'new'): void {
  if (audit.clean) return
  throw conflict(
    `The books of the ${side} store differ in ${audit.counts.differences} places. Run turnpike audit ` +
      'on it; nothing is moved before they agree.',
  )
}

/** A transaction that already stands still, as a database for readers. */
function still(source: Queryable): Database {
  return {
    dialect: 'sqlite',
    query: (sql, parameters) => source.query(sql, parameters),
    snapshot: (work) => work(source),
    transact: () => Promise.reject(invalid('the old store is only read')),
    close: () => Promise.resolve(),
  }
}
