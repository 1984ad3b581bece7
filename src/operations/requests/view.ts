/** How the request log shows a request. Amounts are exact decimal text in USD. */
import { z } from 'zod'
import { errorCatalogue } from '../../base/error-catalogue.ts'
import { formatUsd } from '../../base/money.ts'
import type { FreeEnding } from '../../ledger/free-exchange-store.ts'
import type { RecordedCharge, RecordedExchange, Refund } from '../../ledger/exchange-store.ts'
import type { VendorReason } from '../../ledger/ledger.ts'
import { promptTokens } from '../../ledger/report-day.ts'
import { usageClasses } from '../../metering/usage.ts'
import { count, moment, usd, type Answer } from '../answer-forms.ts'
import { timeText } from '../operation.ts'
import { partForm, viewBill } from '../reports/bill.ts'
import { totalTokens } from '../reports/report-figures.ts'
import { explainVendorError, reasonOfFailure } from './explain-vendor-error.ts'
import { chargeReasons, explainAttempts, explainCharge, type ChargeReason } from './explain.ts'

const explanations: Readonly<Record<FreeEnding, string>> = {
  completed: 'The client got the whole answer.',
  client_left: 'The client left before it had the whole answer.',
  upstream_cut: 'The vendor broke off after the answer had begun.',
  gateway_cut: 'The gateway ended the answer: it took too long, or the gateway stopped.',
  refused: "The vendor refused the request, and the client got the vendor's error.",
  failed: 'No channel gave an answer, and the client got an error of the gateway.',
  not_admitted: 'The gateway refused the request before it sent anything to a vendor.',
}

export const endings = Object.keys(explanations) as [FreeEnding, ...FreeEnding[]]

const milliseconds = z.number().min(0).nullable()

const word = z.string().nullable()

/** Never the message, which quotes what clients send. */
const vendorErrorForm = z
  .strictObject({
    type: word,
    code: word,
    param: word.meta({
      description: 'The field of the request, without names that a client has chosen.',
    }),
    meaning: z.string().meta({ description: 'What these words say, as Markdown.' }),
  })
  .nullable()
  .meta({ description: "The vendor's error without its message; null where it gave none." })

/** A line of the list. */
export const requestForm = z.strictObject({
  id: z.string().meta({ description: 'The same as the header x-turnpike-request-id.' }),
  started_at: moment,
  account_id: z.string(),
  account: z.string(),
  key_id: z.string(),
  key: z
    .string()
    .nullable()
    .meta({ description: 'Name of the key, or its head where it has none.' }),
  vendor: z.string(),
  model: z.string().nullable(),
  asked_model: z
    .string()
    .nullable()
    .meta({ description: "The name by which the client asked, where that is not the model's id." }),
  operation: z.string().nullable(),
  stream: z.boolean().nullable(),
  channel: z.string().nullable().meta({ description: 'Whose answer the client got.' }),
  outcome: z.enum(endings),
  status: z.int(),
  code: z
    .string()
    .nullable()
    .meta({ description: 'Where the gateway answered with an error; docs/errors.md has each.' }),
  input_tokens: count,
  output_tokens: count,
  cache_tokens: count,
  total_tokens: totalTokens,
  /** Of the answer that the client got, or of the last attempt that the vendor refused. */
  vendor_error: vendorErrorForm,
  cost_usd: usd,
  first_event_ms: milliseconds,
  attempt_count: count.meta({ description: 'More than one: a retry or a failover.' }),
  /** The end of the last request that the line counts. */
  ended_at: moment,
  client: z.string().nullable().meta({ description: 'Family of the user agent.' }),
  label: z
    .string()
    .nullable()
    .meta({ description: 'As the client gave it in the header x-turnpike-label.' }),
  requests: z
    .int()
    .min(1)
    .meta({ description: 'How many requests the line stands for; it shows the first.' }),
})

export type RequestView = Answer<typeof requestForm>

/** Names of classes and factors are those of the catalogue. */
export const billForm = z.strictObject({
  calculation: z.string(),
  parts: z.array(
    partForm.extend({
      lines: z.array(z.strictObject({ class: z.string(), count, price_usd: usd, amount_usd: usd })),
    }),
  ),
  fee_usd: usd,
  multiplier: z.string(),
  at_most_usd: usd.nullable(),
})

export const requestInFullForm = requestForm.extend({
  vendor_request_id: z.string().nullable(),
  finish_reason: z
    .string()
    .nullable()
    .meta({ description: "The vendor's own word for why its answer ended." }),
  explanation: z.string(),
  charge_explanation: z.string().meta({ description: 'Why the account paid, or why not.' }),
  charge_codes: z
    .array(z.enum(Object.keys(chargeReasons) as [ChargeReason, ...ChargeReason[]]))
    .meta({ description: 'The sentences of `charge_explanation`, by code.' }),
  error: z
    .strictObject({ meaning: z.string(), advice: z.string() })
    .nullable()
    .meta({ description: 'What `code` means and what to do, as Markdown.' }),
  /** None where the request was not sent. */
  attempts: z.array(
    z.strictObject({
      channel: z.string(),
      status: z.int().nullable(),
      class: z.string(),
      meaning: z.string(),
      meaning_code: z.string().meta({ description: 'The word for `meaning`.' }),
      blame: z
        .enum(['channel', 'client', 'none'])
        .nullable()
        .meta({ description: 'Whose fault it was; null where the attempt did not fail.' }),
      next: z
        .enum(['retry', 'failover'])
        .nullable()
        .meta({ description: 'What followed; null after the last attempt.' }),
      started_ms: z.number().min(0).meta({ description: 'From the start of the request.' }),
      first_event_ms: milliseconds,
      duration_ms: z.number().min(0),
      dropped_betas: z
        .array(z.string())
        .meta({ description: 'Betas of the client that the channel left out, by `drop_betas`.' }),
      vendor_error: vendorErrorForm,
    }),
  ),
  tokens: z.record(z.string(), count).meta({ description: 'By class of price.' }),
  marks: z.array(z.string()),
  bill: billForm.nullable(),
  refund: z.strictObject({ amount_usd: usd, reason: z.string().nullable(), at: moment }).nullable(),
  /** Null where the channel has no cost prices. */
  own_cost_usd: usd.nullable(),
  lost_cost_usd: usd.meta({ description: 'Estimated, of attempts that no account pays.' }),
  address: z.string().nullable(),
})

export type RequestInFull = Answer<typeof requestInFullForm>

/** Names of keys by id. */
export type KeyNames = ReadonlyMap<string, string>

export function viewRequest(exchange: RecordedExchange, keyNames: KeyNames): RequestView {
  const { charge } = exchange
  const usage = charge?.usage
  const reported = usage?.reported
  return {
    id: exchange.exchangeId,
    started_at: timeText(exchange.startedAtMs),
    account_id: exchange.accountId,
    account: exchange.accountName,
    key_id: exchange.keyId,
    key: keyNames.get(exchange.keyId) ?? null,
    vendor: exchange.vendor,
    model: exchange.model ?? null,
    asked_model: exchange.askedModel ?? null,
    operation: exchange.operation ?? null,
    stream: exchange.isStream ?? null,
    channel: exchange.channel ?? null,
    outcome: exchange.ending,
    status: exchange.status,
    code: exchange.code ?? null,
    input_tokens: reported?.inputTokens ?? 0,
    output_tokens: reported?.outputTokens ?? 0,
    cache_tokens: reported?.cacheTokens ?? 0,
    total_tokens: usage === undefined ? 0 : promptTokens(usage) + usage.reported.outputTokens,
    vendor_error: viewVendorError(reasonOfFailure(exchange)),
    cost_usd: costOf(charge),
    first_event_ms: exchange.firstEventMs ?? null,
    attempt_count: exchange.attempts.length,
    ended_at: timeText(exchange.endedAtMs),
    client: exchange.client === '' ? null : exchange.client,
    label: exchange.label === '' ? null : exchange.label,
    requests: exchange.standsFor,
  }
}

export interface Beside {
  readonly keyNames: KeyNames
  readonly refund: Refund | undefined
}

export function viewInFull(
  exchange: RecordedExchange,
  { keyNames, refund }: Beside,
): RequestInFull {
  const { charge } = exchange
  const texts = explainAttempts(exchange)
  const reasons = explainCharge(exchange)
  return {
    ...viewRequest(exchange, keyNames),
    vendor_request_id: exchange.vendorRequestId ?? null,
    finish_reason: charge?.finishReason ?? null,
    explanation: explanations[exchange.ending],
    charge_explanation: reasons.map((code) => chargeReasons[code]).join(' '),
    charge_codes: [...reasons],
    error: viewError(exchange.code),
    attempts: exchange.attempts.map((attempt, index) => ({
      channel: attempt.channel,
      status: attempt.status,
      class: attempt.class,
      meaning: texts[index]?.meaning ?? '',
      meaning_code: texts[index]?.code ?? attempt.class,
      blame: texts[index]?.blame ?? null,
      next: texts[index]?.next ?? null,
      started_ms: attempt.startedMs,
      first_event_ms: attempt.firstEventMs,
      duration_ms: attempt.durationMs,
      dropped_betas: [...(attempt.droppedBetas ?? [])],
      vendor_error: viewVendorError(attempt.reason),
    })),
    tokens: tokensOf(charge),
    marks: [...(charge?.marks ?? [])],
    bill: charge === undefined || charge.priceLines === '' ? null : billOf(charge.priceLines),
    refund: refund === undefined ? null : viewRefund(refund),
    own_cost_usd: charge?.ownCostPicos === undefined ? null : formatUsd(charge.ownCostPicos),
    lost_cost_usd: charge === undefined ? '0' : formatUsd(charge.operatorCostPicos),
    address: exchange.address === '' ? null : exchange.address,
  }
}

function viewRefund({ amountPicos, note, bookedAtMs }: Refund) {
  return { amount_usd: formatUsd(amountPicos), reason: note ?? null, at: timeText(bookedAtMs) }
}

export function viewVendorError(reason: VendorReason | undefined): RequestView['vendor_error'] {
  return reason === undefined ? null : { ...reason, meaning: explainVendorError(reason) }
}

/** Null without a code, and for a code of another release. */
function viewError(code: string | undefined): RequestInFull['error'] {
  const fact = Object.entries(errorCatalogue).find(([name]) => name === code)?.[1]
  return fact === undefined ? null : { meaning: fact.meaning, advice: fact.advice }
}

function costOf(charge: RecordedCharge | undefined): string {
  return charge === undefined ? '0' : formatUsd(charge.amountPicos)
}

function tokensOf(charge: RecordedCharge | undefined): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { counts } of charge?.usage?.parts ?? [])
    for (const usageClass of usageClasses) {
      const count = counts[usageClass] ?? 0
      if (count > 0) sums[usageClass] = (sums[usageClass] ?? 0) + count
    }
  return sums
}

function billOf(priceLines: string): Answer<typeof billForm> {
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
