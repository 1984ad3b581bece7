/**
 * Lists keys over all accounts, with what operators look for: the account of each, its last use, its spend
 * of the month. A page is one statement; the orders by use and by spend read all keys.
 */
import { utcMonth } from '../base/clock.ts'
import { Conditions } from '../storage/conditions.ts'
import { containsPattern, fitSql, type Queryable, type SqlValue } from '../storage/database.ts'
import type { KeyKind } from './key.ts'
import { readKey, type KeyRow } from './key-store.ts'

export const keyStates = ['active', 'expired', 'revoked'] as const
export type KeyState = (typeof keyStates)[number]

/** What a list of keys can be ordered by. */
export const keySorts = ['created', 'last_used', 'spend'] as const
type KeySort = (typeof keySorts)[number]

export interface KeysQuestion {
  readonly id?: string | undefined
  readonly secretHash?: string | undefined
  readonly kind?: KeyKind | undefined
  readonly accountId?: string | undefined
  readonly state?: KeyState | undefined
  /** How the head begins, without the dots at its end. */
  readonly headStart?: string | undefined
  /** A part of the name; upper and lower case of A to Z are equal. */
  readonly nameContains?: string | undefined
  /** `fit`: how well the name fits `nameContains`. */
  readonly sort: KeySort | 'fit'
  readonly order: 'asc' | 'desc'
  /** Decides which keys have expired, and which month is the current one. */
  readonly nowMs: number
  /** The key of the last row of the page before. */
  readonly after?: readonly SqlValue[] | undefined
  readonly countMax: number
}

export interface ListedKey extends KeyRow {
  /** Undefined for admin tokens. */
  readonly accountName: string | undefined
  /** Where it stands in the order: a value for each column of the sort. */
  readonly key: readonly SqlValue[]
}

/** What each sort orders by. An id makes equal values follow in one order only. */
const sortColumns: Readonly<Record<KeySort, readonly string[]>> = {
  // Ids begin with the time at which they were made.
  created: ['key.id'],
  last_used: ['COALESCE(key_use.last_used_at_ms, 0)', 'key.id'],
  spend: ['COALESCE(usage_key_month.cost_picos, 0)', 'key.id'],
}

export async function listAllKeys(
  queryable: Queryable,
  question: KeysQuestion,
): Promise<ListedKey[]> {
  const { sort, order, after, countMax, nowMs } = question
  const conditions = filtersOf(question)
  const place = (value: SqlValue): string => conditions.place(value)
  const columns =
    sort === 'fit'
      ? [fitSql('key.name', question.nameContains ?? '', place), 'key.id']
      : sortColumns[sort]
  const spend = `LEFT JOIN usage_key_month ON usage_key_month.account_id = key.account_id
       AND usage_key_month.key_id = key.id AND month = `
  const source = `key LEFT JOIN key_use ON key_use.key_id = key.id
       LEFT JOIN account ON account.id = key.account_id
       ${sort === 'spend' ? spend + conditions.place(utcMonth(nowMs)) : ''}`
  conditions.follow(columns, after, order)
  const rows = await queryable.query(
    `SELECT key.*, key_use.last_used_at_ms, account.name AS account_name, ${columns[0]} AS place
       FROM ${source} WHERE ${conditions.text}
      ORDER BY ${columns.map((column) => `${column} ${order}`).join(', ')}
      LIMIT ${conditions.place(countMax)}`,
    conditions.values,
  )
  return rows.map((row) => {
    const { account_name: name, place: placed = null } = row
    const key = readKey(row)
    return {
      ...key,
      accountName: typeof name === 'string' ? name : undefined,
      key: sort === 'created' ? [key.id] : [placed, key.id],
    }
  })
}

function filtersOf(question: KeysQuestion): Conditions {
  const { state, headStart, nameContains, nowMs } = question
  const conditions = new Conditions()
  conditions.compare('key.id =', question.id)
  conditions.compare('key.secret_hash =', question.secretHash)
  conditions.compare('key.kind =', question.kind)
  conditions.compare('key.account_id =', question.accountId)
  conditions.compare('key.head >=', headStart)
  if (headStart !== undefined) conditions.compare('key.head <', `${headStart}\uFFFF`)
  if (nameContains !== undefined)
    conditions.add(
      `LOWER(key.name) LIKE ${conditions.place(containsPattern(nameContains))} ESCAPE '!'`,
    )
  if (state === 'revoked') conditions.add('revoked_at_ms IS NOT NULL')
  else if (state !== undefined) conditions.add('revoked_at_ms IS NULL')
  if (state === 'active')
    conditions.add(`COALESCE(expires_at_ms > ${conditions.place(nowMs)}, TRUE)`)
  if (state === 'expired') conditions.compare('expires_at_ms <=', nowMs)
  return conditions
}
