/** How the request log shows a request. Amounts are exact decimal text in USD. */
import { errorCatalogue } from '../../base/error-catalogue.ts'
import { formatUsd } from '../../base/money.ts'
import type { FreeEnding } from '../../ledger/free-exchange-store.ts'
import type { RecordedCharge, RecordedExchange, Refund } from '../../ledger/exchange-store.ts'
import { usageClasses } from '../../metering/usage.ts'
import { timeText } from '../operation.ts'
import { viewBill } from '../reports/bill.ts'
import { explainAttempts, explainCharge } from './explain.ts'

export type RequestView = ReturnType<typeof viewRequest>

/** Names of keys by id. */
export type KeyNames = ReadonlyMap<string, string>

/** A line of the list. */
export function viewRequest(exchange: RecordedExchange, keyNames: KeyNames) {
  const { charge } = exchange
  const reported = charge?.usage?.reported
  return {
    id: exchange.exchangeId,
    started_at: timeText(exchange.startedAtMs),
    account_id: exchange.accountId,
    account: exchange.accountName,
    key_id: exchange.keyId,
    /** Its name, or the head of a key without one. */
    key: keyNames.get(exchange.keyId) ?? null,
    vendor: exchange.vendor,
    model: exchange.model ?? null,
    operation: exchange.operation ?? null,
    stream: exchange.isStream ?? null,
    channel: exchange.channel ?? null,
    outcome: exchange.ending,
    status: exchange.status,
    code: exchange.code ?? null,
    input_tokens: reported?.inputTokens ?? 0,
    output_tokens: reported?.outputTokens ?? 0,
    cache_tokens: reported?.cacheTokens ?? 0,
    cost_usd: costOf(charge),
    first_event_ms: exchange.firstEventMs ?? null,
    attempt_count: exchange.attempts.length,
    /** Of the last request that the line counts. */
    ended_at: timeText(exchange.endedAtMs),
    client: exchange.client === '' ? null : exchange.client,
    /** More than one where the line stands for many requests; it shows the first. */
    requests: exchange.standsFor,
  }
}

const explanations: Readonly<Record<FreeEnding, string>> = {
  completed: 'The client got the whole answer.',
  client_left: 'The client left before it had the whole answer.',
  upstream_cut: 'The vendor broke off after the answer had begun.',
  gateway_cut: 'The gateway ended the answer: it took too long, or the gateway stopped.',
  refused: "The vendor refused the request, and the client got the vendor's error.",
  failed: 'No channel gave an answer, and the client got an error of the gateway.',
  not_admitted: 'The gateway refused the request before it sent anything to a vendor.',
}

/** Names of classes and factors are those of the catalogue. */
interface BillView {
  calculation: string
  parts: {
    model: string
    long_context: boolean
    factors: { kind: string; name: string; factor: string }[]
    lines: { class: string; count: number; price_usd: string; amount_usd: string }[]
  }[]
  fee_usd: string
  multiplier: string
  at_most_usd: string | null
}

interface Beside {
  readonly keyNames: KeyNames
  readonly refund: Refund | undefined
}

export type RequestInFull = ReturnType<typeof viewInFull>

export function viewInFull(exchange: RecordedExchange, { keyNames, refund }: Beside) {
  const { charge } = exchange
  const texts = explainAttempts(exchange)
  return {
    ...viewRequest(exchange, keyNames),
    vendor_request_id: exchange.vendorRequestId ?? null,
    explanation: explanations[exchange.ending],
    charge_explanation: explainCharge(exchange),
    /** Of `code`. */
    error: viewError(exchange.code),
    /** None where the request was not sent. */
    attempts: exchange.attempts.map((attempt, index) => ({
      channel: attempt.channel,
      status: attempt.status,
      class: attempt.class,
      meaning: texts[index]?.meaning ?? '',
      blame: texts[index]?.blame ?? null,
      next: texts[index]?.next ?? null,
      started_ms: attempt.startedMs,
      first_event_ms: attempt.firstEventMs,
      duration_ms: attempt.durationMs,
    })),
    /** By class of price. */
    tokens: tokensOf(charge),
    marks: [...(charge?.marks ?? [])],
    bill: charge === undefined || charge.priceLines === '' ? null : billOf(charge.priceLines),
    refund:
      refund === undefined
        ? null
        : {
            amount_usd: formatUsd(refund.amountPicos),
            reason: refund.note ?? null,
            at: timeText(refund.bookedAtMs),
          },
    /** Null where the channel has no cost prices. */
    own_cost_usd: charge?.ownCostPicos === undefined ? null : formatUsd(charge.ownCostPicos),
    /** Estimated, of attempts and answers that no account pays. */
    lost_cost_usd: charge === undefined ? '0' : formatUsd(charge.operatorCostPicos),
    address: exchange.address === '' ? null : exchange.address,
  }
}

/** Null without a code, and for a code of another release. */
function viewError(code: string | undefined): { meaning: string; advice: string } | null {
  const fact = Object.entries(errorCatalogue).find(([name]) => name === code)?.[1]
  return fact === undefined ? null : { meaning: fact.meaning, advice: fact.advice }
}

function costOf(charge: RecordedCharge | undefined): string {
  return charge === undefined ? '0' : formatUsd(charge.amountPicos)
}

export function tokensOf(charge: RecordedCharge | undefined): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { counts } of charge?.usage?.parts ?? [])
    for (const usageClass of usageClasses) {
      const count = counts[usageClass] ?? 0
      if (count > 0) sums[usageClass] = (sums[usageClass] ?? 0) + count
    }
  return sums
}

export function billOf(priceLines: string): BillView {
  const { calculation, parts, fee, multiplier, at_most: atMost } = viewBill(priceLines)
  return {
    calculation,
    parts: parts.map(({ lines, ...part }) => ({
      ...part,
      lines: lines.map(({ price, amount, ...line }) => ({
        ...line,
        price_usd: price,
        amount_usd: amount,
      })),
    })),
    fee_usd: fee,
    multiplier,
    at_most_usd: atMost,
  }
}
