/** The answers of `/v1/usage/…`, as docs/usage-api.md describes them, without fields that no view needs. */
import { list, nullable, number, record, table, text, truth, type ValueOf } from './shape.ts'

const budgetForm = record({
  period: text,
  limit_usd: number,
  used_usd: number,
  left_usd: number,
  resets_at: nullable(text),
})
export type Budget = ValueOf<typeof budgetForm>

export const accountForm = record({
  name: text,
  status: text,
  balance: text,
  credit_line: text,
  held: nullable(text),
  available: nullable(text),
  used: record({ day_usd: number, month_usd: number }),
  limits: list(budgetForm),
  rpm: number,
  window_minutes: number,
  tpm: number,
})
export type Account = ValueOf<typeof accountForm>

export const daysForm = record({
  from: text,
  to: text,
  days: list(
    record({
      day: text,
      key_id: nullable(text),
      key: nullable(text),
      model: nullable(text),
      requests: number,
      input_tokens: number,
      output_tokens: number,
      cache_tokens: number,
      cost: text,
    }),
  ),
})
export type DayLine = ValueOf<typeof daysForm>['days'][number]

const keyForm = record({
  id: text,
  name: text,
  head: text,
  state: text,
  models: nullable(list(text)),
  expires_at: nullable(text),
  used: record({ day_usd: number, month_usd: number, total_usd: number }),
  limits: list(budgetForm),
  rpm: number,
  tpm: number,
})
export type Key = ValueOf<typeof keyForm>
export const keysForm = record({ items: list(keyForm), next_cursor: nullable(text) })

const vendorErrorForm = record({
  type: nullable(text),
  code: nullable(text),
  param: nullable(text),
  meaning: text,
})

const requestFields = {
  id: text,
  vendor_request_id: nullable(text),
  started_at: text,
  ended_at: text,
  key_id: text,
  vendor: text,
  model: nullable(text),
  operation: nullable(text),
  stream: nullable(truth),
  outcome: text,
  status: number,
  code: nullable(text),
  vendor_error: nullable(vendorErrorForm),
  first_event_ms: nullable(number),
  input_tokens: number,
  output_tokens: number,
  cache_tokens: number,
  cost: text,
  requests: number,
}
const requestForm = record(requestFields)
export type RequestLine = ValueOf<typeof requestForm>
export const requestsForm = record({ items: list(requestForm), next_cursor: nullable(text) })

const billForm = record({
  parts: list(
    record({
      model: text,
      long_context: truth,
      factors: list(record({ kind: text, name: text, factor: text })),
      lines: list(record({ class: text, count: number, price_usd: text, amount_usd: text })),
    }),
  ),
  fee_usd: text,
  multiplier: text,
  at_most_usd: nullable(text),
})
export type Bill = ValueOf<typeof billForm>

export const requestInFullForm = record({
  ...requestFields,
  key: nullable(text),
  explanation: text,
  estimated: truth,
  bill: nullable(billForm),
  refund: nullable(record({ amount: text, at: text })),
  paid: text,
})
export type RequestInFull = ValueOf<typeof requestInFullForm>

/** Prices are numbers, or text where no number is exact; some groups are tables. */
export const pricesForm = record({
  multiplier: text,
  prices: list(
    record({ model: text, vendor: text, format: text, price: table((given: unknown) => given) }),
  ),
})
export type ModelPrice = ValueOf<typeof pricesForm>['prices'][number]
