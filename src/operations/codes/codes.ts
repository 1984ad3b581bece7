/**
 * Top-up codes for operators: make a batch, list, revoke. A code leaves this file once, in the result that
 * makes it; the store keeps its hash and its head.
 */
import { z } from 'zod'
import { hashSecret, headOf, makeSecret } from '../../access/key.ts'
import { newId } from '../../base/id.ts'
import { formatUsd } from '../../base/money.ts'
import { findAccountNames } from '../../ledger/account-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { readActorNames, recordAction, type ActorNames } from '../actions.ts'
import { count, moment, pageForm, usd, type Answer } from '../answer-forms.ts'
import { codeCount, codeUsd, note, searchWord, untilTime } from '../input.ts'
import { conflict, invalidField, notFound, operation, timeOrNull, timeText } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import {
  findBatch,
  findCode,
  insertBatch,
  listBatches,
  listCodes,
  revokeCodes,
  type CodeRow,
  type CountedBatch,
} from './code-store.ts'

const batchForm = z.strictObject({
  id: z.string(),
  amount_usd: usd.meta({ description: 'Of each code.' }),
  count,
  open: count.meta({ description: 'Codes that can be redeemed.' }),
  redeemed: count,
  revoked: count,
  expired: count,
  note: z.string(),
  actor: z.string(),
  actor_name: z.string().nullable().meta({ description: 'Of the token; null for a command.' }),
  created_at: moment,
  expires_at: moment.nullable(),
})
type BatchView = Answer<typeof batchForm>

const newBatchForm = z.strictObject({
  batch: batchForm,
  codes: z.array(z.string()).meta({ description: 'Shown once, in this answer.' }),
})
export type NewBatch = Answer<typeof newBatchForm>

export const createCodes = operation(
  {
    input: z.strictObject({
      amount_usd: codeUsd,
      count: codeCount,
      expires: untilTime.optional(),
      note: note.default('').describe('A note for operators; may be empty.'),
    }),
    answer: newBatchForm,
  },
  (context, { amount_usd: amountPicos, count: codeTotal, expires: expiresAtMs, note: text }) => {
    const createdAtMs = context.clock.now()
    if (expiresAtMs !== undefined && expiresAtMs <= createdAtMs)
      throw invalidField('expires', 'must not be in the past')
    const batch = {
      id: newId('batch', createdAtMs),
      amountPicos,
      codeCount: codeTotal,
      note: text,
      actor: context.actor,
      createdAtMs,
      expiresAtMs,
    }
    const codes = Array.from({ length: codeTotal }, () => makeSecret('code'))
    const rows = codes.map((secret) => ({
      id: newId('code', createdAtMs),
      head: headOf(secret),
      secretHash: hashSecret(secret),
    }))
    return context.database.transact(async (transaction) => {
      await insertBatch(transaction, batch, rows)
      await recordAction(transaction, context, {
        action: 'code.create',
        subject: batch.id,
        detail: {
          amount_usd: formatUsd(amountPicos),
          count: codeTotal,
          expires_at: timeOrNull(expiresAtMs),
        },
      })
      const counted = { ...batch, redeemedCount: 0, revokedCount: 0 }
      const names = await readActorNames(transaction)
      return { batch: viewBatch(counted, names, createdAtMs), codes }
    })
  },
)

export const readBatches = operation(
  { input: z.strictObject(pageFields), answer: pageForm(batchForm) },
  async ({ database, clock }, { cursor, limit }) => {
    const rows = await listBatches(database, { beforeId: cursor, countMax: limit + 1 })
    const names = await readActorNames(database)
    const view = (row: CountedBatch): BatchView => viewBatch(row, names, clock.now())
    return pageOf(rows, { limit, cursorOf: ({ id }) => id, view })
  },
)

function viewBatch(batch: CountedBatch, names: ActorNames, nowMs: number): BatchView {
  const { codeCount: codeTotal, redeemedCount, revokedCount, expiresAtMs } = batch
  const left = codeTotal - redeemedCount - revokedCount
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs
  return {
    id: batch.id,
    amount_usd: formatUsd(batch.amountPicos),
    count: codeTotal,
    open: isExpired ? 0 : left,
    redeemed: redeemedCount,
    revoked: revokedCount,
    expired: isExpired ? left : 0,
    note: batch.note,
    actor: batch.actor,
    actor_name: names.get(batch.actor) ?? null,
    created_at: timeText(batch.createdAtMs),
    expires_at: timeOrNull(expiresAtMs),
  }
}

const codeForm = z.strictObject({
  id: z.string(),
  head: z.string().meta({ description: 'The beginning of the code.' }),
  state: z.enum(['open', 'redeemed', 'revoked', 'expired']),
  account_id: z.string().nullable().meta({ description: 'That has redeemed it.' }),
  account_name: z.string().nullable(),
  redeemed_at: moment.nullable(),
  revoked_at: moment.nullable(),
})
type CodeView = Answer<typeof codeForm>

const batchOrCode = searchWord.describe('Id of a batch, or of one code.')

export const readCodes = operation(
  {
    input: z.strictObject({ id: searchWord.describe('Id of a batch.'), ...pageFields }),
    answer: pageForm(codeForm),
  },
  async ({ database, clock }, { id, cursor = '', limit }) => {
    const batch = await getBatch(database, id)
    const rows = await listCodes(database, id, { afterId: cursor, countMax: limit + 1 })
    const accounts = await findAccountNames(
      database,
      rows.flatMap(({ accountId }) => accountId ?? []),
    )
    const isExpired = batch.expiresAtMs !== undefined && batch.expiresAtMs <= clock.now()
    const view = (row: CodeRow): CodeView => ({
      id: row.id,
      head: row.head,
      state: stateOf(row, isExpired),
      account_id: row.accountId ?? null,
      account_name: accounts.get(row.accountId ?? '') ?? null,
      redeemed_at: timeOrNull(row.redeemedAtMs),
      revoked_at: timeOrNull(row.revokedAtMs),
    })
    return pageOf(rows, { limit, cursorOf: (row) => row.id, view })
  },
)

function stateOf(code: CodeRow, isExpired: boolean): CodeView['state'] {
  if (code.redeemedAtMs !== undefined) return 'redeemed'
  if (code.revokedAtMs !== undefined) return 'revoked'
  return isExpired ? 'expired' : 'open'
}

/** Revokes the codes of a batch that are not redeemed, or one code. No code is redeemed after. */
export const revokeCode = operation(
  {
    input: z.strictObject({ id: batchOrCode }),
    answer: z.strictObject({
      batch: batchForm,
      revoked: count.meta({ description: 'How many codes this call has revoked.' }),
    }),
  },
  (context, { id }) =>
    context.database.transact(async (transaction) => {
      const code = await findCode(transaction, id)
      const batchId = code?.batchId ?? (await getBatch(transaction, id)).id
      const atMs = context.clock.now()
      const which = code === undefined ? { batchId } : { id }
      const revoked = await revokeCodes(transaction, which, atMs)
      const isRedeemed = (await findCode(transaction, id))?.redeemedAtMs !== undefined
      if (isRedeemed)
        throw conflict(
          `The code ${id} has been redeemed. To take the money back, use: turnpike account credit NAME -USD --reference REF`,
        )
      if (revoked > 0)
        await recordAction(transaction, context, {
          action: 'code.revoke',
          subject: id,
          detail: { revoked },
        })
      const batch = await getBatch(transaction, batchId)
      return { batch: viewBatch(batch, await readActorNames(transaction), atMs), revoked }
    }),
)

async function getBatch(queryable: Queryable, id: string): Promise<CountedBatch> {
  const batch = await findBatch(queryable, id)
  if (batch !== undefined) return batch
  throw notFound(`There is no batch or code ${id}. List the batches with: turnpike code list`)
}
