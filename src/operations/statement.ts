/**
 * An account's statement: what was there, every credit and charge, what is left. Each charge is
 * explained by counts × prices; the lines add up to the difference of the balances, exactly, and
 * their totals are the figures of `/v1/usage`. Written line by line, so a year is as good as a day.
 */
import { z } from 'zod'
import { listKeys } from '../access/key-store.ts'
import { addPicos, formatUsd, subtractPicos, usdNumber, zeroPicos } from '../base/money.ts'
import type { EntryKind } from '../ledger/entry-store.ts'
import { readExchangeCut } from '../ledger/exchange-cut-store.ts'
import {
  eachStatementEntry,
  readOpeningBalance,
  readStoredBalance,
  type ChargedExchange,
  type StatementEntry,
} from '../ledger/statement.ts'
import { parsePriceLines, type PriceLines } from '../metering/price-lines.ts'
import { unchangedPpm } from '../metering/price-book.ts'
import type { Queryable } from '../storage/database.ts'
import { getAccount } from './accounts.ts'
import { invalid, parseInput, type OperationContext } from './context.ts'
import { accountReference, fromTime, untilTime } from './input.ts'
import { calculationText, ppmText } from './statement-text.ts'
import { timeOrNull, timeText } from './views.ts'

const statementInput = z.strictObject({
  account: accountReference,
  from: fromTime.optional(),
  to: untilTime.optional(),
})

/** Amounts are exact decimal USD, as text; those with `_usd` at the end are JSON numbers for display. */
export interface StatementHead {
  readonly account_id: string
  readonly name: string
  /** Null = since the beginning; up to now. */
  readonly from: string | null
  readonly to: string | null
  /** Charges before this day are not explained any more; null = all are. */
  readonly explained_from: string | null
  readonly opening_balance: string
}

export interface StatementLine {
  readonly sequence: number
  readonly at: string
  readonly kind: EntryKind
  /** Signed: a charge is negative. */
  readonly amount_usd: number
  readonly amount: string
  /** After this line. */
  readonly balance: string
  /** Of a charge, the id of its exchange. */
  readonly reference: string
  readonly note: string | null
  /** Null for what operators booked, and for charges of exchanges that are no longer kept. */
  readonly exchange: ExchangeView | null
}

export interface ExchangeView {
  readonly key_id: string
  readonly key: string
  readonly vendor: string
  readonly model: string
  readonly operation: string
  readonly stream: boolean
  /** For operators; no account holder is shown it. */
  readonly channel: string | null
  readonly started_at: string
  /** How it ended. */
  readonly outcome: string
  readonly status: number
  readonly attempts: number
  /** As the vendor's answer names them, and as `/v1/usage` adds them up. */
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_tokens: number
  readonly estimated: boolean
  readonly marks: readonly string[]
  /** Count × price of each class, as text that can be worked out by hand. */
  readonly calculation: string
  readonly parts: readonly PartView[]
  /** Per exchange. */
  readonly fee: string
  /** What the account pays of the sum of the parts and the fee; rounded up to 10⁻¹² USD, once. */
  readonly multiplier: string
  /** The most it was allowed to come to, where the vendor's counts were not believed. */
  readonly at_most: string | null
}

export interface PartView {
  readonly model: string
  readonly long_context: boolean
  /** Factors on the tokens of this part: tier, speed, region. */
  readonly factors: readonly {
    readonly kind: string
    readonly name: string
    readonly factor: string
  }[]
  readonly lines: readonly {
    readonly class: string
    readonly count: number
    /** Of one token, or of one use. */
    readonly price: string
    /** Count × price. */
    readonly amount: string
  }[]
}

export interface StatementEnd {
  /** The sum of the lines. */
  readonly sum: string
  readonly closing_balance: string
  /** What the account has now. */
  readonly balance_usd: number
  readonly totals: {
    /** Charged ones. */
    readonly requests: number
    readonly input_tokens: number
    readonly output_tokens: number
    readonly cache_tokens: number
    /** A positive amount. */
    readonly charged: string
    readonly booked_by_operators: string
    /** Charges whose tokens are not in these totals, because their exchanges are no longer kept. */
    readonly unexplained: number
  }
}

/** Where a statement goes; each call is waited for. */
export interface StatementSink {
  begin(head: StatementHead): Promise<void> | void
  line(line: StatementLine): Promise<void> | void
  end(end: StatementEnd): Promise<void> | void
}

const dayMs = 86_400_000

export function writeStatement(
  context: OperationContext,
  input: unknown,
  sink: StatementSink,
): Promise<void> {
  const { account: reference, from, to } = parseInput(statementInput, input)
  if (from !== undefined && to !== undefined && from >= to) throw invalid('to: must be after from')
  return context.database.snapshot(async (snapshot) => {
    const account = await getAccount(snapshot, reference)
    const fromMs = from ?? 0
    // Without an end, a day beyond now: entries made while a machine's clock ran ahead belong too.
    const toMs = to ?? context.clock.now() + dayMs
    const period = { accountId: account.id, fromMs, toMs }
    const opening = await readOpeningBalance(snapshot, period)
    const cutMs = await readExchangeCut(snapshot)
    await sink.begin({
      account_id: account.id,
      name: account.name,
      from: timeOrNull(from),
      to: timeOrNull(to),
      explained_from: cutMs > fromMs ? timeText(cutMs) : null,
      opening_balance: formatUsd(opening),
    })
    const keyNames = await readKeyNames(snapshot, account.id)
    const totals = noTotals()
    let balance = opening
    for await (const entry of eachStatementEntry(snapshot, period)) {
      balance = addPicos(balance, entry.amountPicos)
      addToTotals(totals, entry)
      await sink.line(viewLine(entry, formatUsd(balance), keyNames))
    }
    const { chargedPicos, bookedPicos, ...counts } = totals
    await sink.end({
      sum: formatUsd(subtractPicos(balance, opening)),
      closing_balance: formatUsd(balance),
      balance_usd: usdNumber(await readStoredBalance(snapshot, account.id)),
      totals: {
        ...counts,
        charged: formatUsd(chargedPicos),
        booked_by_operators: formatUsd(bookedPicos),
      },
    })
  })
}

type KeyNames = ReadonlyMap<string, string>

/** Names where they were given, else what is shown of the secret. */
async function readKeyNames(snapshot: Queryable, accountId: string): Promise<KeyNames> {
  const keys = await listKeys(snapshot, { kind: 'client', accountId })
  return new Map(keys.map(({ id, name, head }) => [id, name === '' ? head : name]))
}

function noTotals() {
  return {
    requests: 0,
    input_tokens: 0,
    output_tokens: 0,
    cache_tokens: 0,
    unexplained: 0,
    chargedPicos: zeroPicos,
    bookedPicos: zeroPicos,
  }
}

function addToTotals(totals: ReturnType<typeof noTotals>, entry: StatementEntry): void {
  const { exchange, amountPicos } = entry
  if (entry.kind !== 'charge') {
    totals.bookedPicos = addPicos(totals.bookedPicos, amountPicos)
    return
  }
  totals.requests++
  totals.chargedPicos = subtractPicos(totals.chargedPicos, amountPicos)
  if (exchange === undefined) {
    totals.unexplained++
    return
  }
  totals.input_tokens += exchange.reported.inputTokens
  totals.output_tokens += exchange.reported.outputTokens
  totals.cache_tokens += exchange.reported.cacheTokens
}

function viewLine(entry: StatementEntry, balance: string, keyNames: KeyNames): StatementLine {
  return {
    sequence: entry.sequence,
    at: timeText(entry.createdAtMs),
    kind: entry.kind,
    amount_usd: usdNumber(entry.amountPicos),
    amount: formatUsd(entry.amountPicos),
    balance,
    reference: entry.reference,
    note: entry.note ?? null,
    exchange: entry.exchange === undefined ? null : viewExchange(entry.exchange, keyNames),
  }
}

function viewExchange(exchange: ChargedExchange, keyNames: KeyNames): ExchangeView {
  const bill = parsePriceLines(exchange.priceLines)
  return {
    key_id: exchange.keyId,
    key: keyNames.get(exchange.keyId) ?? exchange.keyId,
    vendor: exchange.vendor,
    model: exchange.model,
    operation: exchange.operation,
    stream: exchange.isStream,
    channel: exchange.channel ?? null,
    started_at: timeText(exchange.startedAtMs),
    outcome: exchange.ending,
    status: exchange.status,
    attempts: exchange.attemptCount,
    input_tokens: exchange.reported.inputTokens,
    output_tokens: exchange.reported.outputTokens,
    cache_tokens: exchange.reported.cacheTokens,
    estimated: exchange.marks.includes('estimated'),
    marks: exchange.marks,
    calculation: calculationText(bill),
    parts: bill.parts.map(viewPart),
    fee: formatUsd(bill.feePicos),
    multiplier: ppmText(bill.multiplierPpm),
    at_most: bill.capPicos === undefined ? null : formatUsd(bill.capPicos),
  }
}

function viewPart(part: PriceLines['parts'][number]): PartView {
  return {
    model: part.model,
    long_context: part.isLongContext,
    factors: part.modifiers
      .filter(({ ppm }) => ppm !== unchangedPpm)
      .map(({ kind, name, ppm }) => ({ kind, name, factor: ppmText(ppm) })),
    lines: part.lines.map((line) => ({
      class: line.usageClass,
      count: line.count,
      price: formatUsd(line.pricePicos),
      amount: formatUsd(line.amountPicos),
    })),
  }
}
