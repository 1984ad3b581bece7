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
import { exchangeColumns, toEndedExchange } from '../exchange-row.ts'
import type { ExchangeRecord, HoldRefusal, HoldRequest } from '../ledger.ts'
import { readPicos } from '../usage.ts'

/** A request that only counts toward requests per minute. */
export interface UnmeteredRequest {
  readonly accountId: string
  readonly atMs: number
}

export type AdmissionRequest = HoldRequest | UnmeteredRequest

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

/**
 * Decides a batch of requests. Ended exchanges of the same call are settled first, and are durable also
 * where nothing is decided.
 */
export async function placeHolds(
  connection: PostgresConnection,
  requests: readonly AdmissionRequest[],
  node: { readonly boot: bigint; readonly nowMs: number | null },
  ended: readonly ExchangeRecord[] = [],
): Promise<Placed> {
  const rows = await connection.query(ended.length === 0 ? placeSql : settleAndPlaceSql, [
    node.nowMs,
    node.boot,
    requests.map((request) => request.accountId),
    requests.map((request) => ('exchangeId' in request ? request.exchangeId : null)),
    requests.map((request) => ('keyId' in request ? request.keyId : null)),
    requests.map((request) =>
      'amountPicos' in request ? limitAmount(request.amountPicos) : zeroPicos,
    ),
    requests.map((request) => ('keyDailyLimitPicos' in request ? request.keyDailyLimitPicos : 0n)),
    requests.map((request) => utcDay(request.atMs)),
    ...(ended.length === 0 ? [] : settleParameters(ended)),
  ])
  const withheld = new Set<number>()
  const decisions: Decision[] = requests.map(() => unknownAccount)
  let isLeaseLost = false
  for (const row of rows) {
    const index = Number(row['place']) - 1
    if (row['outcome'] === 'withheld') withheld.add(index)
    else if (row['outcome'] === 'lease_lost') isLeaseLost = true
    else decisions[index] = readDecision(row)
  }
  return { decisions: isLeaseLost ? undefined : decisions, withheld }
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
  const rows = await connection.query(
    'SELECT unnest(settle_holds($1, $2)) AS place',
    settleParameters(records),
  )
  return new Set(rows.map((row) => Number(row['place']) - 1))
}

function settleParameters(records: readonly ExchangeRecord[]): readonly PostgresValue[] {
  return [
    [...new Set(records.map((record) => record.accountId))],
    JSON.stringify(records.map(toJsonRow)),
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

const placeSql = 'SELECT * FROM place_holds($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL)'
const settleAndPlaceSql =
  'SELECT * FROM settle_and_place_holds($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)'

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
function toJsonRow(record: ExchangeRecord): Readonly<Record<string, string | number | null>> {
  const { row, tokens } = toEndedExchange(record)
  const [inputTokens, outputTokens, cacheTokens] = tokens
  const fields: Record<string, string | number | null> = {
    day: utcDay(record.endedAtMs),
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_tokens: cacheTokens,
  }
  for (const [index, column] of exchangeColumns.entries()) {
    const value = row[index] ?? null
    fields[column] = typeof value === 'bigint' ? value.toString() : value
  }
  return fields
}
