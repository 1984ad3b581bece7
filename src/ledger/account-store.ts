/**
 * SQL of table account: create, find, list, limits, profile, status. Reads balances; only entries change
 * them (entry-store.ts and the booking of charges).
 */
import { invariant } from '../base/errors.ts'
import { holdRules, type HoldRule } from '../base/hold-rule.ts'
import { addPicos, subtractPicos, type Picos } from '../base/money.ts'
import {
  containsPattern,
  eachRow,
  type Queryable,
  type Row,
  type SqlValue,
  type Transaction,
} from '../storage/database.ts'
import { dayCost, readPicos } from './usage.ts'

/** A suspended or closed account sends no requests; it still reads its usage. */
export type AccountStatus = 'active' | 'suspended' | 'closed'

export interface AccountLimits {
  /** How far below zero the balance may go. */
  readonly creditLinePicos: Picos
  /** Undefined = as the setting `holds` says. */
  readonly holds: HoldRule | undefined
  /** Zero = no limit. */
  readonly dailyLimitPicos: Picos
  /** Zero = no limit. */
  readonly monthlyLimitPicos: Picos
  /** Zero = no limit. */
  readonly rpm: number
  readonly windowMinutes: number
  /** Tokens per minute; zero = no limit. */
  readonly tpm: number
  /** Charges are the list price times this many millionths. */
  readonly priceMultiplierPpm: number
}

/** What an operator notes down about the account holder. */
export interface AccountProfile {
  readonly note: string
  /** E-mail address for alerts; empty = none. */
  readonly contact: string
  /** A lower balance raises an alert; zero = none does. */
  readonly alertBelowPicos: Picos
  /** The operator's own id of the account holder; unique. */
  readonly externalId: string | undefined
}

export interface Account extends AccountLimits, AccountProfile {
  readonly id: string
  /** Unique. */
  readonly name: string
  readonly status: AccountStatus
  readonly closedAtMs: number | undefined
  readonly balancePicos: Picos
  readonly createdAtMs: number
}

/** What requests can spend: balance and credit line less holds. Below zero while one hold is not covered. */
export function availablePicos(
  { balancePicos, creditLinePicos }: Pick<Account, 'balancePicos' | 'creditLinePicos'>,
  heldPicos: Picos,
): Picos {
  return subtractPicos(addPicos(balancePicos, creditLinePicos), heldPicos)
}

/** Adds an account without any money; false where the name is taken. */
export async function insertAccount(
  transaction: Transaction,
  account: NewAccount,
): Promise<boolean> {
  const inserted = await transaction.query(
    `INSERT INTO account (id, name, status, credit_line_picos, largest_credit_line_picos,
       holds, daily_limit_picos, monthly_limit_picos, rpm, window_minutes, tokens_per_minute, price_multiplier_ppm, created_at_ms)
     VALUES ($1, $2, 'active', $3, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     ON CONFLICT (name) DO NOTHING RETURNING id`,
    [
      account.id,
      account.name,
      account.creditLinePicos,
      account.holds ?? null,
      account.dailyLimitPicos,
      account.monthlyLimitPicos,
      account.rpm,
      account.windowMinutes,
      account.tpm,
      account.priceMultiplierPpm,
      account.createdAtMs,
    ],
  )
  return inserted.length === 1
}

/** An account begins active, without a profile. */
export type NewAccount = Pick<Account, 'id' | 'name' | 'createdAtMs' | keyof AccountLimits>

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

export async function findAccountByExternalId(
  database: Queryable,
  externalId: string,
): Promise<Account | undefined> {
  const [row] = await database.query('SELECT * FROM account WHERE external_id = $1', [externalId])
  return row === undefined ? undefined : readAccount(row)
}

/** What a list of accounts can be ordered by. */
export const accountSorts = ['name', 'balance', 'spend'] as const
export const sortOrders = ['asc', 'desc'] as const

export type AccountSort = (typeof accountSorts)[number]
type SortOrder = (typeof sortOrders)[number]

interface Period {
  /** `YYYY-MM-DD`, UTC; both are included. */
  readonly fromDay: string
  readonly toDay: string
}

export interface AccountsQuestion {
  readonly status?: AccountStatus | undefined
  /** A part of the name; upper and lower case of A to Z are equal. */
  readonly nameContains?: string | undefined
  readonly externalId?: string | undefined
  /** Only active accounts below their alert threshold, and those of `listShortAccounts`. */
  readonly lowSinceDay?: string | undefined
  /** By name where it is absent. */
  readonly sort?: AccountSort
  readonly order?: SortOrder
  /** The days whose charges less refunds are the spend. */
  readonly spendPeriod?: Period
  /** The key of the last row of the page before. */
  readonly after?: readonly SqlValue[] | undefined
  readonly countMax?: number
}

export interface ListedAccount extends Account {
  /** Where it stands in the order: a value for each column of the sort. */
  readonly key: readonly SqlValue[]
}

/** What each sort orders by. An id makes equal values follow in one order only. */
const sortColumns: Readonly<Record<AccountSort, readonly string[]>> = {
  name: ['name'],
  balance: ['balance_picos', 'id'],
  spend: ['spent_high', 'spent_low', 'id'],
}

export async function listAccounts(
  database: Queryable,
  question: AccountsQuestion = {},
): Promise<ListedAccount[]> {
  const { sort = 'name', order = 'asc', after, countMax } = question
  const values: SqlValue[] = [countMax ?? Number.MAX_SAFE_INTEGER]
  const place = (value: SqlValue): string => `$${values.push(value)}`
  const columns = sortColumns[sort]
  const source = sort === 'spend' ? spendSource(question.spendPeriod, place) : 'account'
  const where = ['1 = 1', ...filtersOf(question, place)]
  if (after !== undefined)
    where.push(
      `(${columns.join(', ')}) ${order === 'asc' ? '>' : '<'} (${after.map(place).join(', ')})`,
    )
  const rows = await database.query(
    `SELECT * FROM ${source} WHERE ${where.join(' AND ')}
      ORDER BY ${columns.map((column) => `${column} ${order}`).join(', ')} LIMIT $1`,
    values,
  )
  return rows.map((row) => ({
    ...readAccount(row),
    key: columns.map((column) => row[column] ?? null),
  }))
}

type Place = (value: SqlValue) => string

function filtersOf(question: AccountsQuestion, place: Place): readonly string[] {
  const { status, nameContains, externalId, lowSinceDay } = question
  const where: string[] = []
  if (status !== undefined) where.push(`${statusSql} = ${place(status)}`)
  if (nameContains !== undefined)
    where.push(`LOWER(name) LIKE ${place(containsPattern(nameContains))} ESCAPE '!'`)
  if (externalId !== undefined) where.push(`external_id = ${place(externalId)}`)
  if (lowSinceDay !== undefined)
    where.push(
      `status = 'active' AND (balance_picos <= -credit_line_picos OR balance_picos < alert_below_picos
         OR balance_picos + credit_line_picos < ${spentSql('id', place(lowSinceDay))})`,
    )
  return where
}

/** Accounts with their spend in two halves: a plain sum could exceed 64 bits. */
function spendSource(period: Period | undefined, place: Place): string {
  invariant(period !== undefined, 'an order by spend has a period')
  return `(SELECT account.*, high + (low >> 32) AS spent_high, low & 4294967295 AS spent_low
     FROM account JOIN (
       SELECT id AS spent_id, CAST(COALESCE(SUM((${dayCost}) >> 32), 0) AS BIGINT) AS high,
              CAST(COALESCE(SUM((${dayCost}) & 4294967295), 0) AS BIGINT) AS low
         FROM account LEFT JOIN report_day ON account_id = id
          AND day >= ${place(period.fromDay)} AND day <= ${place(period.toDay)}
        GROUP BY id) AS spent ON spent_id = id) AS spending`
}

/** SQL of the charges of an account from a day on. */
export function spentSql(id: string, fromDay: string): string {
  return `(SELECT CAST(COALESCE(SUM(revenue_picos), 0) AS BIGINT) FROM report_day
            WHERE account_id = ${id} AND day >= ${fromDay})`
}

/** SQL of an account's status. */
export const statusSql = "CASE WHEN closed_at_ms IS NULL THEN status ELSE 'closed' END"

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
    ['credit_line_picos', limits.creditLinePicos],
    ['holds', 'holds' in limits ? (limits.holds ?? null) : undefined],
    ['daily_limit_picos', limits.dailyLimitPicos],
    ['monthly_limit_picos', limits.monthlyLimitPicos],
    ['rpm', limits.rpm],
    ['window_minutes', limits.windowMinutes],
    ['tokens_per_minute', limits.tpm],
    ['price_multiplier_ppm', limits.priceMultiplierPpm],
  ]
  for (const [column, value] of changes)
    if (value !== undefined)
      await transaction.query(`UPDATE account SET ${column} = $2 WHERE id = $1`, [accountId, value])
  await transaction.query(
    `UPDATE account SET largest_credit_line_picos = credit_line_picos
      WHERE id = $1 AND credit_line_picos > largest_credit_line_picos`,
    [accountId],
  )
  return findAccount(transaction, accountId)
}

/** Sets the fields that are given. A name and an external id must be free. */
export async function changeProfile(
  transaction: Transaction,
  accountId: string,
  profile: Partial<AccountProfile> & { readonly name?: string },
): Promise<void> {
  const { name, note, contact, alertBelowPicos } = profile
  const changes: [column: string, value: SqlValue | undefined][] = [
    ['name', name],
    ['note', note],
    ['contact', contact],
    ['alert_below_picos', alertBelowPicos],
    ['external_id', 'externalId' in profile ? (profile.externalId ?? null) : undefined],
  ]
  for (const [column, value] of changes)
    if (value !== undefined)
      await transaction.query(`UPDATE account SET ${column} = $2 WHERE id = $1`, [accountId, value])
}

export async function changeStatus(
  transaction: Transaction,
  accountId: string,
  { status, atMs }: { readonly status: AccountStatus; readonly atMs: number },
): Promise<void> {
  const isClosed = status === 'closed'
  await transaction.query('UPDATE account SET status = $2, closed_at_ms = $3 WHERE id = $1', [
    accountId,
    isClosed ? 'suspended' : status,
    isClosed ? atMs : null,
  ])
}

/** Reads the status from the columns `status` and `closed_at_ms`. */
function readStatus(row: Row): AccountStatus {
  const status = row['status']
  invariant(status === 'active' || status === 'suspended', 'an account is active or suspended')
  return row['closed_at_ms'] === null ? status : 'closed'
}

function readAccount(row: Row): Account {
  const closedAtMs = row['closed_at_ms'] ?? null
  const externalId = row['external_id']
  return {
    id: String(row['id']),
    name: String(row['name']),
    status: readStatus(row),
    closedAtMs: closedAtMs === null ? undefined : Number(closedAtMs),
    note: String(row['note']),
    contact: String(row['contact']),
    alertBelowPicos: readPicos(row, 'alert_below_picos'),
    externalId: typeof externalId === 'string' ? externalId : undefined,
    creditLinePicos: readPicos(row, 'credit_line_picos'),
    holds: holdRules.find((rule) => rule === row['holds']),
    dailyLimitPicos: readPicos(row, 'daily_limit_picos'),
    monthlyLimitPicos: readPicos(row, 'monthly_limit_picos'),
    rpm: Number(row['rpm']),
    windowMinutes: Number(row['window_minutes']),
    tpm: Number(row['tokens_per_minute']),
    priceMultiplierPpm: Number(row['price_multiplier_ppm']),
    balancePicos: readPicos(row, 'balance_picos'),
    createdAtMs: Number(row['created_at_ms']),
  }
}

/** Reads the names of accounts by id; both ends are included. */
export async function readAccountNames(
  database: Queryable,
  ids: { readonly first: string; readonly last: string },
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query('SELECT id, name FROM account WHERE id >= $1 AND id <= $2', [
    ids.first,
    ids.last,
  ])
  return new Map(rows.map((row) => [String(row['id']), String(row['name'])]))
}
