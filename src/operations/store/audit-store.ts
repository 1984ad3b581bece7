/**
 * SQL of table ledger_audit: one row for each audit of the ledger that ran or could not run. Invariant: rows
 * are removed by age and number, but the newest result of each scope stays, because alerts follow from it.
 */
import { dayMs } from '../../base/clock.ts'
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import { auditScopes, type AuditResult, type AuditScope, type AuditView } from './audit-forms.ts'

export interface AuditRun {
  readonly id: string
  readonly scope: AuditScope
  readonly result: AuditResult
  /** As in the operators' log; `gateway:NAME` where a gateway ran it on schedule. */
  readonly actor: string
  readonly startedAtMs: number
  readonly durationMs: number
  /** Exchanges that ended before may be missing; 0 = none may. */
  readonly exchangesFromMs: number
  readonly counts: AuditView['counts']
  /** The first ones; `counts.differences` counts all. */
  readonly differences: AuditView['differences']
  /** Why it could not run. */
  readonly error: string | undefined
}

export interface ListedRun extends AuditRun {
  readonly sequence: number
}

const storedDifferencesMax = 100
const keptMs = 90 * dayMs
const rowsMax = 10_000

export async function insertAudit(transaction: Transaction, run: AuditRun): Promise<void> {
  await transaction.query(
    `INSERT INTO ledger_audit (id, scope, result, actor, started_at_ms, duration_ms, exchanges_from_ms,
       counts, differences, error)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (id) DO NOTHING`,
    [
      run.id,
      run.scope,
      run.result,
      run.actor,
      run.startedAtMs,
      Math.round(run.durationMs),
      run.exchangesFromMs,
      JSON.stringify(run.counts),
      JSON.stringify(run.differences.slice(0, storedDifferencesMax)),
      run.error ?? null,
    ],
  )
  await transaction.query(
    `DELETE FROM ledger_audit
      WHERE (started_at_ms < $1 OR sequence <= (SELECT MAX(sequence) FROM ledger_audit) - $2)
        AND sequence NOT IN (
          SELECT MAX(sequence) FROM ledger_audit WHERE result <> 'not_run' GROUP BY scope)`,
    [run.startedAtMs - keptMs, rowsMax],
  )
}

/** Lists the newest first. */
export async function listAudits(
  queryable: Queryable,
  page: { readonly beforeSequence: number; readonly countMax: number },
): Promise<readonly ListedRun[]> {
  const rows = await queryable.query(
    'SELECT * FROM ledger_audit WHERE sequence < $1 ORDER BY sequence DESC LIMIT $2',
    [page.beforeSequence, page.countMax],
  )
  return rows.map(readRun)
}

/** Returns the number of the newest audit; 0 where there is none. */
export async function newestAudit(queryable: Queryable): Promise<number> {
  const [row] = await queryable.query('SELECT MAX(sequence) AS sequence FROM ledger_audit')
  return Number(row?.['sequence'] ?? 0)
}

export async function findAudit(queryable: Queryable, id: string): Promise<ListedRun | undefined> {
  const [row] = await queryable.query('SELECT * FROM ledger_audit WHERE id = $1', [id])
  return row === undefined ? undefined : readRun(row)
}

/** Reads the newest audit of each scope that ran to its end. */
export async function readLatestResults(queryable: Queryable): Promise<readonly ListedRun[]> {
  const found: ListedRun[] = []
  for (const scope of auditScopes) {
    const rows = await queryable.query(
      `SELECT * FROM ledger_audit WHERE scope = $1 AND result <> 'not_run'
        ORDER BY sequence DESC LIMIT 1`,
      [scope],
    )
    found.push(...rows.map(readRun))
  }
  return found
}

const actorsMax = 1_000

/** Lists the newest audit of each actor since a moment. */
export async function listLatestByActor(
  queryable: Queryable,
  sinceMs: number,
): Promise<readonly ListedRun[]> {
  const rows = await queryable.query(
    `SELECT * FROM ledger_audit WHERE sequence IN (
       SELECT MAX(sequence) FROM ledger_audit WHERE started_at_ms >= $1 GROUP BY actor)
     ORDER BY sequence LIMIT $2`,
    [sinceMs, actorsMax],
  )
  return rows.map(readRun)
}

function readRun(row: Row): ListedRun {
  const error = row['error']
  return {
    sequence: Number(row['sequence']),
    id: String(row['id']),
    scope: String(row['scope']) as AuditScope,
    result: String(row['result']) as AuditResult,
    actor: String(row['actor']),
    startedAtMs: Number(row['started_at_ms']),
    durationMs: Number(row['duration_ms']),
    exchangesFromMs: Number(row['exchanges_from_ms']),
    counts: JSON.parse(String(row['counts'])) as AuditRun['counts'],
    differences: JSON.parse(String(row['differences'])) as AuditRun['differences'],
    error: typeof error === 'string' ? error : undefined,
  }
}
