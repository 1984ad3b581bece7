/**
 * Reads exchanges for the request log: those of table exchange and those that nothing is charged for (table
 * free_exchange), as one list. Ids sort by time, so the newest come first, and a page ends at an id.
 */
import { utcDay } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import type { Picos } from '../base/money.ts'
import { Conditions } from '../storage/conditions.ts'
import type { Database, Queryable, Row, SqlValue } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'
import { spentSql } from './account-store.ts'
import { firstExchangeIdAt } from './entry-store.ts'
import { freeExchangeForm, type FreeEnding, type FreeExchangeRow } from './free-exchange-store.ts'
import type { ExchangeRecord } from './ledger.ts'
import { parseAttempts } from './stored-attempts.ts'
import { parseUsage } from './stored-usage.ts'
import { places, readPicos } from './usage.ts'

export interface RecordedExchange extends FreeExchangeRow {
  readonly accountName: string
  /** Undefined where the request was not read. */
  readonly isStream: boolean | undefined
  /** From the start of the request to the first event or byte that the client got. */
  readonly firstEventMs: number | undefined
  /** Undefined where nothing could be charged. */
  readonly charge: RecordedCharge | undefined
}

export interface RecordedCharge extends Pick<
  ExchangeRecord,
  'amountPicos' | 'usage' | 'priceLines' | 'operatorCostPicos' | 'finishReason'
> {
  readonly marks: readonly string[]
  /** Undefined where the channel has no cost prices. */
  readonly ownCostPicos: Picos | undefined
}

export interface ExchangeFilter {
  readonly accountId?: string | undefined
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly channel?: string | undefined
  /** First and last of a range. */
  readonly status?: readonly [number, number] | undefined
  readonly code?: string | undefined
  readonly label?: string | undefined
  readonly ending?: FreeEnding | undefined
  /** By the start of the request; from inclusive, to exclusive. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Only ids before this one: the last id of the page before. */
  readonly beforeId?: string | undefined
  /** Only this id and later ones. */
  readonly sinceId?: string | undefined
  readonly countMax: number
}

/** The place of an exchange among those that are ordered by their cost. */
export interface CostPlace {
  readonly amountPicos: bigint
  readonly exchangeId: string
}

/** Of a part of the columns, or of the tables that are joined. */
const listedForm = rowForm({
  accountName: column.text,
  standsFor: column.number,
  isStream: column.optional(column.flag),
  firstEventMs: column.optional(column.number),
})
const chargeForm = rowForm({
  amountPicos: column.amount,
  priceLines: column.text,
  operatorCostPicos: column.amount,
  finishReason: column.optional(column.text),
})

const sharedColumns = `${freeExchangeForm.columns}, attempts`.replaceAll(/\w+/g, 'x.$&')

/** In the order of `exchangeTables`. Rows of the second cost nothing. */
const selects = [
  `SELECT ${sharedColumns}, COALESCE(account.name, '') AS account_name, 1 AS stands_for, x.is_stream,
     x.first_event_ms, x.amount_picos, x.usage, x.marks, x.price_lines, x.operator_cost_picos,
     x.own_cost_picos, x.is_own_cost_known, x.finish_reason
     FROM exchange x LEFT JOIN account ON account.id = x.account_id`,
  `SELECT ${sharedColumns}, COALESCE(account.name, '') AS account_name, x.stands_for
     FROM free_exchange x LEFT JOIN account ON account.id = x.account_id`,
]

/** The tables of the log. */
const exchangeTables = ['exchange', 'free_exchange'] as const

const signSql: Readonly<Record<Database['dialect'], string>> = {
  sqlite: `SELECT (SELECT MAX(rowid) FROM exchange) AS exchange,
     (SELECT MAX(rowid) FROM free_exchange) AS free_exchange`,
  postgres: 'SELECT last_value, is_called FROM recorded_requests',
}

/** Returns a text that differs after requests were recorded. Ids cannot tell: they begin with the start. */
export async function readRecordSign(database: Database): Promise<string> {
  const [row] = await database.query(signSql[database.dialect])
  return Object.values(row ?? {}).join(' ')
}

interface WaivedQuestion {
  readonly accountId: string
  readonly sinceMs: number
  /** Exchanges that do not count. */
  readonly exceptIds: readonly string[]
}

/** Sums that an account was not charged for exchanges without a result, and that it was charged. */
interface WaivedSums {
  /** Likely costs of those that began since the given time. */
  readonly waivedPicos: Picos
  /** Since the beginning of that day. */
  readonly chargedPicos: Picos
}

export async function readWaived(
  database: Queryable,
  { accountId, sinceMs, exceptIds }: WaivedQuestion,
): Promise<WaivedSums> {
  const except = exceptIds.length === 0 ? '' : `AND exchange_id NOT IN (${places(4, exceptIds)})`
  const [row] = await database.query(
    `SELECT ${spentSql('$1', '$3')} AS charged_picos,
            (SELECT CAST(COALESCE(SUM(waived_picos), 0) AS BIGINT) FROM exchange
              WHERE account_id = $1 AND waived_picos > 0 AND exchange_id >= $2 ${except}
            ) AS waived_picos`,
    [accountId, firstExchangeIdAt(sinceMs), utcDay(sinceMs), ...exceptIds],
  )
  invariant(row !== undefined, 'sums are one row')
  return {
    waivedPicos: readPicos(row, 'waived_picos'),
    chargedPicos: readPicos(row, 'charged_picos'),
  }
}

/** Lists the newest first. */
export async function listExchanges(
  snapshot: Queryable,
  filter: ExchangeFilter,
): Promise<readonly RecordedExchange[]> {
  const conditions = conditionsOf(filter)
  const countMax = conditions.place(filter.countMax)
  const found: RecordedExchange[] = []
  for (const select of selects) {
    const rows = await snapshot.query(
      `${select} WHERE ${conditions.text} ORDER BY x.exchange_id DESC LIMIT ${countMax}`,
      conditions.values,
    )
    found.push(...rows.map(readExchange))
  }
  return found
    .sort((left, right) => (left.exchangeId < right.exchangeId ? 1 : -1))
    .slice(0, filter.countMax)
}

/** Lists those first that cost most, of the same cost the newest; only those behind a place. */
export async function listExchangesByCost(
  snapshot: Queryable,
  filter: ExchangeFilter,
  behind: CostPlace | undefined,
): Promise<readonly RecordedExchange[]> {
  const found: RecordedExchange[] = []
  for (const [index, select] of selects.entries()) {
    const conditions = conditionsOf(filter)
    const amount = index === 0 ? 'x.amount_picos' : 'CAST(0 AS BIGINT)'
    const place = behind && [behind.amountPicos, behind.exchangeId]
    conditions.follow([amount, 'x.exchange_id'], place, 'desc')
    const order = index === 0 ? 'x.amount_picos DESC, x.exchange_id DESC' : 'x.exchange_id DESC'
    const rows = await snapshot.query(
      `${select} WHERE ${conditions.text} ORDER BY ${order} LIMIT ${conditions.place(filter.countMax)}`,
      conditions.values,
    )
    found.push(...rows.map(readExchange))
  }
  return found
    .sort((left, right) => {
      const [one, other] = [costPlaceOf(left), costPlaceOf(right)]
      if (one.amountPicos !== other.amountPicos) return one.amountPicos < other.amountPicos ? 1 : -1
      return one.exchangeId < other.exchangeId ? 1 : -1
    })
    .slice(0, filter.countMax)
}

export function costPlaceOf({ charge, exchangeId }: RecordedExchange): CostPlace {
  return { amountPicos: charge?.amountPicos ?? 0n, exchangeId }
}

/** Places follow those of `before`. */
function conditionsOf(
  filter: Omit<ExchangeFilter, 'countMax'>,
  before: readonly SqlValue[] = [],
): Conditions {
  const conditions = new Conditions(before)
  const { fromMs, toMs, status, beforeId, sinceId } = filter
  const firstId = (atMs: number | undefined): string | undefined =>
    atMs === undefined ? undefined : firstExchangeIdAt(atMs)
  conditions.compare('x.account_id =', filter.accountId)
  conditions.compare('x.exchange_id <', beforeId)
  conditions.compare('x.exchange_id >=', sinceId)
  conditions.compare('x.exchange_id >=', firstId(fromMs))
  conditions.compare('x.exchange_id <', firstId(toMs))
  conditions.compare('x.key_id =', filter.keyId)
  conditions.compare('x.model =', filter.model)
  conditions.compare('x.channel =', filter.channel)
  conditions.compare('x.status >=', status?.[0])
  conditions.compare('x.status <=', status?.[1])
  conditions.compare('x.code =', filter.code)
  conditions.compare('x.label =', filter.label)
  conditions.compare('x.ending =', filter.ending)
  return conditions
}

/** Rows of each table that one count looks at. */
const countedRowsMax = 20_000

interface EndingCounts {
  readonly counts: ReadonlyMap<FreeEnding, number>
  /** Whether there are rows that it has not looked at. */
  readonly isCut: boolean
}

/** Counts the requests of a span by their ending; it looks at so many rows at most, whatever the filter. */
export async function countExchanges(
  snapshot: Queryable,
  { accountId, fromMs, toMs, ...filter }: Omit<ExchangeFilter, 'countMax'>,
): Promise<EndingCounts> {
  const counts = new Map<FreeEnding, number>()
  let isCut = false
  for (const table of exchangeTables) {
    const span = conditionsOf({ accountId, fromMs, toMs })
    const fitting = conditionsOf(filter, span.values)
    const standsFor = table === 'exchange' ? '1' : 'x.stands_for'
    // The log's index has all other columns.
    const label = filter.label === undefined ? '' : ', x.label'
    const rows = await snapshot.query(
      `SELECT ending, COUNT(*) AS seen,
              CAST(SUM(CASE WHEN ${fitting.text} THEN stands_for ELSE 0 END) AS BIGINT) AS counted
         FROM (SELECT x.key_id, x.model, x.channel, x.status, x.code, x.ending${label},
                      ${standsFor} AS stands_for
                 FROM ${table} x WHERE ${span.text}
                ORDER BY x.exchange_id DESC LIMIT ${countedRowsMax}) x
        GROUP BY ending`,
      fitting.values,
    )
    for (const row of rows) {
      const ending = String(row['ending']) as FreeEnding
      counts.set(ending, (counts.get(ending) ?? 0) + Number(row['counted']))
    }
    isCut ||= rows.reduce((sum, row) => sum + Number(row['seen']), 0) >= countedRowsMax
  }
  return { counts, isCut }
}

/**
 * Finds where a search must end that looks at `rowsMax` rows of an account's log in each table: the id of the
 * last one. Undefined where there are fewer rows.
 */
export async function findSearchEnd(
  snapshot: Queryable,
  {
    rowsMax,
    ...of
  }: Pick<ExchangeFilter, 'accountId' | 'toMs' | 'beforeId'> & {
    readonly rowsMax: number
  },
): Promise<string | undefined> {
  const conditions = conditionsOf(of)
  const offset = conditions.place(rowsMax - 1)
  const ids: string[] = []
  for (const table of exchangeTables) {
    const [row] = await snapshot.query(
      `SELECT x.exchange_id FROM ${table} x WHERE ${conditions.text}
        ORDER BY x.exchange_id DESC LIMIT 1 OFFSET ${offset}`,
      conditions.values,
    )
    if (row !== undefined) ids.push(String(row['exchange_id']))
  }
  return ids.sort().at(-1)
}

/** Finds one by the gateway's id, else by the vendor's; the newest where a vendor has given an id twice. */
export async function findExchange(
  snapshot: Queryable,
  { id, accountId }: { readonly id: string; readonly accountId?: string },
): Promise<RecordedExchange | undefined> {
  for (const name of ['exchange_id', 'vendor_request_id']) {
    const conditions = new Conditions()
    conditions.compare(`x.${name} =`, id)
    conditions.compare('x.account_id =', accountId)
    for (const select of selects) {
      const [row] = await snapshot.query(
        `${select} WHERE ${conditions.text} ORDER BY x.exchange_id DESC LIMIT 1`,
        conditions.values,
      )
      if (row !== undefined) return readExchange(row)
    }
  }
  return undefined
}

const refundForm = rowForm({
  amountPicos: column.amount,
  note: column.optional(column.text),
  bookedAtMs: column.named('created_at_ms', column.number),
})
export type Refund = Read<typeof refundForm>

/** Finds the refunds of an exchange's charge. */
export async function findRefund(
  snapshot: Queryable,
  { accountId, exchangeId }: Pick<RecordedExchange, 'accountId' | 'exchangeId'>,
): Promise<Refund | undefined> {
  const [row] = await snapshot.query(
    `SELECT ${refundForm.columns} FROM entry
      WHERE account_id = $1 AND reference = $2 AND kind = 'refund'`,
    [accountId, `refund:${exchangeId}`],
  )
  return row === undefined ? undefined : refundForm.read(row)
}

function readExchange(row: Row): RecordedExchange {
  const shared = freeExchangeForm.read(row)
  return {
    ...shared,
    ...listedForm.read(row),
    attempts: parseAttempts(String(row['attempts']), shared),
    charge: row['amount_picos'] === undefined ? undefined : readCharge(row),
  }
}

function readCharge(row: Row): RecordedCharge {
  const { usage } = row
  return {
    ...chargeForm.read(row),
    usage: typeof usage === 'string' ? parseUsage(usage) : undefined,
    marks: readMarks(row),
    ownCostPicos:
      Number(row['is_own_cost_known']) === 0 ? undefined : readPicos(row, 'own_cost_picos'),
  }
}

export function readMarks(row: Row): readonly string[] {
  return String(row['marks'])
    .split(',')
    .filter((mark) => mark !== '')
}
