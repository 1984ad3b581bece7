/**
 * SQL of table alert: each condition from the moment it holds until it no longer does. Invariant: at most
 * one alert of a kind and subject is firing, whichever nodes find the condition.
 */
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import type { Alert, AlertKind, Facts, Finding, Severity } from './alert-kind.ts'

/** Returns false where an alert of this kind and subject is firing already. */
export async function insertAlert(transaction: Transaction, alert: Alert): Promise<boolean> {
  const inserted = await transaction.query(
    `INSERT INTO alert (id, kind, subject, severity, account_id, channel, title, text, facts,
       fired_at_ms, resolved_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     ON CONFLICT (kind, subject) WHERE resolved_at_ms IS NULL DO NOTHING RETURNING id`,
    [
      alert.id,
      alert.kind,
      alert.subject,
      alert.severity,
      alert.accountId ?? null,
      alert.channel ?? null,
      alert.title,
      alert.text,
      JSON.stringify(alert.facts),
      alert.firedAtMs,
      alert.resolvedAtMs ?? null,
    ],
  )
  return inserted.length > 0
}

/** Returns false where the alert is resolved already. */
export async function resolveAlert(
  transaction: Transaction,
  id: string,
  atMs: number,
): Promise<boolean> {
  const changed = await transaction.query(
    'UPDATE alert SET resolved_at_ms = $2 WHERE id = $1 AND resolved_at_ms IS NULL RETURNING id',
    [id, atMs],
  )
  return changed.length > 0
}

/** Lists the firing alerts, oldest first; of one account, or all. */
export async function listFiring(
  queryable: Queryable,
  {
    accountId,
    afterId,
    countMax,
  }: {
    readonly accountId?: string | undefined
    readonly afterId: string
    readonly countMax: number
  },
): Promise<Alert[]> {
  const ofAccount = accountId === undefined ? '' : 'AND account_id = $3'
  const rows = await queryable.query(
    `SELECT * FROM alert WHERE resolved_at_ms IS NULL AND id > $1 ${ofAccount}
      ORDER BY id LIMIT $2`,
    [afterId, countMax, ...(accountId === undefined ? [] : [accountId])],
  )
  return rows.map(readAlert)
}

/** Returns a text that differs after an alert began to fire or was resolved. */
export async function readAlertSign(queryable: Queryable): Promise<string> {
  const [row] = await queryable.query(
    `SELECT (SELECT COUNT(*) FROM alert WHERE resolved_at_ms IS NULL) AS firing,
       (SELECT MAX(resolved_at_ms) FROM alert WHERE resolved_at_ms IS NOT NULL) AS resolved_at_ms`,
  )
  return Object.values(row ?? {}).join(' ')
}

/** Removes alerts that were resolved before `beforeMs`, at most `countMax`. */
export async function removeOldAlerts(
  transaction: Transaction,
  { beforeMs, countMax }: { readonly beforeMs: number; readonly countMax: number },
): Promise<void> {
  await transaction.query(
    `DELETE FROM alert WHERE id IN
       (SELECT id FROM alert WHERE resolved_at_ms < $1 ORDER BY resolved_at_ms LIMIT $2)`,
    [beforeMs, countMax],
  )
}

/** Reads a row of the table, also one that is joined to its deliveries. */
export function readAlert(row: Row): Alert {
  const accountId = row['account_id']
  const channel = row['channel']
  const finding: Finding = {
    kind: String(row['kind']) as AlertKind,
    subject: String(row['subject']),
    title: String(row['title']),
    text: String(row['text']),
    facts: JSON.parse(String(row['facts'])) as Facts,
    ...(typeof accountId === 'string' && { accountId }),
    ...(typeof channel === 'string' && { channel }),
  }
  const resolvedAtMs = row['resolved_at_ms'] ?? null
  return {
    ...finding,
    id: String(row['id']),
    severity: String(row['severity']) as Severity,
    firedAtMs: Number(row['fired_at_ms']),
    resolvedAtMs: resolvedAtMs === null ? undefined : Number(resolvedAtMs),
  }
}
