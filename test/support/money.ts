/**
 * What tests assert about money: the ledger as it is in the store, what a vendor's record has to cost,
 * and the comparison of both with what clients saw. Shares no arithmetic with the gateway.
 */
import assert from 'node:assert/strict'
import { billedParts, type ServedRecord } from '../../sandbox/served-record.ts'
import { parseUsage } from '../../src/ledger/stored-usage.ts'
import type { Usage } from '../../src/metering/usage.ts'
import type { Database } from '../../src/storage/database.ts'
import type { AuditView } from '../../src/operations/store/audit-forms.ts'

export interface RecordedExchange {
  readonly exchangeId: string
  readonly model: string
  readonly isStream: boolean
  readonly channel: string | null
  readonly ending: string
  readonly status: number
  readonly attemptCount: number
  readonly amountPicos: bigint
  readonly marks: readonly string[]
  readonly usage: Usage | null
  readonly priceLines: string
  readonly vendorRequestId: string | null
  readonly operatorCostPicos: bigint
}

/** All exchanges of an account, or of everybody, in the order in which they began. */
export async function exchangesOf(
  database: Database,
  accountId?: string,
): Promise<readonly RecordedExchange[]> {
  const rows = await database.query(
    `SELECT * FROM exchange WHERE account_id = COALESCE($1, account_id) ORDER BY exchange_id`,
    [accountId ?? null],
  )
  return rows.map((row) => ({
    exchangeId: String(row['exchange_id']),
    model: String(row['model']),
    isStream: Number(row['is_stream']) === 1,
    channel: row['channel'] === null ? null : String(row['channel']),
    ending: String(row['ending']),
    status: Number(row['status']),
    attemptCount: Number(row['attempt_count']),
    amountPicos: BigInt(String(row['amount_picos'])),
    marks: String(row['marks']).split(',').filter(Boolean),
    usage: row['usage'] === null ? null : parseUsage(String(row['usage'])),
    priceLines: String(row['price_lines']),
    vendorRequestId: row['vendor_request_id'] === null ? null : String(row['vendor_request_id']),
    operatorCostPicos: BigInt(String(row['operator_cost_picos'])),
  }))
}

/** Amounts of the charges booked in the ledger, by exchange; each exchange has at most one. */
export async function chargesOf(
  database: Database,
  accountId?: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await database.query(
    `SELECT reference, amount_picos FROM entry
      WHERE kind = 'charge' AND account_id = COALESCE($1, account_id)`,
    [accountId ?? null],
  )
  const charges = new Map<string, bigint>()
  for (const row of rows) {
    const exchangeId = String(row['reference'])
    assert.ok(!charges.has(exchangeId), `${exchangeId} is charged twice`)
    charges.set(exchangeId, -BigInt(String(row['amount_picos'])))
  }
  return charges
}

/**
 * Keeps charges from becoming durable while `work` runs: on SQLite it holds the write
 * lock, on PostgreSQL it locks the table of entries.
 */
export function whileChargesWait(database: Database, work: () => Promise<void>): Promise<void> {
  return database.transact(async (transaction) => {
    if (database.dialect === 'postgres') await transaction.query('LOCK TABLE entry IN SHARE MODE')
    await work()
  })
}

/** The one exchange there is. */
export function only(exchanges: readonly RecordedExchange[]): RecordedExchange {
  const [exchange] = exchanges
  assert.ok(exchange !== undefined && exchanges.length === 1, `${exchanges.length} exchanges`)
  return exchange
}

export function byValue(left: bigint, right: bigint): number {
  return Number(left - right)
}

/** The ledger audit finds no difference. */
export async function assertClean(gateway: { audit(): Promise<AuditView> }): Promise<void> {
  const { clean, differences } = await gateway.audit()
  assert.ok(clean, JSON.stringify(differences, null, 2))
}

/** Exact decimal USD of an amount, as the JSON number that says the same. */
export function usd(amountPicos: bigint): number {
  const sign = amountPicos < 0n ? '-' : ''
  const digits = String(amountPicos < 0n ? -amountPicos : amountPicos).padStart(13, '0')
  return Number(`${sign}${digits.slice(0, -12)}.${digits.slice(-12)}`)
}

// --- what a vendor's record has to cost -------------------------------------------------------------

interface DemoPrices {
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead: bigint
  readonly cacheWrite5m: bigint
  readonly cacheWrite1h: bigint
}

/** The demo catalogue's prices as pico-dollars per token; 3 USD per million are 3,000,000 each. */
const demoPrices: Readonly<Record<string, DemoPrices>> = {
  'large-1': {
    input: 3_000_000n,
    output: 15_000_000n,
    cacheRead: 300_000n,
    cacheWrite5m: 3_750_000n,
    cacheWrite1h: 6_000_000n,
  },
  'small-1': {
    input: 1_000_000n,
    output: 5_000_000n,
    cacheRead: 100_000n,
    cacheWrite5m: 1_250_000n,
    cacheWrite1h: 2_000_000n,
  },
  'chat-1': {
    input: 2_000_000n,
    output: 10_000_000n,
    cacheRead: 200_000n,
    cacheWrite5m: 2_500_000n,
    cacheWrite1h: 4_000_000n,
  },
}

/** The price of what the vendor served, had it all been delivered. */
export function vendorPrice(record: ServedRecord): bigint {
  const prices = demoPrices[record.model]
  assert.ok(prices !== undefined, `no price for ${record.model}`)
  let sum = 0n
  for (const { counts } of billedParts(record))
    sum +=
      BigInt(counts.input) * prices.input +
      BigInt(counts.output) * prices.output +
      BigInt(counts.cacheRead) * prices.cacheRead +
      BigInt(counts.cacheWrite5m) * prices.cacheWrite5m +
      BigInt(counts.cacheWrite1h) * prices.cacheWrite1h
  return sum
}

/** What a plain request of that size is held for: a token per byte, and what vendors add. */
export function holdBound(record: ServedRecord, maxTokens: number): bigint {
  const prices = demoPrices[record.model]
  assert.ok(prices !== undefined, `no price for ${record.model}`)
  return BigInt(record.requestBytes + 2_000) * prices.input + BigInt(maxTokens) * prices.output
}

/** The number that the sandbox put into its request id, by which its record is found. */
function sandboxIndex(vendorRequestId: string | null): number | undefined {
  const digits = /sandbox(\d+)$/.exec(vendorRequestId ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}

// --- vendors, clients and ledger compared -----------------------------------------------------------

/** What one client saw of the answer to its one request. */
export interface Seen {
  readonly marker: string
  readonly hasEnd: boolean
  /** The vendor was asked to leave out the terminal event: its counts are the last it sends. */
  readonly hasNoTerminal?: boolean
}

export interface Reconciled {
  readonly chargedCount: number
  readonly chargedPicos: bigint
}

interface Sides {
  readonly records: readonly ServedRecord[]
  readonly database: Database
  readonly seen: readonly Seen[]
  readonly maxTokens: number
}

/**
 * Client saw the end: exactly one charge, the price of what the vendor counted. Vendor complete and
 * client without the end: one charge of at most that, or none. Vendor never reached: none. Where a
 * charge was estimated the hold is the bound.
 */
export async function reconcile(sides: Sides): Promise<Reconciled> {
  const byIndex = new Map(sides.records.map((record) => [record.index, record]))
  const charges = new Map(await chargesOf(sides.database))
  const chargedBy = new Map<string, { record: ServedRecord; picos: bigint }>()
  let chargedPicos = 0n
  for (const exchange of await exchangesOf(sides.database)) {
    const picos = charges.get(exchange.exchangeId)
    assert.equal(picos ?? 0n, exchange.amountPicos)
    if (picos === undefined) continue
    const record = byIndex.get(sandboxIndex(exchange.vendorRequestId) ?? -1)
    assert.ok(record?.marker !== undefined, `${exchange.exchangeId} was charged, and not served`)
    assert.ok(!chargedBy.has(record.marker), `${record.marker} is charged twice`)
    const isEstimated = exchange.marks.includes('estimated')
    const most = isEstimated ? holdBound(record, sides.maxTokens) : vendorPrice(record)
    assert.ok(picos <= most, `${record.marker} costs ${picos}, more than ${most}`)
    chargedBy.set(record.marker, { record, picos })
    chargedPicos += picos
    charges.delete(exchange.exchangeId)
  }
  assert.equal(charges.size, 0, 'every charge belongs to an exchange')
  const freeMarkers = new Set(sides.records.filter(isFree).map(({ marker }) => marker))
  for (const { marker, hasEnd, hasNoTerminal = false } of sides.seen) {
    if (!hasEnd) continue
    const charged = chargedBy.get(marker)
    if (freeMarkers.has(marker)) {
      assert.equal(charged, undefined, `${marker} has nothing in it and is charged`)
      continue
    }
    assert.ok(charged !== undefined, `${marker} was delivered to its end without a charge`)
    assert.equal(charged.picos, vendorPrice(charged.record), marker)
    const { isTerminalSent, isUsageSent } = charged.record
    assert.ok(
      hasNoTerminal ? isUsageSent : isTerminalSent,
      `${marker} ended although the vendor had not`,
    )
  }
  return { chargedCount: chargedBy.size, chargedPicos }
}

/** An answer with nothing in it, or a refusal before any output. */
function isFree({ kind, operation, status, usage }: ServedRecord): boolean {
  if (status !== 200 || operation === 'embeddings.create') return false
  return kind === 'empty_refusal' || (kind === 'answer' && usage?.counts.output === 0)
}
