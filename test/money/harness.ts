/**
 * What money tests share: requests of both formats that tell the sandbox what to do, a way to wait
 * until an exchange has been settled, the books as they stand in the store, and the vendors' prices
 * worked out here once more, with nothing of the gateway's own arithmetic.
 */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { pino } from 'pino'
import type { FormatName } from '../../src/formats/format.ts'
import { billedParts, type ServedRecord } from '../../src/sandbox/served-record.ts'
import type { Database } from '../../src/storage/database.ts'
import type { Milestone } from '../../src/telemetry/events.ts'
import {
  startGateway,
  type Gateway,
  type GatewayOptions,
  type TestAccount,
} from '../support/gateway.ts'
import { send, usage, type WireAnswer, type WireRequest } from '../support/http-client.ts'

export const formats: readonly FormatName[] = ['messages', 'chat']

export interface Ask {
  readonly format: FormatName
  readonly isStream: boolean
  /** Directives for the sandbox; see src/sandbox/directives.ts. */
  readonly sandbox?: string
  readonly marker?: string
  readonly model?: string
  readonly maxTokens?: number
  readonly prompt?: string
  /** Further members of the body. */
  readonly more?: Readonly<Record<string, unknown>>
}

const paths: Readonly<Record<FormatName, string>> = {
  messages: '/alpha/v1/messages',
  chat: '/beta/v1/chat/completions',
}
const models: Readonly<Record<FormatName, string>> = { messages: 'large-1', chat: 'chat-1' }

/** The main channel of each format's vendor, for the sandbox's fault settings. */
export const mainChannels: Readonly<Record<FormatName, string>> = {
  messages: 'alpha-main',
  chat: 'beta-main',
}

export function urlOf(gatewayUrl: string, format: FormatName): string {
  return gatewayUrl + paths[format]
}

export function wireRequest(key: string, ask: Ask): WireRequest {
  const body = {
    model: ask.model ?? models[ask.format],
    max_tokens: ask.maxTokens ?? 100,
    stream: ask.isStream,
    messages: [{ role: 'user', content: ask.prompt ?? 'hello' }],
    ...ask.more,
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    authorization: `Bearer ${key}`,
  }
  if (ask.sandbox !== undefined) headers['x-sandbox'] = ask.sandbox
  if (ask.marker !== undefined) headers['x-sandbox-marker'] = ask.marker
  return { headers, body: JSON.stringify(body) }
}

export function sendAsk(
  gatewayUrl: string,
  key: string,
  ask: Ask,
  more: Pick<WireRequest, 'onChunk'> = {},
): Promise<WireAnswer> {
  return send(urlOf(gatewayUrl, ask.format), { ...wireRequest(key, ask), ...more })
}

/** The client has the whole answer: complete by its framing, and for a stream by its last event. */
export function hasEnd(answer: WireAnswer, ask: Pick<Ask, 'format' | 'isStream'>): boolean {
  if (answer.status !== 200 || !answer.isComplete) return false
  return !ask.isStream || hasTerminalEvent(answer.body.toString(), ask.format)
}

export function hasTerminalEvent(text: string, format: FormatName): boolean {
  return format === 'messages'
    ? /"type": ?"message_stop"/.test(text)
    : /^data: ?\[DONE\]$/m.test(text)
}

export function isErrorEvent(text: string, format: FormatName): boolean {
  return format === 'messages' ? /^event: error$/m.test(text) : /^data: ?\{"error":/m.test(text)
}

/** The events of a stream that are whole, comments included. */
export function framesIn(text: string): number {
  return text.split('\n\n').length - 1
}

export interface OpenAnswer {
  /** Resolves when what has come of the body fits; rejects when the connection ends before. */
  until(fits: (text: string) => boolean): Promise<void>
  /** Drops the connection at once. */
  leave(): void
  /** How it ended, whoever ended it; rejects where no head came. */
  readonly ended: Promise<{ readonly text: string; readonly isComplete: boolean }>
}

/** A client that looks at its answer while it comes. */
export function openAsk(gatewayUrl: string, key: string, ask: Ask): OpenAnswer {
  const wire = wireRequest(key, ask)
  const request = httpRequest(urlOf(gatewayUrl, ask.format), {
    method: 'POST',
    headers: { ...wire.headers },
    agent: false,
  })
  const ended = Promise.withResolvers<{ text: string; isComplete: boolean }>()
  let text = ''
  let look: () => void = () => undefined
  request.on('error', ended.reject)
  request.on('response', (response) => {
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
      look()
    })
    // A cut answer is an outcome here, not an error.
    response.on('error', () => undefined)
    response.on('close', () => ended.resolve({ text, isComplete: response.complete }))
  })
  request.end(wire.body)
  // Whoever leaves without waiting for the end is not interested in how it came.
  ended.promise.catch(() => undefined)
  return {
    async until(fits) {
      const fitting = new Promise<'fits'>((resolve) => {
        look = () => {
          if (fits(text)) resolve('fits')
        }
        look()
      })
      const first = await Promise.race([fitting, ended.promise])
      if (first !== 'fits') assert.ok(fits(text), `the answer ended early: ${text}`)
    },
    leave: () => request.destroy(),
    ended: ended.promise,
  }
}

// --- what happens in the gateway ----------------------------------------------------------------

/** Counts things that happen, by name, and lets tests wait for the next of them. */
class Happenings {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Set<() => void>()

  note(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    for (const look of this.#waiting) look()
  }

  async reach(name: string, count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if ((this.#counts.get(name) ?? 0) < count) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }
}

export interface MoneyGateway extends Gateway {
  /** Resolves when `count` exchanges of the account have ended and are in the store. */
  ended(account: TestAccount, count: number): Promise<readonly BookedExchange[]>
  /** Resolves when the milestone has been passed that often, by whatever exchanges. */
  passed(milestone: Milestone, count?: number): Promise<void>
}

export async function startMoneyGateway(options: GatewayOptions = {}): Promise<MoneyGateway> {
  const happenings = new Happenings()
  const log = pino(
    { level: 'debug' },
    {
      write(line: string) {
        const entry = JSON.parse(line) as { readonly msg: string; readonly accountId: string }
        if (entry.msg === 'exchange ended') happenings.note(entry.accountId)
      },
    },
  )
  const gateway = await startGateway({
    log,
    ...options,
    onMilestone(milestone, exchangeId) {
      options.onMilestone?.(milestone, exchangeId)
      happenings.note(milestone)
    },
  })
  return {
    ...gateway,
    async ended(account, count) {
      await happenings.reach(account.id, count)
      // An uncharged exchange is told of before it is stored. On SQLite this question is answered
      // after it, on PostgreSQL it has to be asked until the row is there.
      for (;;) {
        await usage(gateway.url, account.token)
        const exchanges = await exchangesOf(gateway.context.database, account.id)
        if (exchanges.length >= count) return exchanges
      }
    },
    passed: (milestone, count = 1) => happenings.reach(milestone, count),
  }
}

/** A gateway for one piece of work, after which nothing is wrong in its books. */
export async function withMoneyGateway(
  options: GatewayOptions,
  work: (gateway: MoneyGateway) => Promise<void>,
): Promise<void> {
  const gateway = await startMoneyGateway(options)
  try {
    await work(gateway)
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
}

// --- the books ------------------------------------------------------------------------------------

export interface BookedExchange {
  readonly exchangeId: string
  readonly model: string
  readonly isStream: boolean
  readonly channel: string | null
  readonly ending: string
  readonly status: number
  readonly attemptCount: number
  readonly amountPicos: bigint
  readonly marks: readonly string[]
  readonly usage: unknown
  readonly priceLines: string
  readonly vendorRequestId: string | null
  readonly operatorCostPicos: bigint
}

/** All exchanges of an account, or of everybody, in the order in which they began. */
export async function exchangesOf(
  database: Database,
  accountId?: string,
): Promise<readonly BookedExchange[]> {
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
    usage: row['usage'] === null ? null : (JSON.parse(String(row['usage'])) as unknown),
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
 * Keeps charges from becoming durable while `work` runs: on SQLite whoever holds the write lock does,
 * on PostgreSQL whoever holds the table of entries.
 */
export function whileNothingIsBooked(database: Database, work: () => Promise<void>): Promise<void> {
  return database.transact(async (transaction) => {
    if (database.dialect === 'postgres') await transaction.query('LOCK TABLE entry IN SHARE MODE')
    await work()
  })
}

/** The one exchange there is. */
export function only(exchanges: readonly BookedExchange[]): BookedExchange {
  const [exchange] = exchanges
  assert.ok(exchange !== undefined && exchanges.length === 1, `${exchanges.length} exchanges`)
  return exchange
}

export function byValue(left: bigint, right: bigint): number {
  return Number(left - right)
}

/** Nothing is wrong in the books. */
export async function assertClean(gateway: Pick<Gateway, 'audit'>): Promise<void> {
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

/** More than a plain request of that size can be held for: no byte of a body is more than one token. */
export function holdBound(record: ServedRecord, maxTokens: number): bigint {
  const prices = demoPrices[record.model]
  assert.ok(prices !== undefined, `no price for ${record.model}`)
  return BigInt(record.requestBytes) * prices.input + BigInt(maxTokens) * prices.output
}

/** The number that the sandbox put into its request id, by which its record is found. */
export function sandboxIndex(vendorRequestId: string | null): number | undefined {
  const digits = /sandbox(\d+)$/.exec(vendorRequestId ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}
