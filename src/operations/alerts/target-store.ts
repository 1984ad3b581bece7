/** SQL of table alert_target: who gets messages of which alerts. Secrets are in it only sealed. */
import type { Queryable, Row, Transaction } from '../../storage/database.ts'
import type { Severity } from './alert-kind.ts'

export const targetFormats = ['webhook', 'slack', 'email'] as const
export type TargetFormat = (typeof targetFormats)[number]

/** The address of an e-mail target whose messages go to the contact of the account they are about. */
export const contactAddress = 'contact'

export interface AlertTarget {
  readonly id: string
  /** Unique. */
  readonly name: string
  readonly format: TargetFormat
  /** An e-mail address, `contact`, or the origin of a URL: URLs hold secrets of their receivers. */
  readonly address: string
  /** Webhook and slack: URL and secret, see target-secret.ts. */
  readonly sealed: string | undefined
  readonly minSeverity: Severity
  readonly createdAtMs: number
}

export async function insertTarget(transaction: Transaction, target: AlertTarget): Promise<void> {
  await transaction.query(
    `INSERT INTO alert_target (id, name, format, address, sealed, min_severity, created_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      target.id,
      target.name,
      target.format,
      target.address,
      target.sealed ?? null,
      target.minSeverity,
      target.createdAtMs,
    ],
  )
}

/** Finds a target by id or name. */
export async function findTarget(
  queryable: Queryable,
  reference: string,
): Promise<AlertTarget | undefined> {
  const [row] = await queryable.query('SELECT * FROM alert_target WHERE id = $1 OR name = $1', [
    reference,
  ])
  return row === undefined ? undefined : readTarget(row)
}

/** Ordered by name. */
export async function listTargets(
  queryable: Queryable,
  page: { readonly afterName: string; readonly countMax: number },
): Promise<AlertTarget[]> {
  const rows = await queryable.query(
    'SELECT * FROM alert_target WHERE name > $1 ORDER BY name LIMIT $2',
    [page.afterName, page.countMax],
  )
  return rows.map(readTarget)
}

export async function countTargets(queryable: Queryable): Promise<number> {
  const [row] = await queryable.query('SELECT COUNT(*) AS targets FROM alert_target')
  return Number(row?.['targets'])
}

export async function deleteTarget(transaction: Transaction, id: string): Promise<void> {
  await transaction.query('DELETE FROM alert_target WHERE id = $1', [id])
}

/** Whether the store holds a secret of a target, which only its master key opens. */
export async function hasSealedTarget(queryable: Queryable): Promise<boolean> {
  const rows = await queryable.query('SELECT id FROM alert_target WHERE sealed IS NOT NULL LIMIT 1')
  return rows.length > 0
}

function readTarget(row: Row): AlertTarget {
  const sealed = row['sealed']
  return {
    id: String(row['id']),
    name: String(row['name']),
    format: String(row['format']) as TargetFormat,
    address: String(row['address']),
    sealed: typeof sealed === 'string' ? sealed : undefined,
    minSeverity: String(row['min_severity']) as Severity,
    createdAtMs: Number(row['created_at_ms']),
  }
}
