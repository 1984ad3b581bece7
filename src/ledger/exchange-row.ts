/**
 * An ended exchange as the values of its row, in the order of the columns. The embedded engine sends
 * it to its writer thread: an object would be copied with the names of its fields, which costs three
 * times as much.
 */
import type { Picos } from '../base/money.ts'
import { toAnswerStateRows, type AnswerStateRow } from './answer-state-store.ts'
import type { Ending, ExchangeRecord } from './ledger.ts'

/** The columns of table `exchange`, in the order of an `ExchangeRow`. */
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
] as const

type ExchangeRow = readonly [
  accountId: string,
  exchangeId: string,
  keyId: string,
  vendor: string,
  model: string,
  operation: string,
  isStream: 0 | 1,
  channel: string | null,
  startedAtMs: number,
  endedAtMs: number,
  ending: Ending,
  status: number,
  attemptCount: number,
  amountPicos: Picos,
  usage: string | null,
  marks: string,
  priceLines: string,
  vendorRequestId: string | null,
  operatorCostPicos: Picos,
]

/** Indexes of the values that booking reads. */
export const indexOf = {
  accountId: 0,
  exchangeId: 1,
  keyId: 2,
  model: 4,
  endedAtMs: 9,
  amountPicos: 13,
} as const

export interface EndedExchange {
  readonly row: ExchangeRow
  /** The tokens that its figures count; zeros without a usage. */
  readonly tokens: readonly [input: number, output: number, cache: number]
  /** Absent where the answer has made none. */
  readonly states?: readonly AnswerStateRow[]
}

const noTokens = [0, 0, 0] as const

export function toEndedExchange(record: ExchangeRecord): EndedExchange {
  const { usage } = record
  const row: ExchangeRow = [
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
    usage === undefined ? null : JSON.stringify(usage),
    record.marks.join(','),
    record.priceLines,
    record.vendorRequestId ?? null,
    record.operatorCostPicos,
  ]
  const states = statesOf(record)
  if (usage === undefined) return { row, tokens: noTokens, ...states }
  const { inputTokens, outputTokens, cacheTokens } = usage.reported
  return { row, tokens: [inputTokens, outputTokens, cacheTokens], ...states }
}

function statesOf(record: ExchangeRecord): Pick<EndedExchange, 'states'> {
  const { made, channel } = record
  if (made === undefined || channel === undefined) return {}
  return { states: toAnswerStateRows(made, { ...record, channel }) }
}
