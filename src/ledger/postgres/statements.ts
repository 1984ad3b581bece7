/**
 * The ledger's statements on PostgreSQL: turns a batch of requests into the arrays of one call, and
 * its rows into decisions. The functions are part of the schema: they run beside the data and hold
 * their locks for no round trip.
 */
import { utcDay } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import { addPicos, minPicos, picos, picosPerUsd, zeroPicos, type Picos } from '../../base/money.ts'
import type { Row, SqlValue } from '../../storage/database.ts'
import type { PostgresConnection, PostgresValue } from '../../storage/postgres/connection.ts'
import { toRowArray } from '../../storage/postgres/row-array.ts'
import { keyOfState, type AnswerStateRow } from '../answer-state-store.ts'
import { sumBatch } from '../batch-sums.ts'
import { toEndedExchange } from '../exchange-row.ts'
import {
  freeRequestsPerRequest,
  type CountRequest,
  type ExchangeRecord,
  type HoldRefusal,
  type HoldRequest,
} from '../ledger.ts'
import { leastLeftPicos, limits } from '../limits.ts'
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

interface Call {
  readonly requests: readonly AdmissionRequest[]
  /** Settled before anything is decided, and durable also where nothing is. All of them or none. */
  readonly ended: readonly ExchangeRecord[]
  /** Some of the requests may have been decided by an earlier call whose answer was lost. */
  readonly isRepeat: boolean
}

type Decisions = Map<AdmissionRequest, Decision>

/**
 * Decides a batch of requests; undefined where this node's lease has expired. Rejects where one of the ended
 * exchanges was booked before or has no hold any more; then `settleAlone` does it.
 */
export async function decideRequests(
  connection: PostgresConnection,
  node: NodeLease,
  { requests, ...call }: Call,
): Promise<readonly Decision[] | undefined> {
  const placed = requests.filter(countsAsRequest)
  const checked = requests.filter((request) => request.kind === 'check')
  const freeRequests = requests.filter(
    (request) => request.kind === 'count' && request.allowance === 'free_requests',
  )
  const decisions: Decisions = new Map()
  if (placed.length + call.ended.length > 0) {
    const hasLease = await placeHolds(connection, node, { requests: placed, ...call }, decisions)
    if (!hasLease) return undefined
  }
  // Locks nothing: all amounts are of one moment.
  if (checked.length > 0)
    note(
      decisions,
      checked,
      await connection.run(checking, [node.nowMs, toRowArray(checked.map(toAdmission))]),
    )
  if (freeRequests.length > 0)
    note(
      decisions,
      freeRequests,
      await connection.query(countFreeSql, [
        node.nowMs,
        freeRequests.map(({ accountId }) => accountId),
        freeRequests.map(({ keyId }) => keyId),
        freeRequests.map(({ keyLimits }) => keyLimits.rpm),
        freeRequestsPerRequest,
      ]),
    )
  return requests.map((request) => decisions.get(request) ?? unknownAccount)
}

function note(
  decisions: Decisions,
  requests: readonly AdmissionRequest[],
  rows: readonly Row[],
): void {
  for (const row of rows) {
    const request = requests[Number(row['place']) - 1]
    if (request !== undefined) decisions.set(request, readDecision(row, request))
  }
}

/** Returns whether this node's lease lasts; otherwise nothing is decided. */
async function placeHolds(
  connection: PostgresConnection,
  { nowMs, boot }: NodeLease,
  { requests, ended, isRepeat }: Call,
  decisions: Decisions,
): Promise<boolean> {
  const { chargedPicos, parameters } = ended.length === 0 ? nothingSettled : settlementOf(ended)
  const byAccount = Map.groupBy(requests, ({ accountId }) => accountId)
  const accountIds = [...new Set([...ended, ...requests].map(({ accountId }) => accountId))]
  const ofAccounts = accountIds.map((accountId) => byAccount.get(accountId) ?? [])
  const rows = await connection.run(requests.length === 0 ? settling : placing, [
    nowMs,
    boot,
    accountIds,
    ofAccounts.map((some) => (isRepeat ? zeroPicos : sumTogether(some))),
    toRowArray(requests.map(toAdmission)),
    accountIds.map((accountId) => chargedPicos.get(accountId) ?? zeroPicos),
    ...parameters,
  ])
  if (rows.some((row) => row['outcome'] === 'lease_lost')) return false
  const isTogether = (row: Row): boolean => row['outcome'] === 'account'
  for (const row of rows.filter(isTogether))
    for (const request of ofAccounts[Number(row['place']) - 1] ?? [])
      decisions.set(request, admittedAsAsked(request))
  const single = rows.filter((row) => !isTogether(row))
  note(decisions, requests, single)
  return true
}

/**
 * Returns the sum of holds that may be admitted together where the account has no limit; zero = they may not.
 */
function sumTogether(requests: readonly AdmissionRequest[]): Picos {
  let sum = zeroPicos
  for (const request of requests) {
    const { dailyPicos, monthlyPicos, totalPicos, rpm, tpm } = request.keyLimits
    const hasLimit = dailyPicos + monthlyPicos + totalPicos > 0n || rpm + tpm > 0
    if (request.kind === 'count' || hasLimit || leastOf(request) > amountOf(request))
      return zeroPicos
    sum = addPicos(sum, amountOf(request))
  }
  return sum > leastMax ? zeroPicos : sum
}

/** A request as a row of type admission. */
function toAdmission(request: AdmissionRequest, index: number) {
  const { accountId, keyId, keyLimits } = request
  return [
    index + 1,
    accountId,
    request.kind === 'count' ? null : request.exchangeId,
    keyId,
    amountOf(request),
    leastOf(request),
    utcDay(request.atMs),
    keyLimits.dailyPicos,
    keyLimits.monthlyPicos,
    keyLimits.totalPicos,
    keyLimits.rpm,
    keyLimits.tpm,
  ]
}

function amountOf(request: AdmissionRequest): Picos {
  return request.kind === 'count' ? zeroPicos : minPicos(request.amountPicos, amountMax)
}

function leastOf(request: AdmissionRequest): Picos {
  return request.kind === 'count' ? zeroPicos : minPicos(leastLeftPicos(request), leastMax)
}

/** No request costs as much. Balance, credit line and one hold that is not covered fit into 64 bits. */
const amountMax = picos(100_000n * picosPerUsd)
/** More than any balance with its credit line. */
const leastMax = picos(9_200_000n * picosPerUsd)

/**
 * Books one ended exchange, if it was not booked before. Returns whether its charge is withheld: its hold had
 * expired, and the balance does not cover it. Nothing is recorded then, unless it was at an earlier call.
 */
export async function settleAlone(
  connection: PostgresConnection,
  record: ExchangeRecord,
): Promise<boolean> {
  const { accountId, exchangeId, amountPicos } = record
  const [, ...rows] = settlementOf([record]).parameters
  const [row] = await connection.query(settleAloneSql, [
    accountId,
    exchangeId,
    amountPicos,
    ...rows,
  ])
  return row?.['is_withheld'] === 1n
}

interface Settlement {
  readonly chargedPicos: ReadonlyMap<string, Picos>
  /** The last parameters of `place_requests`. */
  readonly parameters: readonly PostgresValue[]
}

const nothingSettled: Settlement = {
  chargedPicos: new Map(),
  parameters: Array.from({ length: 7 }, () => null),
}

function settlementOf(records: readonly ExchangeRecord[]): Settlement {
  const exchanges = records.map(toEndedExchange)
  const sums = sumBatch(exchanges, { hasTotals: true })
  const states = new Map<string, AnswerStateRow>()
  for (const state of exchanges.flatMap((exchange) => exchange.states ?? []))
    states.set(keyOfState(state), state)
  return {
    chargedPicos: sums.chargedPicos,
    parameters: [
      records.length,
      toRowArray(exchanges.map(({ row }) => row)),
      toRowArray(sums.reportDay),
      toRowArray(sums.usageMonth),
      toRowArray(sums.usageKeyMonth),
      toRowArray(sums.tokenMinute),
      states.size === 0 ? null : toRowArray([...states.values()]),
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

const placeSql = `SELECT * FROM place_requests(${parametersOf(13)})`
const placing = { name: 'place_requests', sql: placeSql }
/** The alias shows in the server's list of statements which calls only settle. */
const settling = { name: 'settle_exchanges', sql: `${placeSql} AS settle_exchanges` }
const checking = {
  name: 'decide_requests',
  sql: `SELECT * FROM decide_requests(store_time($1), TRUE, $2, '{}')`,
}
const settleAloneSql = `SELECT settle_alone(${parametersOf(9)}) AS is_withheld`
const countFreeSql = 'SELECT * FROM count_free_requests($1, $2, $3, $4, $5)'

const unknownAccount: Decision = {
  verdict: { kind: 'unknown_account' },
  window: undefined,
  keyWindow: undefined,
}

function admittedAsAsked(request: AdmissionRequest): Decision {
  const amountPicos = amountOf(request)
  return {
    verdict: { kind: 'admitted', amountPicos, isUncovered: false },
    window: undefined,
    keyWindow: undefined,
  }
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

function parametersOf(count: number): string {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
}
