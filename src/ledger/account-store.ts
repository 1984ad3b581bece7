/**
 * SQL of table account: create, find, list, limits, status. Reads balances; only entries change them
 * (entry-store.ts and the booking of charges).
 */
import { invariant } from '../base/errors.ts'
import type { Picos } from '../base/money.ts'
import {
  eachRow,
  type Queryable,
  type Row,
  type SqlValue,
  type Transaction,
} from '../storage/database.ts'
import { readPicos } from './usage.ts'

export type AccountStatus = 'active' | 'suspended'

export interface AccountLimits {
  /** Zero = no limit. */
  readonly dailyLimitPicos: Picos
  /** Zero = no limit. */
  readonly rpm: number
  readonly windowMinutes: number
  /** Charges are the list price times this many millionths. */
  readonly priceMultiplierPpm: number
}

export interface Account extends AccountLimits {
  readonly id: string
  /** Unique. */
  readonly name: string
  readonly status: AccountStatus
  readonly balancePicos: Picos
  readonly createdAtMs: number
}

/** Adds an account without any money; false where the name is taken. */
export async function insertAccount(
  transaction: Transaction,
  account: Omit<Account, 'balancePicos'>,
): Promise<boolean> {
  const inserted = await transaction.query(
    `INSERT INTO account (id, name, status, daily_limit_picos, rpm, window_minutes,
       price_multiplier_ppm, created_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (name) DO NOTHING RETURNING id`,
    [
      account.id,
      account.name,
      account.status,
      account.dailyLimitPicos,
      account.rpm,
      account.windowMinutes,
      account.priceMultiplierPpm,
      account.createdAtMs,
    ],
  )
  return inserted.length === 1
}

export async function findAccount(
  database: Queryable,
  accountId: string,
): Promise<Account | undefined> {
  const [row] = await database.query('SELECT * FROM account WHERE id = $1', [accountId])
  return row === undefined ? undefined : readAccount(row)
}

export async function findAccountByName(
  database: Queryable,
  name: string,
): Promise<Account | undefined> {
  const [row] = await database.query('SELECT * FROM account WHERE name = $1', [name])
  return row === undefined ? undefined : readAccount(row)
}

/** Ordered by name; `afterName` and `countMax` page through very many. */
export async function listAccounts(
  database: Queryable,
  page: { readonly afterName?: string; readonly countMax?: number } = {},
): Promise<Account[]> {
  const rows = await database.query(
    'SELECT * FROM account WHERE name > $1 ORDER BY name LIMIT $2',
    [page.afterName ?? '', page.countMax ?? Number.MAX_SAFE_INTEGER],
  )
  return rows.map(readAccount)
}

const accountsPerPage = 100

/** Reads the ids of all accounts, page by page. */
export function eachAccount(database: Queryable): AsyncGenerator<Row> {
  return eachRow(accountsPerPage, (last) =>
    database.query('SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT $2', [
      last?.['id'] ?? '',
      accountsPerPage,
    ]),
  )
}

/** Sets the limits that are given and leaves the others; undefined where there is no such account. */
export async function changeLimits(
  transaction: Transaction,
  accountId: string,
  limits: Partial<AccountLimits>,
): Promise<Account | undefined> {
  const changes: [column: string, value: SqlValue | undefined][] = [
    ['daily_limit_picos', limits.dailyLimitPicos],
    ['rpm', limits.rpm],
    ['window_minutes', limits.windowMinutes],
    ['price_multiplier_ppm', limits.priceMultiplierPpm],
  ]
  for (const [column, value] of changes)
    if (value !== undefined)
      await transaction.query(`UPDATE account SET ${column} = $2 WHERE id = $1`, [accountId, value])
  return findAccount(transaction, accountId)
}

/** Undefined where there is no such account. */
export async function changeStatus(
  transaction: Transaction,
  accountId: string,
  status: AccountStatus,
): Promise<Account | undefined> {
  await transaction.query('UPDATE account SET status = $2 WHERE id = $1', [accountId, status])
  return findAccount(transaction, accountId)
}

function readAccount(row: Row): Account {
  const status = row['status']
  invariant(status === 'active' || status === 'suspended', 'an account is active or suspended')
  return {
    id: String(row['id']),
    name: String(row['name']),
    status,
    dailyLimitPicos: readPicos(row, 'daily_limit_picos'),
    rpm: Number(row['rpm']),
    windowMinutes: Number(row['window_minutes']),
    priceMultiplierPpm: Number(row['price_multiplier_ppm']),
    balancePicos: readPicos(row, 'balance_picos'),
    createdAtMs: Number(row['created_at_ms']),
  }
}
