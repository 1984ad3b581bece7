/**
 * SQL of the key table. Finding a key also reads the few columns of its account that decide whether and
 * how it may be used; no account is written here. This file sees hashes and never a secret.
 */
import type { BlockList } from 'node:net'
import { holdRules, type HoldRule } from '../base/hold-rule.ts'
import { buildIpRanges } from '../base/ip-address.ts'
import type { KeyLimits } from '../base/key-limits.ts'
import { Conditions } from '../storage/conditions.ts'
import type { Queryable, Row, Transaction } from '../storage/database.ts'
import { column, rowForm, type NewRow, type Read } from '../storage/row-form.ts'
import { insertRow, updateRow } from '../storage/rows.ts'
import type { AdminRole, KeyKind, Principal } from './key.ts'

const keyForm = rowForm({
  id: column.text,
  kind: column.word<KeyKind>(),
  /** Undefined for admin tokens. */
  accountId: column.optional(column.text),
  /** The member who owns it; undefined = the account itself. */
  memberId: column.optional(column.text),
  /** Of admin tokens. */
  role: column.optional(column.word<AdminRole>()),
  name: column.text,
  head: column.text,
  allowedModels: column.optional(column.json<readonly string[]>()),
  ipRanges: column.optional(column.json<readonly string[]>()),
  createdAtMs: column.number,
  expiresAtMs: column.optional(column.number),
  revokedAtMs: column.optional(column.number),
  /** Up to a minute old. */
  lastUsedAtMs: column.optional(column.number),
})
const limitsForm = rowForm({
  dailyPicos: column.named('daily_limit_picos', column.amount),
  monthlyPicos: column.named('monthly_limit_picos', column.amount),
  totalPicos: column.named('total_limit_picos', column.amount),
  rpm: column.number,
  tpm: column.named('tokens_per_minute', column.number),
})

/** A key as operators see it. */
export type KeyRow = Read<typeof keyForm> & { readonly limits: KeyLimits }

/** A key as a request needs it, complete without another read of the store. */
export interface KnownKey {
  /** Made once per key, shared by all its exchanges. */
  readonly principal: Principal
  readonly ipRanges: BlockList | undefined
  readonly expiresAtMs: number | undefined
  readonly isRevoked: boolean
  /** Undefined for admin tokens, which belong to no account. */
  readonly accountStatus: 'active' | 'suspended' | 'closed' | undefined
}

export async function insertKey(
  transaction: Transaction,
  key: Omit<KeyRow, 'memberId' | 'role' | 'revokedAtMs' | 'lastUsedAtMs'> & {
    readonly secretHash: string
    readonly memberId?: string | undefined
    readonly role?: AdminRole | undefined
  },
): Promise<void> {
  await insertRow(transaction, 'key', { ...writeKey(key), secret_hash: key.secretHash })
}

function writeKey({ limits, ...key }: Partial<KeyRow> & Pick<KeyRow, 'limits'>): NewRow {
  return { ...keyForm.write(key), ...limitsForm.write(limits) }
}

/** With the last use, which no request reads. */
const selectKeys =
  'SELECT key.*, key_use.last_used_at_ms FROM key LEFT JOIN key_use ON key_use.key_id = key.id'

/** Notes when keys were used last. An older time changes nothing. */
export async function saveKeyUses(
  transaction: Transaction,
  uses: readonly (readonly [keyId: string, atMs: number])[],
): Promise<void> {
  for (const [keyId, atMs] of uses)
    await transaction.query(
      `INSERT INTO key_use (key_id, last_used_at_ms) VALUES ($1, $2)
       ON CONFLICT (key_id) DO UPDATE SET last_used_at_ms = excluded.last_used_at_ms
       WHERE key_use.last_used_at_ms < excluded.last_used_at_ms`,
      [keyId, atMs],
    )
}

/** The fields of a key that an operator may change. */
export type KeyChanges = Pick<
  KeyRow,
  'name' | 'allowedModels' | 'ipRanges' | 'limits' | 'expiresAtMs'
>

/** Sets all of this; running requests keep what they began with. */
export async function changeKey(
  transaction: Transaction,
  id: string,
  changes: KeyChanges,
): Promise<void> {
  await updateRow(transaction, 'key', id, writeKey(changes))
}

/** Gives a key another secret; the one before it is worth nothing any more. */
export async function replaceSecret(
  transaction: Transaction,
  id: string,
  secret: { readonly secretHash: string; readonly head: string },
): Promise<void> {
  await updateRow(transaction, 'key', id, { secret_hash: secret.secretHash, head: secret.head })
}

/** Gives all keys of a member to another one, or to the account itself. */
export async function handOverKeys(
  transaction: Transaction,
  { from, to }: { readonly from: string; readonly to: string | undefined },
): Promise<void> {
  await transaction.query('UPDATE key SET member_id = $2 WHERE member_id = $1', [from, to ?? null])
}

/** Counts the keys of an account that members own and that may be used. */
export async function countMemberKeys(
  queryable: Queryable,
  { accountId, nowMs }: { readonly accountId: string; readonly nowMs: number },
): Promise<number> {
  const [row] = await queryable.query(
    `SELECT COUNT(*) AS keys FROM key WHERE account_id = $1 AND member_id IS NOT NULL
       AND revoked_at_ms IS NULL AND COALESCE(expires_at_ms > $2, TRUE)`,
    [accountId, nowMs],
  )
  return Number(row?.['keys'] ?? 0)
}

/** Marks a key as revoked; a key that is already revoked keeps its time. */
export async function revokeKey(
  transaction: Transaction,
  revocation: { readonly id: string; readonly atMs: number },
): Promise<void> {
  await transaction.query(
    'UPDATE key SET revoked_at_ms = $2 WHERE id = $1 AND revoked_at_ms IS NULL',
    [revocation.id, revocation.atMs],
  )
}

export async function findKey(queryable: Queryable, id: string): Promise<KeyRow | undefined> {
  const rows = await queryable.query(`${selectKeys} WHERE id = $1`, [id])
  return rows[0] === undefined ? undefined : readKey(rows[0])
}

/** Lists the keys of one kind, oldest first; of one account, or (admin tokens) of none. */
export async function listKeys(
  queryable: Queryable,
  owner: {
    readonly kind: KeyKind
    readonly accountId: string | undefined
    /** Only those of this member. */
    readonly memberId?: string | undefined
  },
  page: { readonly afterId: string; readonly countMax: number } = wholeList,
): Promise<KeyRow[]> {
  const conditions = new Conditions()
  conditions.compare('kind =', owner.kind)
  conditions.compare('id >', page.afterId)
  if (owner.accountId === undefined) conditions.add('account_id IS NULL')
  conditions.compare('account_id =', owner.accountId)
  conditions.compare('member_id =', owner.memberId)
  const rows = await queryable.query(
    `${selectKeys} WHERE ${conditions.text} ORDER BY id LIMIT ${conditions.place(page.countMax)}`,
    conditions.values,
  )
  return rows.map(readKey)
}

const wholeList = { afterId: '', countMax: Number.MAX_SAFE_INTEGER }

/** Lists the keys of these accounts that have a limit and may be used. */
export async function listLimitedKeys(
  queryable: Queryable,
  accountIds: readonly string[],
): Promise<KeyRow[]> {
  if (accountIds.length === 0) return []
  const places = accountIds.map((_, index) => `$${index + 1}`).join(', ')
  const rows = await queryable.query(
    `SELECT * FROM key WHERE kind = 'client' AND revoked_at_ms IS NULL
       AND (daily_limit_picos > 0 OR monthly_limit_picos > 0 OR total_limit_picos > 0)
       AND account_id IN (${places}) ORDER BY id`,
    accountIds,
  )
  return rows.map(readKey)
}

/** Finds the key with this secret, in any state. */
export async function findKeyBySecretHash(
  queryable: Queryable,
  secretHash: string,
): Promise<KeyRow | undefined> {
  const rows = await queryable.query(`${selectKeys} WHERE secret_hash = $1`, [secretHash])
  return rows[0] === undefined ? undefined : readKey(rows[0])
}

/** Finds the facts of the key with this secret, and of its account, that a request needs. */
export async function findKnownKey(
  queryable: Queryable,
  secretHash: string,
): Promise<KnownKey | undefined> {
  const rows = await queryable.query(
    `SELECT key.*, account.status AS account_status,
       account.closed_at_ms, account.price_multiplier_ppm, account.holds, account.has_paid
     FROM key LEFT JOIN account ON account.id = key.account_id
     WHERE key.secret_hash = $1`,
    [secretHash],
  )
  const row = rows[0]
  if (row === undefined) return undefined
  const key = readKey(row)
  return {
    principal: {
      kind: 'principal',
      keyKind: key.kind,
      keyId: key.id,
      accountId: key.accountId ?? '',
      ...(key.role !== undefined && { role: key.role }),
      allowedModels: key.allowedModels === undefined ? undefined : new Set(key.allowedModels),
      priceMultiplierPpm: Number(row['price_multiplier_ppm'] ?? 1_000_000),
      holds: readHoldRule(row),
      keyLimits: key.limits,
    },
    ipRanges: key.ipRanges === undefined ? undefined : buildIpRanges(key.ipRanges),
    expiresAtMs: key.expiresAtMs,
    isRevoked: key.revokedAtMs !== undefined,
    accountStatus: readAccountStatus(row),
  }
}

/** An account that has not paid yet is admitted by the most, whatever else is set. */
function readHoldRule(row: Row): HoldRule | undefined {
  return row['has_paid'] === 0n ? 'most' : holdRules.find((rule) => rule === row['holds'])
}

function readAccountStatus(row: Row): KnownKey['accountStatus'] {
  if (row['account_status'] === null) return undefined
  if (row['closed_at_ms'] !== null) return 'closed'
  return row['account_status'] === 'active' ? 'active' : 'suspended'
}

/** Reads a row of table key, with `last_used_at_ms` where it was selected. */
export function readKey(row: Row): KeyRow {
  return { ...keyForm.read(row), limits: limitsForm.read(row) }
}

/** Finds what keys are called by id: the name, or the head of a key without one. */
export async function findKeyNames(
  queryable: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const places = wanted.map((_, index) => `$${index + 1}`).join(', ')
  return readNames(await queryable.query(`${selectNames} WHERE id IN (${places})`, wanted))
}

/** Reads what keys are called by id, both ends included. */
export async function readKeyNames(
  queryable: Queryable,
  ids: { readonly first: string; readonly last: string },
): Promise<ReadonlyMap<string, string>> {
  return readNames(
    await queryable.query(`${selectNames} WHERE id >= $1 AND id <= $2`, [ids.first, ids.last]),
  )
}

/** Reads the names of an account's keys, by id. */
export async function readNamesOfKeys(
  queryable: Queryable,
  accountId: string,
): Promise<ReadonlyMap<string, string>> {
  const sql = `${selectNames} WHERE account_id = $1 AND kind = 'client'`
  return readNames(await queryable.query(sql, [accountId]))
}

const selectNames = "SELECT id, COALESCE(NULLIF(name, ''), head) AS name FROM key"

function readNames(rows: readonly Row[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [String(row['id']), String(row['name'])]))
}
