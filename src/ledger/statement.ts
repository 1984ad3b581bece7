/**
 * Reads the statement of an account: its entries of a period in the order of booking, each charge with
 * its exchange, and the balance before. Streams: memory holds one page and the charges of exchanges
 * that ran at the same time. Its pages show one moment without a snapshot that lasts: entries are never
 * edited, and the charges of an account are numbered in the order of their commits, so those up to one
 * number stay the same.
 */
import { dayMs, utcDay } from '../base/clock.ts'
import { idTimeMs } from '../base/id.ts'
import { addPicos, picos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import type { ReportedTokens } from '../metering/usage.ts'
import { eachRow, type Queryable, type Row } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { readEntry, type Entry } from './entry-store.ts'
import {
  distantIds,
  nearbyIds,
  readNearbyCharges,
  sumCharges,
  type AccountPeriod,
  type IdRange,
} from './exchange-ids.ts'
import { readMarks } from './exchange-store.ts'
import { readSealed, type SealedEntry } from './proof/seal-store.ts'
import { readReported } from './stored-usage.ts'
import { readPicos, readSum, sumOf } from './usage.ts'

const chargedForm = rowForm({
  keyId: column.text,
  vendor: column.text,
  model: column.text,
  operation: column.text,
  isStream: column.flag,
  channel: column.optional(column.text),
  startedAtMs: column.number,
  ending: column.text,
  status: column.number,
  attemptCount: column.number,
  priceLines: column.text,
})

/** The exchange of a charge. */
export interface ChargedExchange extends Read<typeof chargedForm> {
  readonly reported: ReportedTokens
  readonly marks: readonly string[]
}

export interface StatementEntry extends Entry {
  /** Undefined until its hour is sealed. */
  readonly sealed: SealedPlace | undefined
  /** Undefined for entries of operators, and where the exchange was deleted. */
  readonly exchange: ChargedExchange | undefined
}

/** The place of an entry in the chain of its account. */
export type SealedPlace = Pick<SealedEntry, 'place' | 'hash' | 'billHash'>

/** The part of a statement that is read at one moment; its other charges follow page by page. */
export interface StatementStart {
  readonly period: AccountPeriod
  /** Entries of operators, and charges whose ids are far from the period. In order. */
  readonly waiting: readonly StatementEntry[]
  /** The number of the last charge that belongs to it. */
  readonly lastSequence: number
}

/** Few: the event loop serves others between two pages. */
const pageSize = 400

/** Call it inside a snapshot. */
export async function readStatementStart(
  snapshot: Queryable,
  period: AccountPeriod,
): Promise<StatementStart> {
  const waiting: StatementEntry[] = []
  for (const entry of await readOperatorEntries(snapshot, period)) insertInOrder(waiting, entry)
  const { hasDistant, lastSequence } = await readNearbyCharges(snapshot, period)
  const start = { period, waiting, lastSequence }
  // Now: a line that is found at the end would be in the wrong place.
  if (hasDistant) {
    const whole = { ...start, lastSequence: Number.MAX_SAFE_INTEGER }
    for (const ids of distantIds(period))
      for await (const entry of eachCharge(snapshot, whole, ids)) insertInOrder(waiting, entry)
  }
  return start
}

/**
 * Finds the moment from which on the period has its last charges, at least `count` of them; its beginning
 * where it has fewer. Charges with ids far from the period do not count.
 */
export async function findStartOfLast(
  snapshot: Queryable,
  period: AccountPeriod,
  count: number,
): Promise<number> {
  const { accountId, fromMs, toMs } = period
  const ids = nearbyIds(period)
  const [row] = await snapshot.query(
    `SELECT COUNT(*) AS found, MIN(created_at_ms) AS since FROM (
       SELECT created_at_ms FROM entry
        WHERE account_id = $1 AND kind = 'charge' AND reference > $2 AND reference < $3
          AND created_at_ms >= $4 AND created_at_ms < $5
        ORDER BY reference DESC LIMIT $6) AS latest`,
    [accountId, ids.after, ids.before, fromMs, toMs, count],
  )
  return Number(row?.['found']) < count ? fromMs : Number(row?.['since'])
}

/**
 * In the order of their times, then of their numbers. Charges are read by the time at which their
 * exchanges began, which is indexed; one is yielded as soon as every later one began after it was
 * booked. Where a clock was set back by a little meanwhile, it is the order of beginnings.
 */
export async function* eachStatementEntry(
  store: Queryable,
  start: StatementStart,
): AsyncGenerator<StatementEntry> {
  // Operators' entries are few; they wait for their place among the charges.
  const waiting = [...start.waiting]
  for await (const entry of eachCharge(store, start, nearbyIds(start.period))) {
    const beganMs = idTimeMs(entry.reference) ?? entry.createdAtMs
    let ready = 0
    while (ready < waiting.length && (waiting[ready]?.createdAtMs ?? 0) <= beganMs) ready++
    yield* waiting.splice(0, ready)
    insertInOrder(waiting, entry)
  }
  yield* waiting
}

function insertInOrder(entries: StatementEntry[], entry: StatementEntry): void {
  let place = entries.length
  while (place > 0 && isBefore(entry, entries[place - 1])) place--
  entries.splice(place, 0, entry)
}

function isBefore(left: Entry, right: Entry | undefined): boolean {
  if (right === undefined) return false
  if (left.createdAtMs !== right.createdAtMs) return left.createdAtMs < right.createdAtMs
  return left.sequence < right.sequence
}

async function readOperatorEntries(
  snapshot: Queryable,
  { accountId, fromMs, toMs }: AccountPeriod,
): Promise<StatementEntry[]> {
  const rows = await snapshot.query(
    `SELECT e.sequence, e.account_id, e.kind, e.reference, e.amount_picos, e.note, e.created_at_ms,
            s.place, s.hash, s.bill_hash
       FROM entry e LEFT JOIN sealed_entry s ON s.sequence = e.sequence
      WHERE e.account_id = $1 AND e.kind <> 'charge' AND e.created_at_ms >= $2 AND e.created_at_ms < $3
      ORDER BY e.sequence`,
    [accountId, fromMs, toMs],
  )
  return rows.map((row) => ({
    ...readEntry(row),
    sealed: readPlace(row),
    exchange: undefined,
  }))
}

async function* eachCharge(
  store: Queryable,
  { period: { accountId, fromMs, toMs }, lastSequence }: StatementStart,
  ids: IdRange,
): AsyncGenerator<StatementEntry> {
  const rows = eachRow(pageSize, (last) =>
    store.query(
      `SELECT e.sequence, e.account_id, e.kind, e.reference, e.amount_picos, e.note,
              e.created_at_ms, s.place, s.hash, s.bill_hash, x.exchange_id, x.usage, x.marks,
              ${chargedForm.columns}
         FROM entry e
         LEFT JOIN sealed_entry s ON s.sequence = e.sequence
         LEFT JOIN exchange x ON x.account_id = e.account_id AND x.exchange_id = e.reference
        WHERE e.account_id = $1 AND e.kind = 'charge' AND e.reference > $2 AND e.reference < $3
          AND e.created_at_ms >= $4 AND e.created_at_ms < $5 AND e.sequence <= $6
        ORDER BY e.reference LIMIT $7`,
      [
        accountId,
        last?.['reference'] ?? ids.after,
        ids.before,
        fromMs,
        toMs,
        lastSequence,
        pageSize,
      ],
    ),
  )
  for await (const row of rows)
    yield { ...readEntry(row), sealed: readPlace(row), exchange: readExchange(row) }
}

function readPlace(row: Row): SealedPlace | undefined {
  return row['place'] === null ? undefined : readSealed(row)
}

function readExchange(row: Row): ChargedExchange | undefined {
  if (row['exchange_id'] === null) return undefined
  const reported = readReported(row['usage'])
  return { ...chargedForm.read(row), reported, marks: readMarks(row) }
}

/** The balance just before `fromMs`: whole days from the sums, the rest from the entries. */
export async function readOpeningBalance(
  snapshot: Queryable,
  { accountId, fromMs }: Pick<AccountPeriod, 'accountId' | 'fromMs'>,
): Promise<Picos> {
  if (fromMs <= 0) return zeroPicos
  const dayStartMs = Math.floor(fromMs / dayMs) * dayMs
  const sum = async (sql: string, ...parameters: readonly (string | number)[]): Promise<Picos> => {
    const [row] = await snapshot.query(sql, [accountId, ...parameters])
    return row === undefined ? zeroPicos : readSum(row)
  }
  const chargedBefore = await sum(
    `SELECT ${sumOf('revenue_picos')} FROM report_day WHERE account_id = $1 AND day < $2`,
    utcDay(dayStartMs),
  )
  const thatDay = { accountId, fromMs: dayStartMs, toMs: fromMs }
  const chargedThatDay =
    fromMs === dayStartMs ? zeroPicos : (await sumCharges(snapshot, thatDay)).sum
  const booked = await sum(
    `SELECT ${sumOf('amount_picos')} FROM entry
      WHERE account_id = $1 AND kind <> 'charge' AND created_at_ms < $2`,
    fromMs,
  )
  return addPicos(subtractPicos(booked, chargedBefore), chargedThatDay)
}

/** What was booked in a period. */
export interface BookedSums {
  /** Charged ones. */
  readonly requests: number
  /** A positive amount. */
  readonly chargedPicos: Picos
  readonly creditedPicos: Picos
  readonly refundedPicos: Picos
  /** Corrections by operators; may be negative. */
  readonly adjustedPicos: Picos
}

/** Sums a period however many charges it has: whole days from the sums, the rest from the entries. */
export async function readBookedSums(
  snapshot: Queryable,
  { accountId, fromMs, toMs }: AccountPeriod,
): Promise<BookedSums> {
  const firstDayMs = Math.ceil(fromMs / dayMs) * dayMs
  const lastDayMs = Math.floor(toMs / dayMs) * dayMs
  const edges =
    firstDayMs > lastDayMs
      ? [[fromMs, toMs]]
      : [
          [fromMs, firstDayMs],
          [lastDayMs, toMs],
        ]
  const charged = { requests: 0, picos: zeroPicos }
  for (const [edgeFromMs = 0, edgeToMs = 0] of edges) {
    if (edgeFromMs >= edgeToMs) continue
    const edge = { accountId, fromMs: edgeFromMs, toMs: edgeToMs }
    const { count, sum } = await sumCharges(snapshot, edge)
    charged.requests += count
    charged.picos = subtractPicos(charged.picos, sum)
  }
  const [days] = await snapshot.query(
    `SELECT ${sumOf('revenue_picos')}, CAST(COALESCE(SUM(charged_requests), 0) AS BIGINT) AS requests
       FROM report_day WHERE account_id = $1 AND day >= $2 AND day < $3`,
    [accountId, utcDay(firstDayMs), utcDay(lastDayMs)],
  )
  if (days !== undefined) {
    charged.requests += Number(days['requests'])
    charged.picos = addPicos(charged.picos, readSum(days))
  }
  const booked = await snapshot.query(
    `SELECT kind, ${sumOf('amount_picos')} FROM entry
      WHERE account_id = $1 AND kind <> 'charge' AND created_at_ms >= $2 AND created_at_ms < $3
      GROUP BY kind`,
    [accountId, fromMs, toMs],
  )
  const byKind = new Map(booked.map((row) => [row['kind'], readSum(row)]))
  return {
    requests: charged.requests,
    chargedPicos: charged.picos,
    creditedPicos: byKind.get('credit') ?? zeroPicos,
    refundedPicos: byKind.get('refund') ?? zeroPicos,
    adjustedPicos: byKind.get('adjustment') ?? zeroPicos,
  }
}

/** Reads the balance of the account row. */
export async function readStoredBalance(snapshot: Queryable, accountId: string): Promise<Picos> {
  const [row] = await snapshot.query('SELECT balance_picos FROM account WHERE id = $1', [accountId])
  return row === undefined ? picos(0n) : readPicos(row, 'balance_picos')
}
