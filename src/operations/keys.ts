/**
 * Keys of all three kinds: made, listed, revoked. A secret leaves this file once, in the result of
 * its making; what is kept is its hash and its head.
 */
import { z } from 'zod'
import { hashSecret, headOf, makeSecret } from '../access/key.ts'
import {
  findKey,
  findKeyBySecretHash,
  insertKey,
  listKeys,
  revokeKey,
  type KeyRow,
} from '../access/key-store.ts'
import type { KeyKind } from '../access/principal.ts'
import { newId } from '../base/id.ts'
import { usdNumber, zeroPicos } from '../base/money.ts'
import type { Secret } from '../base/secret.ts'
import { readCatalogue } from '../channels/channel-store.ts'
import type { Queryable, Transaction } from '../storage/database.ts'
import { getAccount } from './accounts.ts'
import { recordAction } from './action-store.ts'
import { invalid, notFound, parseInput, type OperationContext } from './context.ts'
import { accountReference, ipRanges, label, limitUsd, modelIds, untilTime } from './input.ts'
import { timeOrNull, timeText } from './views.ts'

/** A key as operators see it. */
export interface KeyView {
  readonly id: string
  readonly kind: KeyKind
  /** Null for admin tokens. */
  readonly account_id: string | null
  readonly name: string
  readonly head: string
  readonly status: 'active' | 'expired' | 'revoked'
  /** Null = every model. */
  readonly models: readonly string[] | null
  /** Null = from everywhere. */
  readonly ip: readonly string[] | null
  /** Zero = no limit of its own. */
  readonly daily_usd: number
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

/** The one place where a secret is shown. */
export interface NewKey {
  readonly key: KeyView
  readonly secret: string
}

const clientKeyInput = z.strictObject({
  account: accountReference,
  name: label,
  models: modelIds.optional(),
  ip: ipRanges.optional(),
  daily_usd: limitUsd.optional(),
  expires: untilTime.optional(),
})

export function createClientKey(context: OperationContext, input: unknown): Promise<NewKey> {
  const wanted = parseInput(clientKeyInput, input)
  if (wanted.expires !== undefined && wanted.expires <= context.clock.now())
    throw invalid('expires: must not be in the past; such a key would never work')
  return context.database.transact(async (transaction) => {
    const account = await getAccount(transaction, wanted.account)
    if (wanted.models !== undefined) await demandModels(transaction, wanted.models)
    return addKey(context, transaction, {
      kind: 'client',
      accountId: account.id,
      name: wanted.name,
      allowedModels: wanted.models,
      ipRanges: wanted.ip,
      dailyLimitPicos: wanted.daily_usd ?? zeroPicos,
      expiresAtMs: wanted.expires,
    })
  })
}

const readerTokenInput = z.strictObject({ account: accountReference, name: label })

export function createReaderToken(context: OperationContext, input: unknown): Promise<NewKey> {
  const wanted = parseInput(readerTokenInput, input)
  return context.database.transact(async (transaction) => {
    const account = await getAccount(transaction, wanted.account)
    return addKey(context, transaction, {
      ...plainKey,
      kind: 'reader',
      accountId: account.id,
      name: wanted.name,
    })
  })
}

const adminTokenInput = z.strictObject({ name: label })

export function createAdminToken(context: OperationContext, input: unknown): Promise<NewKey> {
  const wanted = parseInput(adminTokenInput, input)
  return context.database.transact((transaction) =>
    addKey(context, transaction, { ...plainKey, kind: 'admin', name: wanted.name }),
  )
}

const listInput = z.strictObject({ account: accountReference })

export async function listAccountKeys(
  context: OperationContext,
  kind: 'client' | 'reader',
  input: unknown,
): Promise<readonly KeyView[]> {
  const account = await getAccount(context.database, parseInput(listInput, input).account)
  const rows = await listKeys(context.database, { kind, accountId: account.id })
  return rows.map((row) => viewKey(row, context.clock.now()))
}

export async function listAdminTokens(context: OperationContext): Promise<readonly KeyView[]> {
  const rows = await listKeys(context.database, { kind: 'admin', accountId: undefined })
  return rows.map((row) => viewKey(row, context.clock.now()))
}

const revokeInput = z.strictObject({ id: z.string('must name a key').min(1, 'must name a key') })

/** Revoking what is revoked already changes nothing and succeeds. */
export function revoke(context: OperationContext, kind: KeyKind, input: unknown): Promise<KeyView> {
  const { id } = parseInput(revokeInput, input)
  return context.database.transact(async (transaction) => {
    const key = await findKey(transaction, id)
    if (key === undefined || key.kind !== kind) throw noSuchKey(id, kind, key?.kind)
    if (key.revokedAtMs !== undefined) return viewKey(key, context.clock.now())
    const atMs = context.clock.now()
    await revokeKey(transaction, { id, atMs })
    await recordAction(transaction, context, {
      action: 'key.revoke',
      subject: id,
      detail: { kind, head: key.head, account_id: key.accountId ?? null },
    })
    return viewKey({ ...key, revokedAtMs: atMs }, atMs)
  })
}

/** The name that marks the token of the `admin_token` setting. */
const settingTokenName = 'admin_token setting'

/**
 * Makes the token of the settings valid and revokes the one a former start was given. Safe to
 * repeat at every start.
 */
export function adoptAdminToken(context: OperationContext, token: Secret): Promise<void> {
  const secret = token.reveal()
  return context.database.transact(async (transaction) => {
    const admins = await listKeys(transaction, { kind: 'admin', accountId: undefined })
    const existing = await findKeyBySecretHash(transaction, hashSecret(secret))
    for (const former of admins) {
      const isSetByHand = former.name !== settingTokenName || former.id === existing?.id
      if (isSetByHand || former.revokedAtMs !== undefined) continue
      await revokeKey(transaction, { id: former.id, atMs: context.clock.now() })
    }
    if (existing === undefined) {
      await addKey(
        context,
        transaction,
        { ...plainKey, kind: 'admin', name: settingTokenName },
        secret,
      )
    } else if (existing.revokedAtMs !== undefined) {
      throw invalid('admin_token: this token has been revoked; choose a new one')
    }
  })
}

/** Makes the first admin token of a store, once; undefined where one has ever been made. */
export function createFirstAdminToken(context: OperationContext): Promise<NewKey | undefined> {
  return context.database.transact(async (transaction) => {
    const admins = await listKeys(transaction, { kind: 'admin', accountId: undefined })
    if (admins.length > 0) return undefined
    return addKey(context, transaction, { ...plainKey, kind: 'admin', name: 'first' })
  })
}

type KeyDraft = Omit<KeyRow, 'id' | 'head' | 'createdAtMs' | 'revokedAtMs'>

/** No restriction of any kind. */
const plainKey = {
  accountId: undefined,
  allowedModels: undefined,
  ipRanges: undefined,
  dailyLimitPicos: zeroPicos,
  expiresAtMs: undefined,
} as const

async function addKey(
  context: OperationContext,
  transaction: Transaction,
  draft: KeyDraft,
  secret: string = makeSecret(draft.kind),
): Promise<NewKey> {
  const createdAtMs = context.clock.now()
  const key = { ...draft, id: newId('key', createdAtMs), head: headOf(secret), createdAtMs }
  await insertKey(transaction, { ...key, secretHash: hashSecret(secret) })
  const view = viewKey({ ...key, revokedAtMs: undefined }, createdAtMs)
  await recordAction(transaction, context, {
    action: 'key.create',
    subject: key.id,
    detail: { ...view },
  })
  return { key: view, secret }
}

async function demandModels(queryable: Queryable, wanted: readonly string[]): Promise<void> {
  const { models } = await readCatalogue(queryable)
  const known = models.filter((model) => model.retiredAtMs === undefined).map((model) => model.id)
  const unknown = wanted.filter((id) => !known.includes(id))
  if (unknown.length === 0) return
  const list = known.length === 0 ? 'the catalogue has none yet' : `there are ${known.join(', ')}`
  throw invalid(`models: unknown: ${unknown.join(', ')}; ${list}`)
}

const kindWords: Readonly<Record<KeyKind, string>> = {
  client: 'key',
  reader: 'token',
  admin: 'admin-token',
}

/** Also one with a typo: it is too close to a secret to be shown. */
const secretLike = /^(?:cr|ro|ad)_/

function noSuchKey(id: string, kind: KeyKind, actual: KeyKind | undefined): Error {
  if (secretLike.test(id))
    return notFound(
      `${headOf(id)} is a secret, not an id. The list of ${kindWords[kind]}s shows the id beside the same head.`,
    )
  return notFound(
    actual === undefined
      ? `There is no ${kindWords[kind]} with the id ${id}.`
      : `${id} is no ${kindWords[kind]} but a ${kindWords[actual]}; revoke it as one.`,
  )
}

function viewKey(key: KeyRow, nowMs: number): KeyView {
  return {
    id: key.id,
    kind: key.kind,
    account_id: key.accountId ?? null,
    name: key.name,
    head: key.head,
    status: statusOf(key, nowMs),
    models: key.allowedModels ?? null,
    ip: key.ipRanges ?? null,
    daily_usd: usdNumber(key.dailyLimitPicos),
    created_at: timeText(key.createdAtMs),
    expires_at: timeOrNull(key.expiresAtMs),
    revoked_at: timeOrNull(key.revokedAtMs),
  }
}

function statusOf(key: KeyRow, nowMs: number): KeyView['status'] {
  if (key.revokedAtMs !== undefined) return 'revoked'
  return key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs ? 'expired' : 'active'
}
