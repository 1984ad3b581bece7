/**
 * Keys of all three kinds: create, list, edit, revoke. A secret leaves this file once, in the result that
 * creates it; the store keeps its hash and its head.
 */
import { z } from 'zod'
import { adminRoles, hashSecret, headOf, keyKinds, makeSecret } from '../../access/key.ts'
import {
  changeKey,
  insertKey,
  listKeys,
  replaceSecret,
  revokeKey as storeRevocation,
  type KeyRow,
} from '../../access/key-store.ts'
import { newId } from '../../base/id.ts'
import { noKeyLimits, type KeyLimits } from '../../base/key-limits.ts'
import { noKeyUsage, readKeyUsage } from '../../ledger/key-usage.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { recordAction } from '../actions.ts'
import { ownKeysOnly, requireKeyRoom, requireNarrower } from '../members/acting-member.ts'
import {
  accountReference,
  ipRanges,
  label,
  limitUsd,
  modelIds,
  requestsPerMinute,
  tokensPerMinute,
  untilTime,
} from '../input.ts'
import { pageForm } from '../answer-forms.ts'
import {
  describeKey,
  describeSettings,
  keyForm,
  newKeyForm,
  viewKey,
  type KeyView,
  type NewKey,
} from './key-view.ts'
import { getKey, getUsableKey, requireModels } from './known-key.ts'
import { pageFields, pageOf, type Page } from '../paging.ts'
import { conflict, invalid, invalidField, operation, type OperationContext } from '../operation.ts'

const keyId = z
  .string('must be the id of a key')
  .min(1, 'must be the id of a key')
  .describe('The id, such as key_…, as the list shows it.')

const limitFields = {
  daily_usd: limitUsd
    .optional()
    .describe('Spending limit of this key per day (UTC), in USD; 0 = no limit.'),
  monthly_usd: limitUsd
    .optional()
    .describe('Spending limit of this key per calendar month (UTC), in USD; 0 = no limit.'),
  total_usd: limitUsd
    .optional()
    .describe('Spending limit of this key in all, in USD; 0 = no limit.'),
  rpm: requestsPerMinute.optional(),
  tpm: tokensPerMinute.optional(),
}

/** Sets the limits that are given and keeps the others. */
function readLimits(
  given: {
    readonly [Name in keyof typeof limitFields]?: z.output<(typeof limitFields)[Name]>
  },
  before: KeyLimits,
): KeyLimits {
  return {
    dailyPicos: given.daily_usd ?? before.dailyPicos,
    monthlyPicos: given.monthly_usd ?? before.monthlyPicos,
    totalPicos: given.total_usd ?? before.totalPicos,
    rpm: given.rpm ?? before.rpm,
    tpm: given.tpm ?? before.tpm,
  }
}

export const createClientKey = operation(
  {
    input: z.strictObject({
      account: accountReference,
      name: label,
      models: modelIds.optional(),
      ip: ipRanges.optional(),
      ...limitFields,
      expires: untilTime.optional(),
    }),
    answer: newKeyForm,
  },
  (context, given) => {
    const expiresAtMs = readExpiry(context, given.expires)
    return context.database.transact(async (transaction) => {
      const account = await getAccount(transaction, given.account)
      if (account.status === 'closed')
        throw conflict(
          `The account ${account.name} is closed and gets no keys. Reopen it first, with: turnpike account reopen NAME`,
        )
      const limits = readLimits(given, noKeyLimits)
      requireNarrower(context, account, limits)
      await requireKeyRoom(context, transaction)
      if (given.models !== undefined) await requireModels(transaction, given.models)
      return addKey(context, transaction, {
        kind: 'client',
        accountId: account.id,
        memberId: context.member?.id,
        role: undefined,
        name: given.name,
        allowedModels: given.models,
        ipRanges: given.ip,
        limits,
        expiresAtMs,
      })
    })
  },
)

export const showClientKey = operation(
  { input: z.strictObject({ id: keyId }), answer: keyForm },
  async (context, { id }) => {
    const { database, clock } = context
    const key = await getKey(context, database, { id, kind: 'client' })
    return viewOne(database, key, clock.now())
  },
)

/** Changes the given fields and keeps the rest. Null removes a restriction, 0 a limit. */
export const editKey = operation(
  {
    input: z.strictObject({
      id: keyId,
      name: label.unwrap().optional(),
      models: modelIds.nullish(),
      ip: ipRanges.nullish(),
      ...limitFields,
      expires: untilTime.nullish(),
    }),
    answer: keyForm,
  },
  (context, { id, ...given }) => {
    if (Object.values(given).every((value) => value === undefined))
      throw invalid('Give at least one thing to change.')
    const expiresAtMs = readExpiry(context, given.expires)
    return context.database.transact(async (transaction) => {
      const key = await getUsableKey(context, transaction, id)
      const limits = readLimits(given, key.limits)
      if (context.member !== undefined)
        requireNarrower(context, await getAccount(transaction, context.member.accountId), limits)
      if (given.models) await requireModels(transaction, given.models)
      const changes = {
        name: given.name ?? key.name,
        allowedModels: changed(given.models, key.allowedModels),
        ipRanges: changed(given.ip, key.ipRanges),
        limits,
        expiresAtMs: changed(expiresAtMs, key.expiresAtMs),
      }
      await changeKey(transaction, id, changes)
      const edited = { ...key, ...changes }
      await recordAction(transaction, context, {
        action: 'key.edit',
        subject: id,
        detail: { before: describeSettings(key), after: describeSettings(edited) },
      })
      return viewOne(transaction, edited, context.clock.now())
    })
  },
)

/** Gives a key a new secret. The key keeps its id, its limits and what it has used. */
export const rotateKey = operation(
  { input: z.strictObject({ id: keyId }), answer: newKeyForm },
  (context, { id }) =>
    context.database.transact(async (transaction) => {
      const key = await getUsableKey(context, transaction, id)
      const secret = makeSecret('client')
      const head = headOf(secret)
      await replaceSecret(transaction, id, { secretHash: hashSecret(secret), head })
      await recordAction(transaction, context, {
        action: 'key.rotate',
        subject: id,
        detail: { before: { head: key.head }, after: { head } },
      })
      return { key: await viewOne(transaction, { ...key, head }, context.clock.now()), secret }
    }),
)

/** Absent keeps a value, null removes it. */
function changed<Value>(
  given: Value | null | undefined,
  before: Value | undefined,
): Value | undefined {
  return given === undefined ? before : (given ?? undefined)
}

/** A closed account gets tokens, too: its holder may still read its usage. */
export const createReaderToken = operation(
  { input: z.strictObject({ account: accountReference, name: label }), answer: newKeyForm },
  (context, { account: reference, name }) =>
    context.database.transact(async (transaction) => {
      const account = await getAccount(transaction, reference)
      return addKey(context, transaction, {
        ...plainKey,
        kind: 'reader',
        accountId: account.id,
        name,
      })
    }),
)

export const createAdminToken = operation(
  {
    input: z.strictObject({
      name: label,
      role: z
        .enum(adminRoles, `must be one of ${adminRoles.join(', ')}`)
        .default('owner')
        .describe('What the token may do.'),
      expires: untilTime.optional(),
    }),
    answer: newKeyForm,
  },
  async (context, { name, role, expires }) => {
    const expiresAtMs = readExpiry(context, expires)
    const draft = { ...plainKey, kind: 'admin', name, role, expiresAtMs } as const
    return context.database.transact((transaction) => addKey(context, transaction, draft))
  },
)

/** Null removes an expiry, undefined keeps it. */
function readExpiry<Given extends number | null | undefined>(
  { clock }: OperationContext,
  expiresAtMs: Given,
): Given {
  if (typeof expiresAtMs === 'number' && expiresAtMs <= clock.now())
    throw invalidField('expires', 'must not be in the past')
  return expiresAtMs
}

const keyPage = pageForm(keyForm)

export const listAccountKeys = operation(
  {
    input: z.strictObject({
      account: accountReference,
      kind: z.enum(['client', 'reader']),
      ...pageFields,
    }),
    answer: keyPage,
  },
  async (context, { account: reference, kind, ...page }) => {
    const { database, clock } = context
    const { id: accountId } = await getAccount(database, reference)
    const owner = { kind, accountId, memberId: ownKeysOnly(context) }
    return readPage(database, owner, { ...page, nowMs: clock.now() })
  },
)

/** Oldest first. */
export const listAdminTokens = operation(
  { input: z.strictObject(pageFields), answer: keyPage },
  ({ database, clock }, page) =>
    readPage(database, { kind: 'admin', accountId: undefined }, { ...page, nowMs: clock.now() }),
)

async function readPage(
  queryable: Queryable,
  owner: Parameters<typeof listKeys>[1],
  page: { readonly cursor?: string | undefined; readonly limit: number; readonly nowMs: number },
): Promise<Page<KeyView>> {
  const { cursor, limit, nowMs } = page
  const rows = await listKeys(queryable, owner, { afterId: cursor ?? '', countMax: limit + 1 })
  const used = await readKeyUsage(queryable, { keys: rows, atMs: nowMs })
  const view = (row: KeyRow): KeyView => viewKey(row, used.get(row.id) ?? noKeyUsage, nowMs)
  return pageOf(rows, { limit, cursorOf: ({ id }) => id, view })
}

/** Revokes a key; it cannot be restored. Where it is revoked already, nothing changes. */
export const revokeKey = operation(
  {
    input: z.strictObject({ kind: z.enum(keyKinds), id: keyId }),
    answer: keyForm,
  },
  (context, { kind, id }) =>
    context.database.transact(async (transaction) => {
      const advise = (word: string): string => ` Use: turnpike ${word} revoke ${id}`
      const key = await getKey(context, transaction, { id, kind }, advise)
      const revokedAtMs = key.revokedAtMs ?? (await revokeStoredKey(context, transaction, key))
      return viewOne(transaction, { ...key, revokedAtMs }, context.clock.now())
    }),
)

async function viewOne(queryable: Queryable, key: KeyRow, nowMs: number): Promise<KeyView> {
  const used = await readKeyUsage(queryable, { keys: [key], atMs: nowMs })
  return viewKey(key, used.get(key.id) ?? noKeyUsage, nowMs)
}

/** Returns the time from which the key is revoked. */
export async function revokeStoredKey(
  context: OperationContext,
  transaction: Transaction,
  { id, kind, head, accountId }: KeyRow,
): Promise<number> {
  const atMs = context.clock.now()
  await storeRevocation(transaction, { id, atMs })
  await recordAction(transaction, context, {
    action: 'key.revoke',
    subject: id,
    detail: { kind, head, account_id: accountId ?? null },
  })
  return atMs
}

type KeyDraft = Omit<KeyRow, 'id' | 'head' | 'createdAtMs' | 'revokedAtMs' | 'lastUsedAtMs'>

/** A key without restrictions. */
const plainKey = {
  accountId: undefined,
  memberId: undefined,
  role: undefined,
  allowedModels: undefined,
  ipRanges: undefined,
  limits: noKeyLimits,
  expiresAtMs: undefined,
} as const

/** An admin token that may do everything. */
export const ownerKey = { ...plainKey, kind: 'admin', role: 'owner' } as const

/** Adds a key with a new secret, or with a given one. */
export async function addKey(
  context: OperationContext,
  transaction: Transaction,
  draft: KeyDraft,
  secret: string = makeSecret(draft.kind),
): Promise<NewKey> {
  const createdAtMs = context.clock.now()
  const key = { ...draft, id: newId('key', createdAtMs), head: headOf(secret), createdAtMs }
  await insertKey(transaction, { ...key, secretHash: hashSecret(secret) })
  const row = { ...key, revokedAtMs: undefined, lastUsedAtMs: undefined }
  await recordAction(transaction, context, {
    action: 'key.create',
    subject: key.id,
    detail: describeKey(row, createdAtMs),
  })
  return { key: viewKey(row, noKeyUsage, createdAtMs), secret }
}
