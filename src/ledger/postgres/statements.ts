/**
 * The ledger's statements on PostgreSQL: turns a batch of requests into the arrays of one call, and
 * its rows into decisions. The functions are part of the schema: they run beside the data and hold
 * their locks for no round trip.
 */
import { utcDay } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import { minPicos, picos, picosPerUsd, zeroPicos } from '../../base/money.ts'
import type { Row, SqlValue } from '../../storage/database.ts'
import type { PostgresConnection, PostgresValue } from '../../storage/postgres/connection.ts'
import { answerStateColumns } from '../answer-state-store.ts'
import { exchangeColumns, toEndedExchange, type EndedExchange } from '../exchange-row.ts'
import {
  freeRequestsPerRequest,
  type CountRequest,
  type ExchangeRecord,
  type HoldRefusal,
  type HoldRequest,
} from '../ledger.ts'
import { leastLeftPicos, limits } from '../limits.ts'
import { firstEventBucket } from '../report-day.ts'
import { readPicos } from '../usage.ts'

/** `check` only asks what `place` would decide. */
export type AdmissionRequest =
  | ({ readonly kind: 'place' } & HoldRequest)
  | ({ readonly kind: 'check' } & HoldRequest)
  | ({ readonly kind: 'count' } & CountRequest)

/** Whether it counts toward requests per minute where it is admitted. */
export function countsAsRequest(request: AdmissionRequest): boolean {
  return request.kind === 'place' || (request.kind === 'count' && request.allowance === 'requests')
}

/** Requests in the window of an account or key as of a decision. */
export interface WindowCount {
  readonly rpm: number
  readonly windowMinutes: number
  readonly counted: number
  readonly oldestAgeMs: number
}

/** The outcome of ended exchanges: by index, those whose charge was withheld. */
export type Withheld = ReadonlySet<number>

/** The outcome of one call. */
export interface Placed {
  /** Undefined where this node's lease has expired; then nothing is decided. */
  readonly decisions: readonly Decision[] | undefined
  readonly withheld: Withheld
}

export interface Decision {
  /** `admitted`: a hold of this amount, or only a place in the window. */
  readonly verdict: Admitted | HoldRefusal
  readonly window: WindowCount | undefined
  readonly keyWindow: WindowCount | undefined
}

interface Admitted {
  readonly kind: 'admitted'
  readonly amountPicos: bigint
  readonly isUncovered: boolean
}

/** Whether money that other exchanges free may change the verdict. */
export function isAboutMoney({ kind }: Decision['verdict']): boolean {
  return kind === 'insufficient_balance' || kind === 'spending_limit'
}

/** A node as the store knows it. */
interface NodeLease {
  readonly boot: bigint
  readonly nowMs: number | null
}

/**
 * Decides a batch of requests. Ended exchanges of the same call are settled first, and are durable also
 * where nothing is decided.
 */
export async function decideRequests(
  connection: PostgresConnection,
  requests: readonly AdmissionRequest[],
  node: NodeLease,
  ended: readonly ExchangeRecord[] = [],
): Promise<Placed> {
  const placed = requests.filter(countsAsRequest)
  const checked = requests.filter((request) => request.kind === 'check')
  const freeRequests = requests.filter(
    (request) => request.kind === 'count' && request.allowance === 'free_requests',
  )
  const decisions = new Map<AdmissionRequest, Decision>()
  const note = (some: readonly AdmissionRequest[], rows: readonly Row[]): void => {
    for (const row of rows) {
      const request = some[Number(row['place']) - 1]
      if (request !== undefined) decisions.set(request, readDecision(row, request))
    }
  }
  let withheld: Withheld = noneWithheld
  if (placed.length > 0 || ended.length > 0) {
    const rows = await placeHolds(connection, placed, node, ended)
    withheld = readWithheld(rows)
    if (rows.some((row) => row['outcome'] === 'lease_lost'))
      return { decisions: undefined, withheld }
    const decided = rows.filter((row) => row['outcome'] !== 'withheld')
    note(placed, decided)
  }
  if (checked.length > 0) note(checked, await checkHolds(connection, checked, node))
  if (freeRequests.length > 0)
    note(
      freeRequests,
      await connection.query(countFreeSql, [
        node.nowMs,
        freeRequests.map(({ accountId }) => accountId),
        freeRequests.map(({ keyId }) => keyId),
        freeRequests.map(({ keyLimits }) => keyLimits.rpm),
        freeRequestsPerRequest,
      ]),
    )
  return {
    decisions: requests.map((request) => decisions.get(request) ?? unknownAccount),
    withheld,
  }
}

const noneWithheld: Withheld = new Set()

function placeHolds(
  connection: PostgresConnection,
  requests: readonly AdmissionRequest[],
  node: NodeLease,
  ended: readonly ExchangeRecord[],
): Promise<readonly Row[]> {
  const settled = ended.length === 0 ? undefined : settlementOf(ended)
  return connection.query(settled === undefined ? placeSql : settled.placeSql, [
    node.nowMs,
    node.boot,
    ...columnsOf(requests),
    ...(settled?.parameters ?? []),
  ])
}

/** Requests as the arrays that `place_requests` and `decide_requests` take. */
function columnsOf(requests: readonly AdmissionRequest[]): PostgresValue[] {
  const limits = requests.map(({ keyLimits }) => keyLimits)
  return [
    requests.map((request) => request.accountId),
    requests.map((request) => (request.kind === 'count' ? null : request.exchangeId)),
    requests.map((request) => request.keyId),
    requests.map((request) =>
      request.kind === 'count' ? zeroPicos : minPicos(request.amountPicos, amountMax),
    ),
    requests.map((request) =>
      request.kind === 'count' ? zeroPicos : minPicos(leastLeftPicos(request), leastMax),
    ),
    requests.map((request) => utcDay(request.atMs)),
    limits.map(({ dailyPicos }) => dailyPicos),
    limits.map(({ monthlyPicos }) => monthlyPicos),
    limits.map(({ totalPicos }) => totalPicos),
    limits.map(({ rpm }) => rpm),
    limits.map(({ tpm }) => tpm),
  ]
}

function readWithheld(rows: readonly Row[]): Withheld {
  const withheld = rows.filter((row) => row['outcome'] === 'withheld')
  return new Set(withheld.map((row) => Number(row['place']) - 1))
}

/** Locks nothing: all amounts are of one moment. */
function checkHolds(
  connection: PostgresConnection,
  requests: readonly AdmissionRequest[],
  { nowMs }: NodeLease,
): Promise<readonly Row[]> {
  return connection.query(checkSql, [nowMs, ...columnsOf(requests)])
}

/** No request costs as much. Balance, credit line and one hold that is not covered fit into 64 bits. */
const amountMax = picos(100_000n * picosPerUsd)
/** More than any balance with its credit line. */
const leastMax = picos(9_200_000n * picosPerUsd)

/** Books ended exchanges, durable when it resolves; exchanges that were booked before stay as they are. */
export async function settleHolds(
  connection: PostgresConnection,
  records: readonly ExchangeRecord[],
): Promise<Withheld> {
  const { sql, parameters } = settlementOf(records)
  const rows = await connection.query(sql, parameters)
  return new Set(rows.map((row) => Number(row['place']) - 1))
}

/** The statements that book records, alone or before holds are placed, and their last parameters. */
interface Settling {
  readonly sql: string
  readonly placeSql: string
  readonly parameters: readonly PostgresValue[]
}

/** What answers have made is stored by the same statement; most have made nothing. */
function settlementOf(records: readonly ExchangeRecord[]): Settling {
  const exchanges = records.map((record) => ({ record, ended: toEndedExchange(record) }))
  const accountIds = [...new Set(records.map(({ accountId }) => accountId))]
  const parameters = [accountIds, JSON.stringify(exchanges.map(toJsonRow))]
  const states = exchanges.flatMap(({ ended }) => ended.states ?? [])
  if (states.length === 0) return { sql: settleSql, placeSql: settleAndPlaceSql, parameters }
  return {
    sql: settleAndKeepSql,
    placeSql: settleKeepAndPlaceSql,
    parameters: [
      ...parameters,
      JSON.stringify(states.map((row) => toFields(answerStateColumns, row))),
    ],
  }
}

export async function releaseHolds(
  connection: PostgresConnection,
  holds: readonly { readonly accountId: string; readonly exchangeId: string }[],
): Promise<void> {
  await connection.query('SELECT release_holds($1, $2)', [
    holds.map((hold) => hold.accountId),
    holds.map((hold) => hold.exchangeId),
  ])
}

const requestParameters = '$3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13'
const placeSql = `SELECT * FROM place_requests($1, $2, ${requestParameters}, NULL, NULL)`
const settleAndPlaceSql = `SELECT * FROM place_requests($1, $2, ${requestParameters}, $14, $15)`
const checkSql =
  'SELECT * FROM decide_requests(store_time($1), TRUE, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)'
const settleSql = 'SELECT unnest(settle_holds($1, $2)) AS place'
/** As an argument the function is called exactly once, whatever the statement returns. */
const settleKeepAndPlaceSql = `SELECT * FROM place_requests($1, $2, ${requestParameters}, $14, CASE WHEN keep_answer_states($16) THEN $15::json END)`
const settleAndKeepSql =
  'SELECT unnest(settle_holds($1, CASE WHEN keep_answer_states($3) THEN $2::json END)) AS place'
const countFreeSql = 'SELECT * FROM count_free_requests($1, $2, $3, $4, $5)'

const unknownAccount: Decision = {
  verdict: { kind: 'unknown_account' },
  window: undefined,
  keyWindow: undefined,
}

function readDecision(row: Row, request: AdmissionRequest): Decision {
  return {
    verdict: readVerdict(row, request),
    window: readWindow(rateOf(row), row['counted'], row['oldest_age_ms']),
    keyWindow: readWindow(rateOfKey(request), row['key_counted'], row['key_oldest_age_ms']),
  }
}

function readVerdict(row: Row, request: AdmissionRequest): Decision['verdict'] {
  const { outcome } = row
  if (outcome === 'hold')
    return {
      kind: 'admitted',
      amountPicos: readPicos(row, 'amount_picos'),
      isUncovered: row['is_uncovered'] === 1n,
    }
  const limit = limits.find(({ name }) => name === outcome)
  invariant(limit !== undefined, 'the store returns a known outcome')
  const { scope } = limit
  const { keyLimits } = request
  const retryAfterMs = Number(row['retry_after_ms'] ?? 0)
  switch (limit.refuses) {
    case 'rate_limited': {
      const rate = scope === 'account' ? rateOf(row) : rateOfKey(request)
      return { kind: 'rate_limited', scope, retryAfterMs, ...rate }
    }
    case 'token_limited': {
      const tpm = scope === 'account' ? Number(row['tpm']) : keyLimits.tpm
      return { kind: 'token_limited', scope, retryAfterMs, tpm }
    }
    case 'insufficient_balance':
      return {
        kind: 'insufficient_balance',
        balancePicos: readPicos(row, 'balance_picos'),
        creditLinePicos: readPicos(row, 'credit_line_picos'),
        heldPicos: readPicos(row, 'held_picos'),
        isHeldOnly: row['is_held_only'] === 1n,
      }
    case 'spending_limit':
      return {
        kind: 'spending_limit',
        scope,
        period: limit.period,
        limitPicos: readPicos(row, 'limit_picos'),
        usedPicos: readPicos(row, 'used_picos'),
        heldPicos: readPicos(row, 'held_picos'),
      }
  }
}

interface Rate {
  readonly rpm: number
  readonly windowMinutes: number
}

function rateOf(row: Row): Rate {
  return { rpm: Number(row['rpm']), windowMinutes: Number(row['window_minutes']) }
}

function rateOfKey(request: AdmissionRequest): Rate {
  const isFree = request.kind === 'count' && request.allowance === 'free_requests'
  const { rpm } = request.keyLimits
  return { rpm: isFree ? rpm * freeRequestsPerRequest : rpm, windowMinutes: 1 }
}

/** Undefined without a limit, and where the row says nothing of the window. */
function readWindow(
  limit: Rate,
  counted: SqlValue | undefined,
  oldestAgeMs: SqlValue | undefined,
): WindowCount | undefined {
  if (limit.rpm === 0 || typeof counted !== 'bigint') return undefined
  return { ...limit, counted: Number(counted), oldestAgeMs: Number(oldestAgeMs ?? 0) }
}

/**
 * A row of table exchange with the values that its sums need. Amounts become text: JSON numbers
 * end at 2^53.
 */
function toJsonRow({
  record,
  ended: { row, tokens },
}: {
  readonly record: ExchangeRecord
  readonly ended: EndedExchange
}): JsonRow {
  const [inputTokens, outputTokens, cacheTokens, cacheWriteTokens, promptTokens] = tokens
  return {
    day: utcDay(record.endedAtMs),
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_tokens: cacheTokens,
    cache_write_tokens: cacheWriteTokens,
    prompt_tokens: promptTokens,
    first_event_bucket: firstEventBucket(record.firstEventMs ?? null) ?? null,
    ...toFields(exchangeColumns, row),
  }
}

type JsonRow = Readonly<Record<string, string | number | null>>

function toFields(
  columns: readonly string[],
  row: readonly (string | number | bigint | null)[],
): JsonRow {
  const fields: Record<string, string | number | null> = {}
  for (const [index, column] of columns.entries()) {
    const value = row[index] ?? null
    fields[column] = typeof value === 'bigint' ? value.toString() : value
  }
  return fields
}
