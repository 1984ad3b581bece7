/**
 * The ledger's statements on PostgreSQL: how a group of requests becomes the arrays of one call, and
 * what its rows mean. The functions themselves are part of the schema, so that they run beside the
 * data and hold their locks for no round trip.
 */
import { utcDay } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import { addPicos, minPicos, picos, zeroPicos, type Picos } from '../../base/money.ts'
import type { Row } from '../../storage/database.ts'
import type { PostgresConnection, PostgresValue } from '../../storage/postgres-connection.ts'
import { balanceMax } from '../entry-store.ts'
import type { ExchangeRecord, HoldRefusal, HoldRequest } from '../ledger.ts'
import { readPicos } from '../usage.ts'

/** A request that only counts toward requests per minute. */
export interface UnmeteredRequest {
  readonly accountId: string
  readonly atMs: number
}

export type Wish = HoldRequest | UnmeteredRequest

/** Requests in the account's window as of a decision; undefined where there is no limit. */
export interface WindowFigures {
  readonly rpm: number
  readonly windowMinutes: number
  readonly counted: number
  readonly oldestAgeMs: number
}

export interface Decision {
  /** `admitted`: a hold of this amount, or nothing but a place in the window. */
  readonly verdict: { readonly kind: 'admitted'; readonly amountPicos: bigint } | HoldRefusal
  readonly window: WindowFigures | undefined
}

/**
 * Undefined where this boot's lease has passed, and nothing has been decided. Ended exchanges that go
 * with it are booked first, and durable in either case.
 */
export async function placeHolds(
  connection: PostgresConnection,
  wishes: readonly Wish[],
  node: { readonly boot: bigint; readonly nowMs: number | null },
  ended: readonly ExchangeRecord[] = [],
): Promise<readonly Decision[] | undefined> {
  const rows = await connection.query(placeSql, [
    node.nowMs,
    node.boot,
    wishes.map((wish) => wish.accountId),
    wishes.map((wish) => ('exchangeId' in wish ? wish.exchangeId : null)),
    wishes.map((wish) => ('keyId' in wish ? wish.keyId : null)),
    wishes.map((wish) => ('amountPicos' in wish ? affordable(wish.amountPicos) : zeroPicos)),
    wishes.map((wish) => ('keyDailyLimitPicos' in wish ? wish.keyDailyLimitPicos : 0n)),
    wishes.map((wish) => utcDay(wish.atMs)),
    ...(ended.length === 0 ? [null, null] : settleParameters(ended)),
  ])
  if (rows[0]?.['outcome'] === 'lease_lost') return undefined
  const decisions: Decision[] = wishes.map(() => unknownAccount)
  for (const row of rows) decisions[Number(row['place']) - 1] = readDecision(row)
  return decisions
}

/** A client may ask for more than the server can count; beyond any balance all amounts are alike. */
function affordable(amountPicos: Picos): Picos {
  return minPicos(amountPicos, addPicos(balanceMax, picos(1n)))
}

/** Durable when it resolves; what was booked before is left as it is. */
export async function settleExchanges(
  connection: PostgresConnection,
  records: readonly ExchangeRecord[],
): Promise<void> {
  await connection.query('SELECT settle_exchanges($1, $2)', settleParameters(records))
}

function settleParameters(records: readonly ExchangeRecord[]): readonly PostgresValue[] {
  return [
    [...new Set(records.map((record) => record.accountId))],
    JSON.stringify(records.map(exchangeRow)),
  ]
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

const placeSql = 'SELECT * FROM place_holds($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)'

const unknownAccount: Decision = { verdict: { kind: 'unknown_account' }, window: undefined }

function readDecision(row: Row): Decision {
  return { verdict: readVerdict(row), window: readWindow(row) }
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
      invariant(false, 'place_holds tells a known outcome')
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
 * As a row of table exchange, with what its figures need; amounts as text, because JSON
 * numbers end at 2^53.
 */
function exchangeRow(record: ExchangeRecord): Readonly<Record<string, string | number | null>> {
  const reported = record.usage?.reported
  return {
    account_id: record.accountId,
    exchange_id: record.exchangeId,
    key_id: record.keyId,
    vendor: record.vendor,
    model: record.model,
    operation: record.operation,
    is_stream: record.isStream ? 1 : 0,
    channel: record.channel ?? null,
    started_at_ms: record.startedAtMs,
    ended_at_ms: record.endedAtMs,
    ending: record.ending,
    status: record.status,
    attempt_count: record.attemptCount,
    amount_picos: record.amountPicos.toString(),
    usage: record.usage === undefined ? null : JSON.stringify(record.usage),
    marks: record.marks.join(','),
    price_lines: record.priceLines,
    vendor_request_id: record.vendorRequestId ?? null,
    operator_cost_picos: record.operatorCostPicos.toString(),
    day: utcDay(record.endedAtMs),
    input_tokens: reported?.inputTokens ?? 0,
    output_tokens: reported?.outputTokens ?? 0,
    cache_tokens: reported?.cacheTokens ?? 0,
  }
}
