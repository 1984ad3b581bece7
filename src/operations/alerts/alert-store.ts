/**
 * SQL of table alert: each cause from the moment that its first condition holds until none does. Invariant: a
 * cause has at most one alert, and each change of it is made once, however many nodes look.
 */
import { Conditions } from '../../storage/conditions.ts'
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import { column, rowForm } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'
import type { Alert, Acknowledgement, Severity } from './alert-kind.ts'

const alertForm = rowForm({
  id: column.text,
  cause: column.text,
  conditions: column.json<Alert['conditions']>(),
  severityMax: column.word<Severity>(),
  count: column.named('condition_count', column.number),
  firstSeenAtMs: column.number,
  lastSeenAtMs: column.number,
})
const acknowledgementForm = rowForm({
  by: column.named('acknowledged_by', column.text),
  atMs: column.named('acknowledged_at_ms', column.number),
  untilMs: column.named('snoozed_until_ms', column.optional(column.number)),
  note: column.named('acknowledged_note', column.optional(column.text)),
})

/** Returns false where the cause has an alert already. */
export async function insertAlert(transaction: Transaction, alert: Alert): Promise<boolean> {
  const row = {
    ...alertForm.write(alert),
    account_id: alert.conditions[0].accountId ?? null,
    changed_at_ms: alert.firstSeenAtMs,
  }
  const rest = 'ON CONFLICT (cause) DO NOTHING RETURNING id'
  const inserted = await insertRow(transaction, 'alert', row, rest)
  return inserted.length > 0
}

/** Returns the alert after the change; undefined where another node has changed its conditions since. */
export async function saveConditions(
  transaction: Transaction,
  before: Alert,
  after: Alert,
  nowMs: number,
): Promise<Alert | undefined> {
  const [row] = await transaction.query(
    `UPDATE alert SET conditions = $3, severity_max = $4, condition_count = $5,
       last_seen_at_ms = $6, changed_at_ms = $7
     WHERE id = $1 AND conditions = $2 RETURNING *`,
    [
      before.id,
      JSON.stringify(before.conditions),
      JSON.stringify(after.conditions),
      after.severityMax,
      after.count,
      after.lastSeenAtMs,
      nowMs,
    ],
  )
  return row === undefined ? undefined : readAlert(row)
}

/** Returns false where another node has ended or changed it. */
export async function deleteAlert(transaction: Transaction, alert: Alert): Promise<boolean> {
  const deleted = await transaction.query(
    'DELETE FROM alert WHERE id = $1 AND conditions = $2 RETURNING id',
    [alert.id, JSON.stringify(alert.conditions)],
  )
  return deleted.length > 0
}

/** Returns undefined where no such alert is firing. */
export async function acknowledge(
  transaction: Transaction,
  id: string,
  { by, atMs, untilMs, note }: Acknowledgement,
): Promise<Alert | undefined> {
  const [row] = await transaction.query(
    `UPDATE alert SET acknowledged_by = $2, acknowledged_at_ms = $3, snoozed_until_ms = $4,
       acknowledged_note = $5, changed_at_ms = $3
     WHERE id = $1 RETURNING *`,
    [id, by, atMs, untilMs ?? null, note ?? null],
  )
  return row === undefined ? undefined : readAlert(row)
}

const notAcknowledged = `acknowledged_by = NULL, acknowledged_at_ms = NULL, snoozed_until_ms = NULL,
  acknowledged_note = NULL, changed_at_ms = $1`

export async function forgetAcknowledgement(
  transaction: Transaction,
  id: string,
  nowMs: number,
): Promise<void> {
  await transaction.query(`UPDATE alert SET ${notAcknowledged} WHERE id = $2`, [nowMs, id])
}

/** Returns the alerts whose snooze is over, each once. */
export async function endSnoozes(transaction: Transaction, nowMs: number): Promise<Alert[]> {
  const rows = await transaction.query(
    `UPDATE alert SET ${notAcknowledged} WHERE snoozed_until_ms <= $1 RETURNING *`,
    [nowMs],
  )
  return rows.map(readAlert)
}

/** Lists the alerts, oldest first; of one account, or all. */
export async function listAlerts(
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
  const conditions = new Conditions()
  conditions.compare('id >', afterId)
  conditions.compare('account_id =', accountId)
  const rows = await queryable.query(
    `SELECT * FROM alert WHERE ${conditions.text} ORDER BY id LIMIT ${conditions.place(countMax)}`,
    conditions.values,
  )
  return rows.map(readAlert)
}

/** Returns a text that differs after an alert has begun, changed or ended. */
export async function readAlertSign(queryable: Queryable): Promise<string> {
  const [row] = await queryable.query(
    'SELECT COUNT(*) AS alerts, MAX(id) AS newest, MAX(changed_at_ms) AS changed_at_ms FROM alert',
  )
  return Object.values(row ?? {}).join(' ')
}

function readAlert(row: Row): Alert {
  const acknowledged = row['acknowledged_by'] === null ? undefined : acknowledgementForm.read(row)
  return { ...alertForm.read(row), acknowledged }
}
