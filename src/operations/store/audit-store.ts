/**
 * SQL of table ledger_audit: one row for each audit of the ledger that ran or could not run. Invariant: rows
 * are removed by age and number, but the newest result of each scope stays, because alerts follow from it.
 */
import { dayMs } from '../../base/clock.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'
import { auditScopes, type AuditResult, type AuditScope, type AuditView } from './audit-forms.ts'

const runForm = rowForm({
  id: column.text,
  scope: column.word<AuditScope>(),
  result: column.word<AuditResult>(),
  /** As in the operators' log; `gateway:NAME` where a gateway ran it on schedule. */
  actor: column.text,
  startedAtMs: column.number,
  durationMs: column.number,
  /** Exchanges that ended before may be missing; 0 = none may. */
  exchangesFromMs: column.number,
  counts: column.json<AuditView['counts']>(),
  /** The first ones; `counts.differences` counts all. */
  differences: column.json<AuditView['differences']>(),
  /** Why it could not run. */
  error: column.optional(column.text),
  sequence: column.number,
})
export type ListedRun = Read<typeof runForm>
export type AuditRun = Omit<ListedRun, 'sequence'>

const storedDifferencesMax = 100
const keptMs = 90 * dayMs
const rowsMax = 10_000

export async function insertAudit(transaction: Transaction, run: AuditRun): Promise<void> {
  const durationMs = Math.round(run.durationMs)
  const differences = run.differences.slice(0, storedDifferencesMax)
  const row = runForm.write({ ...run, durationMs, differences })
  await insertRow(transaction, 'ledger_audit', row, 'ON CONFLICT (id) DO NOTHING')
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
  return rows.map(runForm.read)
}

/** Returns the number of the newest audit; 0 where there is none. */
export async function newestAudit(queryable: Queryable): Promise<number> {
  const [row] = await queryable.query('SELECT MAX(sequence) AS sequence FROM ledger_audit')
  return Number(row?.['sequence'] ?? 0)
}

export async function findAudit(queryable: Queryable, id: string): Promise<ListedRun | undefined> {
  const [row] = await queryable.query('SELECT * FROM ledger_audit WHERE id = $1', [id])
  return row === undefined ? undefined : runForm.read(row)
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
    found.push(...rows.map(runForm.read))
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
  return rows.map(runForm.read)
}
