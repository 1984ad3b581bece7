/** SQL of table alert_target: who gets messages of which alerts. Secrets are in it only sealed. */
import type { Queryable, Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'
import type { Severity } from './alert-kind.ts'

export const targetFormats = ['webhook', 'slack', 'email'] as const
export type TargetFormat = (typeof targetFormats)[number]

/** The address of an e-mail target whose messages go to the contact of the account they are about. */
export const contactAddress = 'contact'

const targetForm = rowForm({
  id: column.text,
  /** Unique. */
  name: column.text,
  format: column.word<TargetFormat>(),
  /** An e-mail address, `contact`, or the origin of a URL: URLs hold secrets of their receivers. */
  address: column.text,
  /** Webhook and slack: URL and secret, see target-secret.ts. */
  sealed: column.optional(column.text),
  minSeverity: column.word<Severity>(),
  createdAtMs: column.number,
})
export type AlertTarget = Read<typeof targetForm>

export async function insertTarget(transaction: Transaction, target: AlertTarget): Promise<void> {
  await insertRow(transaction, 'alert_target', targetForm.write(target))
}

/** Finds a target by id or name. */
export async function findTarget(
  queryable: Queryable,
  reference: string,
): Promise<AlertTarget | undefined> {
  const [row] = await queryable.query('SELECT * FROM alert_target WHERE id = $1 OR name = $1', [
    reference,
  ])
  return row === undefined ? undefined : targetForm.read(row)
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
  return rows.map(targetForm.read)
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
