/**
 * The ledger's statements on PostgreSQL: turns a batch of requests into the arrays of one call, and
 * its rows into decisions. The functions are part of the schema: they run beside the data and hold
 * their locks for no round trip.
 */
import { utcDay } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import { addPicos, minPicos, picos, zeroPicos, type Picos } from '../../base/money.ts'
import type { Row } from '../../storage/database.ts'
import type { PostgresConnection, PostgresValue } from '../../storage/postgres/connection.ts'
import { balanceMax } from '../entry-store.ts'
import { answerStateColumns } from '../answer-state-store.ts'
import { exchangeColumns, toEndedExchange, type EndedExchange } from '../exchange-row.ts'
import {
  freeRequestsPerRequest,
  type CountRequest,
  type ExchangeRecord,
  type HoldRefusal,
  type HoldRequest,
} from '../ledger.ts'
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

/** Requests in the account's window as of a decision; undefined where there is no limit. */
export interface WindowFigures {
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
  readonly verdict: { readonly kind: 'admitted'; readonly amountPicos: bigint } | HoldRefusal
  readonly window: WindowFigures | undefined
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
      if (request !== undefined) decisions.set(request, readDecision(row))
    }
  }
  let withheld: Withheld = new Set()
  if (placed.length > 0 || ended.length > 0) {
    const rows = await placeHolds(connection, placed, node, ended)
    withheld = readWithheld(rows)
    if (rows.some((row) => row['outcome'] === 'lease_lost'))
      return { decisions: undefined, withheld }
    const decided = rows.filter((row) => row['outcome'] !== 'withheld')
    note(placed, decided)
  }
  if (checked.length > 0) note(checked, await checkHolds(connection, checked, node))
  if (freeRequests.length > 0) {
    const accountIds = freeRequests.map(({ accountId }) => accountId)
    const parameters = [node.nowMs, accountIds, freeRequestsPerRequest]
    note(freeRequests, await connection.query(countFreeSql, parameters))
  }
  return {
    decisions: requests.map((request) => decisions.get(request) ?? unknownAccount),
    withheld,
  }
}

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
    requests.map((request) => request.accountId),
    requests.map((request) => (request.kind === 'count' ? null : request.exchangeId)),
    requests.map((request) => (request.kind === 'count' ? null : request.keyId)),
    requests.map((request) =>
      request.kind === 'count' ? zeroPicos : limitAmount(request.amountPicos),
    ),
    requests.map((request) => (request.kind === 'count' ? 0n : request.keyDailyLimitPicos)),
    requests.map((request) => utcDay(request.atMs)),
    ...(settled?.parameters ?? []),
  ])
}

function readWithheld(rows: readonly Row[]): Withheld {
  const withheld = rows.filter((row) => row['outcome'] === 'withheld')
  return new Set(withheld.map((row) => Number(row['place']) - 1))
}

function checkHolds(
  connection: PostgresConnection,
  requests: readonly HoldRequest[],
  { nowMs }: NodeLease,
): Promise<readonly Row[]> {
  return connection.query(checkSql, [
    nowMs,
    requests.map((request) => request.accountId),
    requests.map((request) => request.keyId),
    requests.map((request) => limitAmount(request.amountPicos)),
    requests.map((request) => request.keyDailyLimitPicos),
    requests.map((request) => utcDay(request.atMs)),
  ])
}

/** Limits a hold to what 64 bits can express; no balance covers that much anyway. */
function limitAmount(amountPicos: Picos): Picos {
  return minPicos(amountPicos, addPicos(balanceMax, picos(1n)))
}

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

const placeSql = 'SELECT * FROM place_holds($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL)'
const settleAndPlaceSql =
  'SELECT * FROM settle_and_place_holds($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)'
const settleSql = 'SELECT unnest(settle_holds($1, $2)) AS place'
/** As an argument the function is called exactly once, whatever the statement returns. */
const settleKeepAndPlaceSql =
  'SELECT * FROM settle_and_place_holds($1, $2, $3, $4, $5, $6, $7, $8, $9, CASE WHEN keep_answer_states($11) THEN $10::json END)'
const settleAndKeepSql =
  'SELECT unnest(settle_holds($1, CASE WHEN keep_answer_states($3) THEN $2::json END)) AS place'
const countFreeSql = 'SELECT * FROM count_token_requests($1, $2, $3)'

/** What `place_holds` would decide, in the same order, as a read that locks nothing. */
const checkSql = `
  WITH asked AS (
    SELECT r.place::integer AS place, r.account_id, r.key_id, r.amount_picos, r.day,
      r.key_limit_picos, a.balance_picos, a.held_picos, a.daily_limit_picos, a.rpm,
      a.window_minutes, a.rpm::bigint * a.window_minutes AS window_limit,
      a.window_minutes * 60000::bigint AS window_ms, store_time($1) AS now_ms
      FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
        WITH ORDINALITY AS r (account_id, key_id, amount_picos, key_limit_picos, day, place)
      JOIN account a ON a.id = r.account_id
  ), figures AS (
    SELECT asked.*, full_window.retry_after_ms,
      COALESCE(used.account_picos, 0) AS used_picos,
      COALESCE(used.key_picos, 0) AS key_used_picos,
      COALESCE(held.key_picos, 0) AS key_held_picos
      FROM asked
      LEFT JOIN LATERAL (
        SELECT GREATEST(now_ms, w.at_ms) AS moment, w.last_number FROM request_window w
         WHERE w.account_id = asked.account_id ORDER BY w.at_ms DESC LIMIT 1
      ) last ON asked.rpm > 0
      LEFT JOIN LATERAL (
        SELECT w.first_number FROM request_window w
         WHERE w.account_id = asked.account_id AND w.at_ms > last.moment - window_ms
         ORDER BY w.at_ms LIMIT 1
      ) first ON TRUE
      LEFT JOIN LATERAL (
        SELECT w.at_ms - last.moment + window_ms AS retry_after_ms FROM request_window w
         WHERE w.account_id = asked.account_id AND w.at_ms > last.moment - window_ms
           AND w.last_number > last.last_number - window_limit
         ORDER BY w.at_ms LIMIT 1
      ) full_window ON last.last_number - first.first_number + 1 >= window_limit
      LEFT JOIN LATERAL (
        SELECT SUM(u.cost_picos) AS account_picos,
          SUM(u.cost_picos) FILTER (WHERE u.key_id = asked.key_id) AS key_picos FROM usage_day u
         WHERE u.account_id = asked.account_id AND u.day = asked.day
      ) used ON daily_limit_picos > 0 OR key_limit_picos > 0
      LEFT JOIN LATERAL (
        SELECT SUM(h.amount_picos) AS key_picos FROM hold h
         WHERE h.account_id = asked.account_id AND h.key_id = asked.key_id
      ) held ON key_limit_picos > 0
  ), decided AS (
    SELECT *, CASE
      WHEN retry_after_ms IS NOT NULL THEN 'rate_limited'
      WHEN balance_picos - held_picos < amount_picos THEN 'insufficient_balance'
      WHEN daily_limit_picos > 0 AND used_picos + held_picos + amount_picos > daily_limit_picos
        THEN 'account_daily_limit'
      WHEN key_limit_picos > 0 AND key_used_picos + key_held_picos + amount_picos > key_limit_picos
        THEN 'key_daily_limit'
      ELSE 'hold' END AS outcome
      FROM figures
  )
  SELECT place, outcome, amount_picos, balance_picos, retry_after_ms, rpm, window_minutes,
    balance_picos >= amount_picos AS is_held_only,
    CASE outcome WHEN 'key_daily_limit' THEN key_used_picos ELSE used_picos END AS used_picos,
    CASE outcome WHEN 'key_daily_limit' THEN key_held_picos ELSE held_picos END AS held_picos,
    CASE outcome WHEN 'key_daily_limit' THEN key_limit_picos ELSE daily_limit_picos END
      AS limit_picos
    FROM decided`

const unknownAccount: Decision = { verdict: { kind: 'unknown_account' }, window: undefined }

function readDecision(row: Row): Decision {
  // Only `place_holds` reports how many requests the window has.
  return { verdict: readVerdict(row), window: 'counted' in row ? readWindow(row) : undefined }
}

function readVerdict(row: Row): Decision['verdict'] {
  const outcome = row['outcome']
  switch (outcome) {
    case 'hold':
      return { kind: 'admitted', amountPicos: readPicos(row, 'amount_picos') }
    case 'rate_limited':
      return {
        kind: 'rate_limited',
        retryAfterMs: Number(row['retry_after_ms']),
        rpm: Number(row['rpm']),
        windowMinutes: Number(row['window_minutes']),
      }
    case 'insufficient_balance':
      return {
        kind: 'insufficient_balance',
        balancePicos: readPicos(row, 'balance_picos'),
        heldPicos: readPicos(row, 'held_picos'),
        isHeldOnly: row['is_held_only'] === 1n,
      }
    case 'account_daily_limit':
    case 'key_daily_limit':
      return {
        kind: 'daily_limit',
        scope: outcome === 'account_daily_limit' ? 'account' : 'key',
        limitPicos: readPicos(row, 'limit_picos'),
        usedPicos: readPicos(row, 'used_picos'),
        heldPicos: readPicos(row, 'held_picos'),
      }
    default:
      invariant(false, 'place_holds returns a known outcome')
  }
}

function readWindow(row: Row): WindowFigures | undefined {
  const rpm = Number(row['rpm'])
  if (rpm === 0) return undefined
  return {
    rpm,
    windowMinutes: Number(row['window_minutes']),
    counted: Number(row['counted']),
    oldestAgeMs: Number(row['oldest_age_ms'] ?? 0),
  }
}

/**
 * A row of table exchange with the values that its figures need. Amounts become text: JSON numbers
 * end at 2^53.
 */
function toJsonRow({
  record,
  ended: { row, tokens },
}: {
  readonly record: ExchangeRecord
  readonly ended: EndedExchange
}): JsonRow {
  const [inputTokens, outputTokens, cacheTokens, cacheWriteTokens] = tokens
  return {
    day: utcDay(record.endedAtMs),
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_tokens: cacheTokens,
    cache_write_tokens: cacheWriteTokens,
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
