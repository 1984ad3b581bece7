/** Books with bills of every kind, sealed hour by hour, and their statements as account holders get them. */
import { hourMs } from '../../src/base/clock.ts'
import { picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import type { ExchangeRecord } from '../../src/ledger/ledger.ts'
import { sealHours, type SealReport } from '../../src/ledger/proof/sealing.ts'
import { formatPriceLines, recompute, type PriceLines } from '../../src/metering/price-lines.ts'
import { contextOn } from '../../src/operations/context.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { printStatement } from '../../src/operations/reports/statement-text.ts'
import { verifiableForm, type Verifiable } from '../../src/operations/reports/verify-statement.ts'
import { holdRequest, mustPlace, recordOf, type LedgerHarness } from '../storage/ledger-harness.ts'

export const booksMasterKey = new Secret('5'.repeat(64))

type Books = Pick<LedgerHarness, 'database' | 'clock'>

const line = (usageClass: 'input' | 'output' | 'web_search', count: number, price: bigint) =>
  ({
    usageClass,
    count,
    pricePicos: picos(price),
    amountPicos: picos(price * BigInt(count)),
  }) as const
const plain = { model: 'large-1', isLongContext: false, modifiers: [] }
/** With everything that makes an amount. */
export const bills: readonly PriceLines[] = [
  {
    parts: [
      { ...plain, lines: [line('input', 400, 3_000_000n), line('output', 380, 15_000_000n)] },
    ],
    feePicos: picos(0n),
    multiplierPpm: 1_000_000,
    capPicos: undefined,
  },
  {
    parts: [
      {
        ...plain,
        modifiers: [{ kind: 'tier', name: 'flex', ppm: 333_333 }],
        lines: [line('input', 7, 1_111_111n), line('web_search', 2, 10_000_000n)],
      },
    ],
    feePicos: picos(5n),
    multiplierPpm: 1_234_567,
    capPicos: undefined,
  },
  {
    parts: [
      { ...plain, lines: [line('output', 1_000_000, 15_000_000n)] },
      { ...plain, lines: [line('input', 1, 1n)] },
    ],
    feePicos: picos(0n),
    multiplierPpm: 1_000_000,
    capPicos: picos(77n),
  },
]

/** Charges an account for each bill. The charges are booked after `meanwhile`, and ended before it. */
export async function chargeBills(
  harness: LedgerHarness,
  accountId: string,
  meanwhile?: () => Promise<unknown>,
): Promise<void> {
  const endedAtMs = harness.clock.now()
  const placed = []
  for (const bill of bills) {
    const amount = recompute(bill)
    const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, amount))
    placed.push({ hold, amount, bill })
  }
  await meanwhile?.()
  for (const { hold, amount, bill } of placed) {
    const billed = { priceLines: formatPriceLines(bill), usage: usageOf(bill) }
    await harness.ledger.settle(hold, recordOf(hold, amount, { endedAtMs, ...billed }))
  }
}

function usageOf({ parts }: PriceLines): ExchangeRecord['usage'] {
  const counts = parts.map(({ lines }) =>
    Object.fromEntries(lines.map(({ usageClass, count }) => [usageClass, count])),
  )
  return {
    parts: counts.map((one) => ({ counts: one, promptTokens: 0 })),
    reported: { inputTokens: 0, outputTokens: 0, cacheTokens: 0 },
  }
}

/** Seals every hour that has ended. */
export function sealEndedHours({
  database,
  clock,
  masterKey,
}: Pick<OperationContext, 'database' | 'clock' | 'masterKey'>): Promise<SealReport> {
  const pause = (): Promise<void> => Promise.resolve()
  return sealHours(database, { nowMs: clock.now(), masterKey: masterKey(), pause })
}

/** Lets the hour end, and seals it. */
export function sealNextHour({ database, clock }: Books): Promise<SealReport> {
  clock.advance(hourMs)
  return sealEndedHours({ database, clock, masterKey: () => booksMasterKey })
}

/** As JSON; of all time unless it says from when. */
export async function statementOf(
  { database, clock }: Books,
  account: string,
  period: { readonly from?: string } = {},
): Promise<string> {
  const context = contextOn(database, { clock, actor: 'cli:ada' })
  let text = ''
  await printStatement(context, { account, format: 'json', ...period }, (more) => {
    text += more
  })
  return text
}

export async function verifiableOf(books: Books, account: string): Promise<Verifiable> {
  return verifiableForm.parse(JSON.parse(await statementOf(books, account)))
}
