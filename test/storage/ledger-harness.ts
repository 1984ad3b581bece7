/** What the ledger's conformance suite needs of an implementation, and records to feed it with. */
import { newId } from '../../src/base/id.ts'
import { noKeyLimits } from '../../src/base/key-limits.ts'
import { picos, zeroPicos, type Picos } from '../../src/base/money.ts'
import { insertAccount, type AccountLimits } from '../../src/ledger/account-store.ts'
import { audit, type AuditedBill } from '../../src/ledger/audit/audit.ts'
import { credit, type CreditResult } from '../../src/ledger/entry-store.ts'
import type { FreeExchangeRow } from '../../src/ledger/free-exchange-store.ts'
import type { ExchangeRecord, Hold, HoldRequest, Ledger } from '../../src/ledger/ledger.ts'
import type { Database } from '../../src/storage/database.ts'
import type { ManualClock } from '../support/manual-clock.ts'

export interface LedgerHarness {
  readonly ledger: Ledger
  readonly clock: ManualClock
  /** The store as a command sees it: a connection of its own, beside the ledger's. */
  readonly database: Database
  /** Resolves when the ledger knows what has been changed through `database`. */
  becomeCurrent(): Promise<void>
  /** Ends the ledger in good order and opens a new one on the same store. */
  restart(): Promise<LedgerHarness>
  close(): Promise<void>
}

export const noLimits: AccountLimits = {
  creditLinePicos: zeroPicos,
  holds: undefined,
  monthlyLimitPicos: zeroPicos,
  dailyLimitPicos: zeroPicos,
  rpm: 0,
  windowMinutes: 1,
  tpm: 0,
  priceMultiplierPpm: 1_000_000,
}

let accountCount = 0
let referenceCount = 0

/** Makes an account with a balance and returns its id. */
export async function makeAccount(
  harness: LedgerHarness,
  options: Omit<Partial<AccountLimits>, 'dailyLimitPicos'> & {
    readonly balancePicos?: bigint
    readonly dailyLimitPicos?: bigint
  } = {},
): Promise<string> {
  const { balancePicos = 0n, dailyLimitPicos = 0n, ...others } = options
  const limits = { ...noLimits, ...others, dailyLimitPicos: picos(dailyLimitPicos) }
  const createdAtMs = harness.clock.now()
  const id = newId('acc', createdAtMs)
  const name = `account ${++accountCount}`
  await harness.database.transact((transaction) =>
    insertAccount(transaction, { ...limits, id, name, createdAtMs }),
  )
  if (balancePicos !== 0n) await addCredit(harness, id, balancePicos)
  return id
}

export function addCredit(
  harness: LedgerHarness,
  accountId: string,
  amountPicos: bigint,
): Promise<CreditResult> {
  return harness.database.transact((transaction) =>
    credit(transaction, {
      accountId,
      kind: 'adjustment',
      amountPicos: picos(amountPicos),
      reference: `reference ${++referenceCount}`,
      atMs: harness.clock.now(),
    }),
  )
}

export function holdRequest(
  harness: LedgerHarness,
  accountId: string,
  amountPicos: bigint,
  changes: Partial<HoldRequest> = {},
): HoldRequest {
  const atMs = harness.clock.now()
  return {
    exchangeId: newId('ex', atMs),
    accountId,
    keyId: 'key_one',
    amountPicos: picos(amountPicos),
    likelyPicos: picos(amountPicos),
    keyLimits: noKeyLimits,
    atMs,
    ...changes,
  }
}

/** Places a hold that has to be admitted. */
export async function mustPlace(ledger: Ledger, request: HoldRequest): Promise<Hold> {
  const placed = await ledger.place(request)
  if (placed.kind !== 'hold') throw new Error(`refused: ${placed.kind}`)
  return placed
}

const usedCounts = { input: 10, output: 20, cache_read: 5 }

/** What the price lines of `recordOf` say, as an audit reads them. */
export function readTestBill(priceLines: string): AuditedBill {
  return { amountPicos: picos(BigInt(priceLines)), counts: [usedCounts] }
}

/** How a hold ended: a completed answer for `amountPicos`, whose price lines are just that number. */
export function recordOf(
  hold: Hold,
  amountPicos: bigint,
  changes: Partial<ExchangeRecord> & { readonly endedAtMs: number },
): ExchangeRecord {
  return {
    exchangeId: hold.exchangeId,
    accountId: hold.accountId,
    keyId: hold.keyId,
    vendor: 'alpha',
    model: 'large-1',
    operation: 'messages.create',
    isStream: true,
    channel: 'alpha-main',
    startedAtMs: changes.endedAtMs,
    ending: 'completed',
    status: 200,
    attemptCount: 1,
    amountPicos: picos(amountPicos),
    usage: {
      parts: [{ counts: usedCounts, promptTokens: 15 }],
      reported: { inputTokens: 10, outputTokens: 20, cacheTokens: 5 },
    },
    marks: amountPicos > hold.amountPicos ? ['over_hold'] : [],
    priceLines: amountPicos.toString(),
    vendorRequestId: undefined,
    operatorCostPicos: zeroPicos,
    firstEventMs: 250,
    attempts: [],
    code: undefined,
    client: '',
    address: '',
    ownCostPicos: zeroPicos,
    isOwnCostKnown: false,
    ...changes,
  }
}

/** Places and settles one exchange. */
export async function charge(
  harness: LedgerHarness,
  accountId: string,
  amountPicos: bigint,
): Promise<Hold> {
  const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, amountPicos))
  await harness.ledger.settle(hold, recordOf(hold, amountPicos, { endedAtMs: harness.clock.now() }))
  return hold
}

/** What the audit finds wrong, as sentences. */
export async function findDifferences(database: Database): Promise<string[]> {
  const report = await audit(database, { readBill: readTestBill })
  return report.differences.map((difference) => `${difference.kind}: ${difference.message}`)
}

export function readBalance(harness: LedgerHarness, accountId: string): Promise<Picos | undefined> {
  return harness.ledger
    .usage(accountId, 'day', harness.clock.now())
    .then((figures) => figures?.balancePicos)
}

/** A refused request. */
export function freeExchange(accountId: string, atMs: number): FreeExchangeRow {
  return {
    exchangeId: newId('ex', atMs),
    accountId,
    keyId: 'key_1',
    vendor: 'alpha',
    model: undefined,
    operation: 'messages.create',
    channel: undefined,
    startedAtMs: atMs,
    endedAtMs: atMs,
    ending: 'not_admitted',
    status: 400,
    code: 'relay.request_invalid',
    askedModel: undefined,
    vendorRequestId: undefined,
    attempts: [],
    client: 'curl',
    address: 'ipv4',
    label: '',
    standsFor: 1,
  }
}
