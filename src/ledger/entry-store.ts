/**
 * SQL of table entry for operators: credits, adjustments, refunds. Invariants: an entry and its
 * balance are written together or not at all; an entry is never edited; a reference is booked once.
 */
import { hash } from 'node:crypto'
import { dayMs } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import {
  addPicos,
  picos,
  picosPerUsd,
  subtractPicos,
  zeroPicos,
  type Picos,
} from '../base/money.ts'
import type { Queryable, Transaction } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { insertRow } from '../storage/rows.ts'
import { readPicos } from './usage.ts'

type EntryKind = 'credit' | 'charge' | 'adjustment' | 'refund'

const entryColumns = {
  /** Grows with each entry of the store. */
  sequence: column.number,
  accountId: column.text,
  kind: column.word<EntryKind>(),
  /** A charge's is its exchange id. */
  reference: column.text,
  /** Signed: a charge is negative. */
  amountPicos: column.amount,
  note: column.optional(column.text),
  createdAtMs: column.number,
}
const entryForm = rowForm(entryColumns)
export type Entry = Read<typeof entryForm>
/** Reads an entry from a row that has its columns. */
export const readEntry = entryForm.read

const paidInForm = rowForm({
  ...entryColumns,
  /** What the receipt of a credit keeps; undefined where it was not known. */
  billTo: column.optional(column.text),
  taxThousandths: column.optional(column.number),
})
export type PaidIn = Read<typeof paidInForm>

export interface CreditRequest {
  readonly accountId: string
  readonly kind: Exclude<EntryKind, 'charge'>
  /** Signed; above zero but for adjustments, which may take away. Never zero. */
  readonly amountPicos: Picos
  /** The idempotency key, unique per account. */
  readonly reference: string
  readonly note?: string
  readonly atMs: number
  /** The tax that a credit includes, in thousandths of a percent. */
  readonly taxThousandths?: number | undefined
}

export type CreditResult =
  | { readonly kind: 'booked'; readonly entry: Entry; readonly balancePicos: Picos }
  /** The same request was booked before; nothing is changed. */
  | { readonly kind: 'repeated'; readonly entry: Entry; readonly balancePicos: Picos }
  /** Another request was booked under this reference; nothing is changed. */
  | { readonly kind: 'conflict'; readonly entry: Entry; readonly balancePicos: Picos }
  | { readonly kind: 'unknown_account' }
  | { readonly kind: 'invalid'; readonly reason: InvalidCredit }

type InvalidCredit = 'amount_sign' | 'balance_out_of_range' | 'reference'

/** 64-bit integers end a little above nine million USD; no balance comes near enough to overflow. */
export const balanceMax: Picos = picos(9_000_000n * picosPerUsd)
/** The largest credit line: with it and one more hold, every balance still fits into 64 bits. */
export const creditLineMax: Picos = picos(100_000n * picosPerUsd)
const balanceMin = subtractPicos(zeroPicos, balanceMax)

const referenceLengthMax = 255

/** Books a credit, or a debit by an adjustment, once per reference. */
export async function credit(
  transaction: Transaction,
  request: CreditRequest,
): Promise<CreditResult> {
  const invalid = findInvalid(request)
  if (invalid !== undefined) return { kind: 'invalid', reason: invalid }
  const { accountId, amountPicos } = request
  const sql = 'SELECT balance_picos, bill_to FROM account WHERE id = $1'
  const [account] = await transaction.query(sql, [accountId])
  if (account === undefined) return { kind: 'unknown_account' }
  const before = readPicos(account, 'balance_picos')
  const repetition = await findRepetition(transaction, request, before)
  if (repetition !== undefined) return repetition
  const balancePicos = addPicos(before, amountPicos)
  if (balancePicos > balanceMax || balancePicos < balanceMin)
    return { kind: 'invalid', reason: 'balance_out_of_range' }
  const entry = await insertEntry(transaction, request, String(account['bill_to']))
  await transaction.query(
    `UPDATE account SET balance_picos = balance_picos + $2,
       has_paid = CASE WHEN $3 = 1 THEN 1 ELSE has_paid END WHERE id = $1`,
    [accountId, amountPicos, request.kind === 'credit' ? 1 : 0],
  )
  return { kind: 'booked', entry, balancePicos }
}

/** Returns the largest credit of the account before `entry`; undefined where there is none. */
export async function largestCreditBefore(
  database: Queryable,
  { accountId, sequence }: Pick<Entry, 'accountId' | 'sequence'>,
): Promise<Picos | undefined> {
  const [row] = await database.query(
    `SELECT amount_picos FROM entry
      WHERE account_id = $1 AND sequence < $2 AND kind = 'credit' AND kind <> 'charge'
      ORDER BY amount_picos DESC LIMIT 1`,
    [accountId, sequence],
  )
  return row === undefined ? undefined : readPicos(row, 'amount_picos')
}

/** Lists what payment services have moved, in all accounts. */
export async function listPaymentEntries(
  database: Queryable,
): Promise<readonly Pick<Entry, 'reference' | 'amountPicos'>[]> {
  const rows = await database.query(
    `SELECT reference, amount_picos FROM entry
      WHERE kind <> 'charge' AND reference >= 'stripe' AND reference < 'stripf'`,
  )
  return rows.map((row) => ({
    reference: String(row['reference']),
    amountPicos: readPicos(row, 'amount_picos'),
  }))
}

/** Lists the credits of an account, and what payment services took back of them, newest first. */
export async function listPaidIn(
  database: Queryable,
  page: {
    readonly accountId: string
    readonly beforeSequence: number
    readonly countMax: number
  },
): Promise<readonly PaidIn[]> {
  const rows = await database.query(
    `SELECT ${paidInForm.columns} FROM entry
      WHERE account_id = $1 AND sequence < $2 AND kind <> 'charge'
        AND (kind = 'credit' OR (reference >= 'stripe-' AND reference < 'stripe.'))
      ORDER BY sequence DESC LIMIT $3`,
    [page.accountId, page.beforeSequence, page.countMax],
  )
  return rows.map(paidInForm.read)
}

export async function findPaidIn(
  database: Queryable,
  { accountId, reference }: Pick<Entry, 'accountId' | 'reference'>,
): Promise<PaidIn | undefined> {
  const sql = `SELECT ${paidInForm.columns} FROM entry WHERE account_id = $1 AND reference = $2`
  const [row] = await database.query(sql, [accountId, reference])
  return row === undefined ? undefined : paidInForm.read(row)
}

/** Lists the accounts that have entries. */
export async function listBookedAccounts(database: Queryable): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT id FROM account
      WHERE EXISTS (SELECT 1 FROM entry WHERE entry.account_id = account.id) ORDER BY id`,
  )
  return rows.map((row) => String(row['id']))
}

/** Finds the newest entry of the whole store. */
export async function newestEntry(database: Queryable): Promise<Entry | undefined> {
  const [row] = await database.query(
    `SELECT ${entryForm.columns} FROM entry ORDER BY sequence DESC LIMIT 1`,
  )
  return row === undefined ? undefined : readEntry(row)
}

/**
 * An exchange's id says when it began; its charge is booked at most this much later, by a clock that
 * is not set meanwhile.
 */
export const longestExchangeMs = dayMs
/** The last moment that an id can spell: ten digits of five bits. */
const latestIdMs = 2 ** 50 - 1

/** References of charges are exchange ids; no other reference may look like one. */
const exchangePrefix = 'ex_'

/** The reference of a refund is this with the id of the exchange that it refunds. */
export const refundPrefix = 'refund:'

/** The reference of an entry that says when the backup was made from which the store was restored. */
const restoredPrefix = 'restored:'

/**
 * Books an entry of nothing into an account: the store was restored, and what was booked since `backupAtMs`
 * is lost. It is sealed like others, so a reader of the books sees why an older head is not in their chain.
 */
export async function insertRestored(
  transaction: Transaction,
  restored: { readonly accountId: string; readonly backupAtMs: number; readonly atMs: number },
): Promise<void> {
  const { accountId, backupAtMs, atMs } = restored
  const backupAt = new Date(backupAtMs).toISOString()
  const booking = {
    accountId,
    kind: 'adjustment',
    reference: `${restoredPrefix}${backupAt}`,
    amountPicos: zeroPicos,
    note: `The store was restored from a backup of ${backupAt}.`,
  } as const
  const row = entryForm.write({ ...booking, createdAtMs: atMs })
  const rest = 'ON CONFLICT (account_id, reference) DO NOTHING'
  await insertRow(transaction, 'entry', { ...row, input_hash: hashBooking(booking) }, rest)
}

/** Smaller than every exchange id made at or after `atMs`: the part that says when, without the rest. */
export function firstExchangeIdAt(atMs: number): string {
  return newId('ex', Math.min(atMs, latestIdMs)).slice(0, exchangePrefix.length + 10)
}

function findInvalid(request: CreditRequest): InvalidCredit | undefined {
  const { amountPicos, kind, reference } = request
  if (amountPicos === 0n || (amountPicos < 0n && kind !== 'adjustment')) return 'amount_sign'
  // The amount needs its own bound, because it is stored in 64 bits, too.
  if (amountPicos > balanceMax || amountPicos < balanceMin) return 'balance_out_of_range'
  const isUsable =
    reference.length > 0 &&
    reference.length <= referenceLengthMax &&
    !reference.startsWith(exchangePrefix) &&
    !reference.startsWith(restoredPrefix) &&
    reference.startsWith(refundPrefix + exchangePrefix) === (kind === 'refund')
  return isUsable ? undefined : 'reference'
}

async function findRepetition(
  transaction: Transaction,
  request: CreditRequest,
  balancePicos: Picos,
): Promise<CreditResult | undefined> {
  const [row] = await transaction.query(
    `SELECT ${entryForm.columns}, input_hash FROM entry WHERE account_id = $1 AND reference = $2`,
    [request.accountId, request.reference],
  )
  if (row === undefined) return undefined
  const stored = String(row['input_hash'])
  const kind = stored === hashBooking(request) ? 'repeated' : 'conflict'
  return { kind, entry: readEntry(row), balancePicos }
}

async function insertEntry(
  transaction: Transaction,
  request: CreditRequest,
  payer: string,
): Promise<Entry> {
  const { accountId, kind, reference, amountPicos, note, atMs, taxThousandths } = request
  const entry = { accountId, kind, reference, amountPicos, note, createdAtMs: atMs }
  const kept = kind === 'credit' ? { billTo: payer || undefined, taxThousandths } : {}
  const row = { ...paidInForm.write({ ...entry, ...kept }), input_hash: hashBooking(request) }
  const [inserted] = await insertRow(transaction, 'entry', row, `RETURNING ${entryForm.columns}`)
  invariant(inserted !== undefined, 'an inserted entry is returned')
  return readEntry(inserted)
}

type Booking = Pick<Entry, 'accountId' | 'kind' | 'reference' | 'amountPicos'> & {
  readonly note?: string | undefined
}

/** Hashes the request without its time, so that the same request again is a repetition. */
export function hashBooking(booking: Booking): string {
  const { accountId, reference, kind, amountPicos, note } = booking
  const parts = [accountId, reference, kind, amountPicos.toString(), note ?? null]
  return hash('sha256', JSON.stringify(parts))
}
