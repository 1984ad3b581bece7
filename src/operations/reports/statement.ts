/**
 * An account's statement: opening balance, every credit and charge with its calculation, closing
 * balance. It is written line by line, so a year takes no more memory than a day. The invariant: opening
 * balance + lines = closing balance, exactly, and the totals equal `/v1/usage`.
 */
import { z } from 'zod'
import { readNamesOfKeys } from '../../access/key-store.ts'
import { dayMs } from '../../base/clock.ts'
import {
  addPicos,
  formatUsd,
  subtractPicos,
  usdNumber,
  zeroPicos,
  type Picos,
} from '../../base/money.ts'
import type { Account } from '../../ledger/account-store.ts'
import { refundPrefix } from '../../ledger/entry-store.ts'
import { readExchangeCut } from '../../ledger/exchange-retention.ts'
import {
  eachStatementEntry,
  findStartOfLast,
  readOpeningBalance,
  readStatementStart,
  readStoredBalance,
  type ChargedExchange,
  type SealedPlace,
  type StatementEntry,
  type StatementStart,
} from '../../ledger/statement.ts'
import { listSigningKeys } from '../../ledger/proof/signing-keys.ts'
import { ProofCollector } from '../../ledger/proof/statement-proof.ts'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { accountReference, fromTime, pageLimit, untilTime } from '../input.ts'
import {
  invalidField,
  operation,
  timeOrNull,
  timeText,
  type OperationContext,
} from '../operation.ts'
import { viewBill } from './bill.ts'
import { viewStatementProof } from './proof-form.ts'
import type {
  StatedExchange,
  StatementEnd,
  StatementHead,
  StatementLine,
} from './statement-form.ts'

export const statementFields = {
  account: accountReference,
  from: fromTime.optional(),
  to: untilTime.optional(),
  /** All else that was booked since shows, too. */
  last: pageLimit
    .optional()
    .describe('Only the end of the period, with at least so many of its charges.'),
}

interface Wanted {
  readonly account: string
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly last?: number | undefined
}

/** Receives a statement. The writer waits for each call. */
export interface StatementSink {
  begin(head: StatementHead): Promise<void> | void
  line(line: StatementLine): Promise<void> | void
  end(end: StatementEnd): Promise<void> | void
}

/** Writes the statement into `sink`, line by line, from one snapshot of the store. */
export const writeStatement = operation(
  { input: z.strictObject(statementFields) },
  (context, wanted, sink: StatementSink): Promise<void> => readStatement(context, wanted, sink),
)

/** As `writeStatement`, inside another operation. */
export async function readStatement(
  context: OperationContext,
  { account: reference, ...period }: Wanted,
  sink: StatementSink,
): Promise<void> {
  return context.database.snapshot(async (snapshot) => {
    const account = await getAccount(snapshot, reference)
    const wanted = { ...period, account, nowMs: context.clock.now() }
    await writeOpened(snapshot, await openStatement(snapshot, wanted), sink)
  })
}

/** The facts of a statement at one moment; its lines are written from them. */
export interface OpenedStatement {
  readonly head: StatementHead
  readonly opening: Picos
  /** The balance now. */
  readonly balance: Picos
  readonly start: StatementStart
  readonly keyNames: KeyNames
  /** Only the last charges were asked for: most lines of their hours would be missing. */
  readonly isEnd: boolean
}

/** Call it inside a snapshot. */
export async function openStatement(
  snapshot: Queryable,
  {
    account,
    from,
    to,
    last,
    nowMs,
  }: Omit<Wanted, 'account'> & {
    readonly account: Pick<Account, 'id' | 'name'>
    readonly nowMs: number
  },
): Promise<OpenedStatement> {
  if (from !== undefined && to !== undefined && from >= to)
    throw invalidField('to', 'must be after from')
  // Without an end, one day more than now: clocks of other machines may run ahead.
  const toMs = to ?? nowMs + dayMs
  const asked = { accountId: account.id, fromMs: from ?? 0, toMs }
  const fromMs = last === undefined ? asked.fromMs : await findStartOfLast(snapshot, asked, last)
  const period = { ...asked, fromMs }
  const opening = await readOpeningBalance(snapshot, period)
  const cutMs = await readExchangeCut(snapshot)
  return {
    head: {
      account_id: account.id,
      name: account.name,
      from: fromMs === asked.fromMs ? timeOrNull(from) : timeText(fromMs),
      to: timeOrNull(to),
      explained_from: cutMs > fromMs ? timeText(cutMs) : null,
      opening_balance: formatUsd(opening),
    },
    opening,
    balance: await readStoredBalance(snapshot, account.id),
    start: await readStatementStart(snapshot, period),
    keyNames: await readNamesOfKeys(snapshot, account.id),
    isEnd: last !== undefined,
  }
}

/**
 * Writes the lines of the moment at which the statement was opened, also where `store` is no snapshot:
 * then a client that reads slowly keeps no state of the store alive.
 */
export async function writeOpened(
  store: Queryable,
  opened: OpenedStatement,
  sink: StatementSink,
): Promise<void> {
  await sink.begin(opened.head)
  await sink.end(await writeLines(store, opened, sink))
}

async function writeLines(
  store: Queryable,
  { opening, balance: stored, start, keyNames, isEnd }: OpenedStatement,
  sink: StatementSink,
): Promise<StatementEnd> {
  const totals = noTotals()
  const proof = new ProofCollector(start.period.accountId)
  let balance = opening
  for await (const entry of eachStatementEntry(store, start)) {
    balance = addPicos(balance, entry.amountPicos)
    addToTotals(totals, entry)
    if (entry.sealed !== undefined) proof.add(entry.sealed.place)
    await sink.line(viewLine(entry, formatUsd(balance), keyNames))
  }
  const { chargedPicos, bookedPicos, refundedPicos, ...counts } = totals
  return {
    sum: formatUsd(subtractPicos(balance, opening)),
    closing_balance: formatUsd(balance),
    balance_usd: usdNumber(stored),
    totals: {
      ...counts,
      charged: formatUsd(chargedPicos),
      booked_by_operators: formatUsd(bookedPicos),
      refunded: formatUsd(refundedPicos),
    },
    proof: isEnd ? null : viewStatementProof(await proof.read(store), await listSigningKeys(store)),
  }
}

type KeyNames = ReadonlyMap<string, string>

function noTotals() {
  return {
    requests: 0,
    input_tokens: 0,
    output_tokens: 0,
    cache_tokens: 0,
    unexplained: 0,
    chargedPicos: zeroPicos,
    bookedPicos: zeroPicos,
    refundedPicos: zeroPicos,
  }
}

function addToTotals(totals: ReturnType<typeof noTotals>, entry: StatementEntry): void {
  const { exchange, amountPicos } = entry
  if (entry.kind !== 'charge') {
    totals.bookedPicos = addPicos(totals.bookedPicos, amountPicos)
    if (entry.kind === 'refund') totals.refundedPicos = addPicos(totals.refundedPicos, amountPicos)
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
    request: requestOf(entry),
    note: entry.note ?? null,
    proof: entry.sealed === undefined ? null : viewPlace(entry.sealed, entry.exchange),
    exchange: entry.exchange === undefined ? null : viewExchange(entry.exchange, keyNames),
  }
}

function viewPlace(
  { place, hash, billHash }: SealedPlace,
  exchange: ChargedExchange | undefined,
): StatementLine['proof'] {
  const bill = billHash === '' ? null : (exchange?.priceLines ?? null)
  return { place, hash, bill_hash: billHash, bill }
}

function requestOf({ kind, reference }: StatementEntry): string | null {
  if (kind === 'charge') return reference
  return kind === 'refund' ? reference.slice(refundPrefix.length) : null
}

function viewExchange(exchange: ChargedExchange, keyNames: KeyNames): StatedExchange {
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
    ...viewBill(exchange.priceLines),
  }
}
