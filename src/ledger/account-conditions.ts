/** Accounts as alerts and the overview look at them: the money that is left, and how long it lasts. */
import type { Picos } from '../base/money.ts'
import type { Queryable } from '../storage/database.ts'
import { spentSql, statusSql, type AccountStatus } from './account-store.ts'
import { readPicos } from './usage.ts'

/** What the alerts about an account's money need of it. */
export interface WatchedAccount {
  readonly id: string
  readonly name: string
  readonly status: AccountStatus
  readonly balancePicos: Picos
  /** How far below zero the balance may go. */
  readonly creditLinePicos: Picos
  /** Zero = no limit. */
  readonly dailyLimitPicos: Picos
  /** Zero = no limit. */
  readonly monthlyLimitPicos: Picos
  /** Charges less refunds of the month; zero without a limit. */
  readonly monthPicos: Picos
  /** A lower balance raises an alert. Zero = never. */
  readonly alertBelowPicos: Picos
}

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
  return rows.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    status: String(row['status']) as AccountStatus,
    balancePicos: readPicos(row, 'balance_picos'),
    creditLinePicos: readPicos(row, 'credit_line_picos'),
    dailyLimitPicos: readPicos(row, 'daily_limit_picos'),
    monthlyLimitPicos: readPicos(row, 'monthly_limit_picos'),
    monthPicos: readPicos(row, 'month_picos'),
    alertBelowPicos: readPicos(row, 'alert_below_picos'),
  }))
}

export interface ShortAccount {
  readonly id: string
  readonly name: string
  readonly balancePicos: Picos
  /** How far below zero the balance may go. */
  readonly creditLinePicos: Picos
  /** Charges since the given day. */
  readonly spentPicos: Picos
}

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
  return rows.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    balancePicos: readPicos(row, 'balance_picos'),
    creditLinePicos: readPicos(row, 'credit_line_picos'),
    spentPicos: readPicos(row, 'spent_picos'),
  }))
}
