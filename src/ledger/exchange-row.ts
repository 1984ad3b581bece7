/**
 * An ended exchange as the values of its row, in the order of the columns. The embedded engine sends
 * it to its writer thread: an object would be copied with the names of its fields, which costs three
 * times as much.
 */
import { zeroPicos } from '../base/money.ts'
import { toAnswerStateRows, type AnswerStateRow } from './answer-state-store.ts'
import type { ExchangeRecord } from './ledger.ts'
import { cacheWriteTokens, promptTokens } from './report-day.ts'
import { formatAttempts } from './stored-attempts.ts'
import { formatUsage } from './stored-usage.ts'

/** The columns of table `exchange`, in the order of `rowOf`. */
export const exchangeColumns = [
  'account_id',
  'exchange_id',
  'key_id',
  'vendor',
  'model',
  'operation',
  'is_stream',
  'channel',
  'started_at_ms',
  'ended_at_ms',
  'ending',
  'status',
  'attempt_count',
  'amount_picos',
  'usage',
  'marks',
  'price_lines',
  'vendor_request_id',
  'operator_cost_picos',
  'first_event_ms',
  'attempts',
  'code',
  'client',
  'address',
  'own_cost_picos',
  'is_own_cost_known',
  'waived_picos',
  'asked_model',
  'label',
  'finish_reason',
] as const

type ExchangeRow = ReturnType<typeof rowOf>

/** Indexes of the values that booking reads. */
export const indexOf = {
  accountId: 0,
  exchangeId: 1,
  keyId: 2,
  model: 4,
  channel: 7,
  endedAtMs: 9,
  ending: 10,
  attemptCount: 12,
  amountPicos: 13,
  operatorCostPicos: 18,
  firstEventMs: 19,
  ownCostPicos: 24,
  isOwnCostKnown: 25,
  label: 28,
} as const

export interface EndedExchange {
  readonly row: ExchangeRow
  /** The tokens that its sums count; zeros without a usage. */
  readonly tokens: readonly [
    input: number,
    output: number,
    cache: number,
    cacheWrite: number,
    prompt: number,
  ]
  /** Absent where the answer has made none. */
  readonly states?: readonly AnswerStateRow[]
}

const noTokens = [0, 0, 0, 0, 0] as const

export function toEndedExchange(record: ExchangeRecord): EndedExchange {
  const { usage } = record
  const row = rowOf(record)
  const states = statesOf(record)
  if (usage === undefined) return { row, tokens: noTokens, ...states }
  const { inputTokens, outputTokens, cacheTokens } = usage.reported
  const cacheWrite = cacheWriteTokens(usage)
  const prompt = promptTokens(usage)
  return { row, tokens: [inputTokens, outputTokens, cacheTokens, cacheWrite, prompt], ...states }
}

function rowOf(record: ExchangeRecord) {
  return [
    record.accountId,
    record.exchangeId,
    record.keyId,
    record.vendor,
    record.model,
    record.operation,
    record.isStream ? 1 : 0,
    record.channel ?? null,
    record.startedAtMs,
    record.endedAtMs,
    record.ending,
    record.status,
    record.attemptCount,
    record.amountPicos,
    record.usage === undefined ? null : formatUsage(record.usage),
    record.marks.join(','),
    record.priceLines,
    record.vendorRequestId ?? null,
    record.operatorCostPicos,
    record.firstEventMs ?? null,
    formatAttempts(record.attempts, record),
    record.code ?? null,
    record.client,
    record.address,
    record.ownCostPicos,
    record.isOwnCostKnown ? 1 : 0,
    record.waivedPicos ?? zeroPicos,
    record.askedModel ?? null,
    record.label ?? '',
    record.finishReason ?? null,
  ] as const
}

function statesOf(record: ExchangeRecord): Pick<EndedExchange, 'states'> {
  const { made, channel } = record
  if (made === undefined || channel === undefined) return {}
  return { states: toAnswerStateRows(made, { ...record, channel }) }
}
