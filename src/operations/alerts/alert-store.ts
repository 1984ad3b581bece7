/**
 * SQL of table alert: each cause from the moment that its first condition holds until none does. Invariant: a
 * cause has at most one alert, and each change of it is made once, however many nodes look.
 */
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import type { Alert, Acknowledgement, Severity } from './alert-kind.ts'

/** Returns false where the cause has an alert already. */
export async function insertAlert(transaction: Transaction, alert: Alert): Promise<boolean> {
  const inserted = await transaction.query(
    `INSERT INTO alert (id, cause, account_id, conditions, severity_max, condition_count,
       first_seen_at_ms, last_seen_at_ms, changed_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7) ON CONFLICT (cause) DO NOTHING RETURNING id`,
    [
      alert.id,
      alert.cause,
      alert.conditions[0].accountId ?? null,
      JSON.stringify(alert.conditions),
      alert.severityMax,
      alert.count,
      alert.firstSeenAtMs,
    ],
  )
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
  { by, atMs, untilMs }: Acknowledgement,
): Promise<Alert | undefined> {
  const [row] = await transaction.query(
    `UPDATE alert SET acknowledged_by = $2, acknowledged_at_ms = $3, snoozed_until_ms = $4,
       changed_at_ms = $3
     WHERE id = $1 RETURNING *`,
    [id, by, atMs, untilMs ?? null],
  )
  return row === undefined ? undefined : readAlert(row)
}

const notAcknowledged =
  'acknowledged_by = NULL, acknowledged_at_ms = NULL, snoozed_until_ms = NULL, changed_at_ms = $1'

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
  const ofAccount = accountId === undefined ? '' : 'AND account_id = $3'
  const rows = await queryable.query(
    `SELECT * FROM alert WHERE id > $1 ${ofAccount} ORDER BY id LIMIT $2`,
    [afterId, countMax, ...(accountId === undefined ? [] : [accountId])],
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
  const by = row['acknowledged_by']
  const untilMs = row['snoozed_until_ms'] ?? null
  const acknowledged =
    typeof by === 'string'
      ? {
          by,
          atMs: Number(row['acknowledged_at_ms']),
          untilMs: untilMs === null ? undefined : Number(untilMs),
        }
      : undefined
  return {
    id: String(row['id']),
    cause: String(row['cause']),
    conditions: JSON.parse(String(row['conditions'])) as Alert['conditions'],
    severityMax: String(row['severity_max']) as Severity,
    count: Number(row['condition_count']),
    firstSeenAtMs: Number(row['first_seen_at_ms']),
    lastSeenAtMs: Number(row['last_seen_at_ms']),
    acknowledged,
  }
}
