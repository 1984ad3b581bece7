/**
 * SQL of table account: create, find, list, limits, profile, status. Reads balances; only entries change
 * them (entry-store.ts and the booking of charges).
 */
import { invariant } from '../base/errors.ts'
import type { HoldRule } from '../base/hold-rule.ts'
import type { Language } from '../base/languages.ts'
import { addPicos, subtractPicos, type Picos } from '../base/money.ts'
import { Conditions } from '../storage/conditions.ts'
import {
  containsPattern,
  eachRow,
  fits,
  fitSql,
  type Fit,
  type Queryable,
  type Row,
  type SqlValue,
  type Transaction,
} from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { insertRow, updateRow } from '../storage/rows.ts'
import { dayCost } from './usage.ts'

/** A suspended or closed account sends no requests; it still reads its usage. */
export type AccountStatus = 'active' | 'suspended' | 'closed'

const limitFields = {
  /** How far below zero the balance may go. */
  creditLinePicos: column.amount,
  /** Undefined = as the setting `holds` says. */
  holds: column.optional(column.word<HoldRule>()),
  /** Zero = no limit. */
  dailyLimitPicos: column.amount,
  /** Zero = no limit. */
  monthlyLimitPicos: column.amount,
  /** Zero = no limit. */
  rpm: column.number,
  windowMinutes: column.number,
  /** Tokens per minute; zero = no limit. */
  tpm: column.named('tokens_per_minute', column.number),
  /** Charges are the list price times this many millionths. */
  priceMultiplierPpm: column.number,
}
const limitsForm = rowForm(limitFields)
export type AccountLimits = Read<typeof limitsForm>

/** What an operator notes down about the account holder. */
const profileFields = {
  note: column.text,
  /** E-mail address for alerts; empty = none. */
  contact: column.text,
  /** Of mails to the contact. */
  language: column.word<Language>(),
  /** A lower balance raises an alert; zero = none does. */
  alertBelowPicos: column.amount,
  /** Lines for receipts: name, address, tax number. */
  billTo: column.text,
  /** The operator's own id of the account holder; unique. */
  externalId: column.optional(column.text),
}

const profileForm = rowForm({ ...profileFields, name: column.text })

const accountForm = rowForm({
  ...limitFields,
  ...profileFields,
  id: column.text,
  /** Unique. */
  name: column.text,
  closedAtMs: column.optional(column.number),
  balancePicos: column.amount,
  /** A credit has been booked. Until then a request needs its most, whatever `holds` says. */
  hasPaid: column.flag,
  createdAtMs: column.number,
})
export type Account = Read<typeof accountForm> & { readonly status: AccountStatus }
export type AccountProfile = Pick<Account, keyof typeof profileFields>

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
  const row = {
    ...limitsForm.write(account),
    id: account.id,
    name: account.name,
    status: 'active',
    created_at_ms: account.createdAtMs,
    largest_credit_line_picos: account.creditLinePicos,
  }
  const rest = 'ON CONFLICT (name) DO NOTHING RETURNING id'
  const inserted = await insertRow(transaction, 'account', row, rest)
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
  const { sort = 'name', order = 'asc', after, countMax = Number.MAX_SAFE_INTEGER } = question
  const conditions = filtersOf(question)
  const columns = sortColumns[sort]
  const source = sort === 'spend' ? spendSource(question.spendPeriod, conditions) : 'account'
  conditions.follow(columns, after, order)
  const rows = await database.query(
    `SELECT * FROM ${source} WHERE ${conditions.text}
      ORDER BY ${columns.map((column) => `${column} ${order}`).join(', ')}
      LIMIT ${conditions.place(countMax)}`,
    conditions.values,
  )
  return rows.map((row) => ({
    ...readAccount(row),
    key: columns.map((column) => row[column] ?? null),
  }))
}

function filtersOf(question: AccountsQuestion): Conditions {
  const { status, nameContains, externalId, lowSinceDay } = question
  const conditions = new Conditions()
  conditions.compare(`${statusSql} =`, status)
  if (nameContains !== undefined)
    conditions.add(`LOWER(name) LIKE ${conditions.place(containsPattern(nameContains))} ESCAPE '!'`)
  conditions.compare('external_id =', externalId)
  if (lowSinceDay !== undefined)
    conditions.add(
      `status = 'active' AND (balance_picos <= -credit_line_picos OR balance_picos < alert_below_picos
         OR balance_picos + credit_line_picos < ${spentSql('id', conditions.place(lowSinceDay))})`,
    )
  return conditions
}

/** Accounts with their spend in two halves: a plain sum could exceed 64 bits. */
function spendSource(period: Period | undefined, conditions: Conditions): string {
  invariant(period !== undefined, 'an order by spend has a period')
  return `(SELECT account.*, high + (low >> 32) AS spent_high, low & 4294967295 AS spent_low
     FROM account JOIN (
       SELECT id AS spent_id, CAST(COALESCE(SUM((${dayCost}) >> 32), 0) AS BIGINT) AS high,
              CAST(COALESCE(SUM((${dayCost}) & 4294967295), 0) AS BIGINT) AS low
         FROM account LEFT JOIN report_day ON account_id = id
          AND day >= ${conditions.place(period.fromDay)} AND day <= ${conditions.place(period.toDay)}
        GROUP BY id) AS spent ON spent_id = id) AS spending`
}

/** SQL of the charges of an account from a day on. */
export function spentSql(id: string, fromDay: string): string {
  return `(SELECT CAST(COALESCE(SUM(revenue_picos), 0) AS BIGINT) FROM report_day
            WHERE account_id = ${id} AND day >= ${fromDay})`
}

/** SQL of an account's status. */
export const statusSql = "CASE WHEN closed_at_ms IS NULL THEN status ELSE 'closed' END"

export interface FittingAccount extends Pick<Account, 'id' | 'name' | 'status' | 'externalId'> {
  readonly fit: Fit
}

/** Finds accounts by id, external id or a part of the name, the best fitting first. */
export async function searchAccounts(
  database: Queryable,
  { text, countMax }: { readonly text: string; readonly countMax: number },
): Promise<readonly FittingAccount[]> {
  const statement = new Conditions()
  const place = (value: SqlValue): string => statement.place(value)
  const isNamed = `(id = ${place(text)} OR external_id = ${place(text)})`
  const rows = await database.query(
    `SELECT *, CASE WHEN ${isNamed} THEN ${fits.whole} ELSE ${fitSql('name', text, place)} END AS fit
       FROM account
      WHERE ${isNamed} OR LOWER(name) LIKE ${place(containsPattern(text))} ESCAPE '!'
      ORDER BY fit, name LIMIT ${place(countMax)}`,
    statement.values,
  )
  return rows.map((row) => ({ ...readAccount(row), fit: Number(row['fit']) as Fit }))
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
  await updateRow(transaction, 'account', accountId, limitsForm.write(limits))
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
  await updateRow(transaction, 'account', accountId, profileForm.write(profile))
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
  return { ...accountForm.read(row), status: readStatus(row) }
}

/** Finds the names of these accounts by id. */
export async function findAccountNames(
  queryable: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const conditions = new Conditions()
  conditions.add(`id IN (${conditions.placesOf([...new Set(ids)])})`)
  const sql = `SELECT id, name FROM account WHERE ${conditions.text}`
  const rows = await queryable.query(sql, conditions.values)
  return new Map(rows.map((row) => [String(row['id']), String(row['name'])]))
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
