/**
 * The answers of `/v1/usage/…`, as docs/usage-api.md describes them, without fields that no view needs. They
 * are checked where they come in, so that the rest of the page can trust their types.
 */
export type Shape<Value> = (given: unknown) => Value

export type ValueOf<Of> = Of extends Shape<infer Value> ? Value : never

export const text: Shape<string> = (given) => {
  if (typeof given !== 'string') throw new Error('The answer has no text where one belongs.')
  return given
}

export const number: Shape<number> = (given) => {
  if (typeof given !== 'number') throw new Error('The answer has no number where one belongs.')
  return given
}

export const truth: Shape<boolean> = (given) => given === true

export function nullable<Value>(shape: Shape<Value>): Shape<Value | null> {
  return (given) => (given === null || given === undefined ? null : shape(given))
}

export function list<Value>(shape: Shape<Value>): Shape<readonly Value[]> {
  return (given) => {
    if (!Array.isArray(given)) throw new Error('The answer has no list where one belongs.')
    return given.map(shape)
  }
}

/** Values by any names. */
function table<Value>(shape: Shape<Value>): Shape<Readonly<Record<string, Value>>> {
  return (given) =>
    Object.fromEntries(Object.entries(fieldsOf(given)).map(([name, value]) => [name, shape(value)]))
}

/** Fields that are not named here are left out. */
export function record<Fields extends Readonly<Record<string, Shape<unknown>>>>(
  shapes: Fields,
): Shape<{ readonly [Name in keyof Fields]: ValueOf<Fields[Name]> }> {
  return (given) => {
    const fields = fieldsOf(given)
    const checked = Object.entries(shapes).map(([name, shape]) => [name, shape(fields[name])])
    // Object.fromEntries does not keep which name has which type.
    return Object.fromEntries(checked) as { [Name in keyof Fields]: ValueOf<Fields[Name]> }
  }
}

export function fieldsOf(given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null)
    throw new Error('The answer has no object where one belongs.')
  return Object.fromEntries(Object.entries(given))
}

/** A page of a list. */
export function pageOf<Item>(item: Shape<Item>) {
  return record({ items: list(item), next_cursor: nullable(text) })
}

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
  bill_to: text,
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
  member_id: nullable(text),
  name: text,
  head: text,
  state: text,
  models: nullable(list(text)),
  ip: nullable(list(text)),
  expires_at: nullable(text),
  used: record({ day_usd: number, month_usd: number, total_usd: number }),
  limits: list(budgetForm),
  rpm: number,
  tpm: number,
})
export type Key = ValueOf<typeof keyForm>
export const keysForm = pageOf(keyForm)

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
  label: nullable(text),
  requests: number,
}
const requestForm = record(requestFields)
export type RequestLine = ValueOf<typeof requestForm>
export const requestsForm = pageOf(requestForm)

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

export const requestInFullForm = record({
  ...requestFields,
  key: nullable(text),
  finish_reason: nullable(text),
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

const exchangeForm = record({ model: text, key: text, calculation: text })
const entryForm = record({
  sequence: number,
  at: text,
  kind: text,
  amount: text,
  balance: text,
  request: nullable(text),
  reference: text,
  exchange: nullable(exchangeForm),
})
export const statementForm = record({ entries: list(entryForm) })

export const statementFiguresForm = record({
  opening_balance: text,
  requests: number,
  charged: text,
  refunds: text,
  credits: text,
  adjustments: text,
  closing_balance: text,
})

const receiptForm = record({
  number: text,
  reverses: nullable(text),
  at: text,
  amount: text,
  net: text,
  tax: text,
  tax_percent: number,
  reference: text,
  account: record({ name: text, bill_to: text }),
})
export type Receipt = ValueOf<typeof receiptForm>
export const receiptsForm = pageOf(receiptForm)

const headForm = record({ hour: text, count: number, sum: text, hash: text, key: text })
export type SignedHead = ValueOf<typeof headForm>
export const proofsForm = pageOf(headForm)

export const errorForm = record({
  message: text,
  type: text,
  request_id: nullable(text),
  fields: nullable(list(record({ field: text, message: text }))),
})

export const operatorForm = record({
  name: nullable(text),
  contact: nullable(text),
  address: nullable(text),
  tax: nullable(record({ percent: number, note: nullable(text) })),
  members: truth,
  sign_up: nullable(text),
  oidc: nullable(text),
  payments: nullable(record({ least_usd: number, most_usd: number })),
})
