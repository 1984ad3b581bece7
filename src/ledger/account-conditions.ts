/** Accounts as alerts and the overview look at them: the money that is left, and how long it lasts. */
import type { Queryable } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { spentSql, statusSql, type AccountStatus } from './account-store.ts'

const watchedForm = rowForm({
  id: column.text,
  name: column.text,
  status: column.word<AccountStatus>(),
  balancePicos: column.amount,
  /** How far below zero the balance may go. */
  creditLinePicos: column.amount,
  /** Zero = no limit. */
  dailyLimitPicos: column.amount,
  /** Zero = no limit. */
  monthlyLimitPicos: column.amount,
  /** Charges less refunds of the month; zero without a limit. */
  monthPicos: column.amount,
  /** A lower balance raises an alert. Zero = never. */
  alertBelowPicos: column.amount,
})
/** What the alerts about an account's money need of it. */
export type WatchedAccount = Read<typeof watchedForm>

/** Reads all accounts that may have a condition to report, a page at a time, by id. */
export async function listWatchedAccounts(
  database: Queryable,
  page: { readonly afterId: string; readonly countMax: number; readonly month: string },
): Promise<WatchedAccount[]> {
  const rows = await database.query(
    `SELECT id, name, ${statusSql} AS status, balance_picos, credit_line_picos, daily_limit_picos,
            monthly_limit_picos, alert_below_picos,
            (SELECT CAST(COALESCE(SUM(u.cost_picos), 0) AS BIGINT) FROM usage_month u
              WHERE monthly_limit_picos > 0 AND u.account_id = account.id AND u.month = $3
            ) AS month_picos
       FROM account WHERE id > $1 ORDER BY id LIMIT $2`,
    [page.afterId, page.countMax, page.month],
  )
  return rows.map(watchedForm.read)
}

const shortForm = rowForm({
  id: column.text,
  name: column.text,
  balancePicos: column.amount,
  /** How far below zero the balance may go. */
  creditLinePicos: column.amount,
  /** Charges since the given day. */
  spentPicos: column.amount,
})
export type ShortAccount = Read<typeof shortForm>

/** Lists active accounts at their credit line, or nearer to it than they spent from a day on, by name. */
export async function listShortAccounts(
  database: Queryable,
  { fromDay, countMax }: { readonly fromDay: string; readonly countMax: number },
): Promise<readonly ShortAccount[]> {
  const rows = await database.query(
    `SELECT id, name, balance_picos, credit_line_picos, spent_picos
       FROM (SELECT account.id, account.name, account.balance_picos, account.credit_line_picos,
               ${spentSql('account.id', '$1')} AS spent_picos
               FROM account WHERE status = 'active') AS spending
      WHERE balance_picos + credit_line_picos <= 0 OR balance_picos + credit_line_picos < spent_picos
      ORDER BY name LIMIT $2`,
    [fromDay, countMax],
  )
  return rows.map(shortForm.read)
}
