/** The requests of an account as its holder sees them: the result of each, its tokens and its cost. */
import { z } from 'zod'
import { findKeyNames } from '../../access/key-store.ts'
import { formatUsd, subtractPicos, usdNumber, zeroPicos } from '../../base/money.ts'
import { firstExchangeIdAt } from '../../ledger/entry-store.ts'
import {
  costPlaceOf,
  findExchange,
  findRefund,
  findSearchEnd,
  listExchanges,
  listExchangesByCost,
  type ExchangeFilter,
  type RecordedExchange,
} from '../../ledger/exchange-store.ts'
import type { FreeEnding } from '../../ledger/free-exchange-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { moment, pageForm, usd, usdShown, type Answer } from '../answer-forms.ts'
import { fromTime, untilTime, searchWord } from '../input.ts'
import { invalidField, notFound, timeText } from '../operation.ts'
import { cursorText, orderedKey, pageFields, pageOf, readOrderedKey, type Page } from '../paging.ts'
import { reasonForClient } from '../requests/explain-vendor-error.ts'
import {
  billForm,
  endings,
  requestInFullForm,
  viewInFull as viewForOperator,
  viewRequest,
  viewVendorError,
  type Beside,
} from '../requests/view.ts'
import { holderRead, idsOfOwnKeys } from './holder-read.ts'

const explanations: Readonly<Record<FreeEnding, string>> = {
  completed: 'You got the whole answer.',
  client_left: 'Your program left before it had the whole answer.',
  upstream_cut: 'The vendor broke off after the answer had begun.',
  gateway_cut: 'The gateway ended the answer: it took too long, or the gateway stopped.',
  refused: "The vendor refused the request, and you got the vendor's error.",
  failed: 'No vendor gave an answer, and you got an error of the gateway.',
  not_admitted: 'The gateway refused the request before it sent anything to a vendor.',
}

const notFree =
  'It is charged: requests that you left before the first byte, or whose answer was empty, are free only ' +
  'while their likely costs within 24 hours stay within 0.50 USD, or 2 % of your charges if that is more.'

/** Rows that one question may read, so that a filter with few hits does not keep the store busy. */
const searchRowsMax = 10_000

/** Rows of a period that are ordered by their cost: ordering more of them would keep the store busy. */
const sortedRowsMax = 100_000

const requestsInput = z.strictObject({
  key: searchWord.optional(),
  model: searchWord.optional(),
  label: searchWord.optional(),
  outcome: z.enum(endings, `must be one of ${endings.join(', ')}`).optional(),
  from: fromTime.optional(),
  to: untilTime.optional(),
  sort: z.enum(['time', 'cost'], 'must be time or cost').default('time'),
  ...pageFields,
})

const shown = requestInFullForm.shape

/** The fields of an operator's view that a holder sees: parsing leaves out every other one. */
const holderRequestForm = z.object({
  id: shown.id,
  vendor_request_id: shown.vendor_request_id,
  started_at: shown.started_at,
  ended_at: shown.ended_at,
  key_id: shown.key_id,
  vendor: shown.vendor,
  model: shown.model,
  asked_model: shown.asked_model,
  operation: shown.operation,
  stream: shown.stream,
  outcome: shown.outcome,
  status: shown.status,
  code: shown.code,
  vendor_error: shown.vendor_error,
  first_event_ms: shown.first_event_ms,
  input_tokens: shown.input_tokens,
  output_tokens: shown.output_tokens,
  cache_tokens: shown.cache_tokens,
  cost_usd: usdShown,
  cost: usd,
  label: shown.label,
  requests: shown.requests,
})

const inFullForm = holderRequestForm.extend({
  key: shown.key,
  finish_reason: shown.finish_reason,
  explanation: shown.explanation,
  estimated: z.boolean(),
  tokens: shown.tokens,
  calculation: z.string().nullable(),
  /** The same line by line. */
  bill: z.object(billForm.omit({ calculation: true }).shape).nullable(),
  refund: z.strictObject({ amount_usd: usdShown, amount: usd, at: moment }).nullable(),
  /** The cost less the refund. */
  paid: usd,
})

/** The newest first, or those that cost most. */
export const holderRequests = holderRead(
  { input: requestsInput, answer: pageForm(holderRequestForm) },
  async ({ snapshot, account, input, ownerOfKeys }) => {
    const { from, to, key = '' } = input
    if (ownerOfKeys !== undefined) {
      const own = { accountId: account.id, memberId: ownerOfKeys }
      if (!(await idsOfOwnKeys(snapshot, own)).has(key))
        throw invalidField('key', 'must be the id of one of your keys')
    }
    if (from !== undefined && to !== undefined && from >= to)
      throw invalidField('to', 'must be after from')
    const asked = { ...input, accountId: account.id }
    return input.sort === 'cost' ? listByCost(snapshot, asked) : listByTime(snapshot, asked)
  },
)

type Asked = z.output<typeof requestsInput> & { readonly accountId: string }
type Requests = Page<Answer<typeof holderRequestForm>>

/** A page may have fewer than `limit`, or none, and still be followed by another one. */
async function listByTime(
  snapshot: Queryable,
  { accountId, key, model, label, outcome, from, to, cursor, limit }: Asked,
): Promise<Requests> {
  const place = { accountId, toMs: to, beforeId: cursor }
  const hasFilter = [key, model, label, outcome].some((given) => given !== undefined)
  const end = hasFilter
    ? await findSearchEnd(snapshot, { ...place, rowsMax: searchRowsMax })
    : undefined
  const chosen = { keyId: key, model, label, ending: outcome }
  const filter = { ...place, ...chosen, fromMs: from, sinceId: end }
  const found = await listExchanges(snapshot, { ...filter, countMax: limit + 1 })
  const page = pageOf(found, {
    limit,
    cursorOf: ({ exchangeId }) => exchangeId,
    view: viewLine,
  })
  const isCut = end !== undefined && (from === undefined || end > firstExchangeIdAt(from))
  return isCut && page.next_cursor === null ? { ...page, next_cursor: cursorText(end) } : page
}

async function listByCost(snapshot: Queryable, asked: Asked): Promise<Requests> {
  const { accountId, key, model, label, outcome, from, to, cursor, limit } = asked
  const end = await findSearchEnd(snapshot, { accountId, toMs: to, rowsMax: sortedRowsMax + 1 })
  if (end !== undefined && (from === undefined || end >= firstExchangeIdAt(from)))
    throw invalidField('sort', `takes at most ${sortedRowsMax} requests; ask for fewer days`)
  const order = { sort: 'cost', order: 'desc', keyLength: 2 } as const
  const [amountPicos, exchangeId] = readOrderedKey(cursor, order) ?? []
  const behind =
    typeof amountPicos === 'bigint' && typeof exchangeId === 'string'
      ? { amountPicos, exchangeId }
      : undefined
  const filter: ExchangeFilter = {
    accountId,
    fromMs: from,
    toMs: to,
    keyId: key,
    model,
    label,
    ending: outcome,
    countMax: limit + 1,
  }
  return pageOf(await listExchangesByCost(snapshot, filter, behind), {
    limit,
    cursorOf: (exchange) => orderedKey(order, Object.values(costPlaceOf(exchange))),
    view: viewLine,
  })
}

/** One request, by the gateway's id or the vendor's. */
export const holderRequest = holderRead(
  { input: z.strictObject({ request: z.string().min(1).max(512) }), answer: inFullForm },
  async ({ snapshot, account, input: { request: id }, ownerOfKeys }) => {
    const found = await findExchange(snapshot, { id, accountId: account.id })
    const own = { accountId: account.id, memberId: ownerOfKeys ?? '' }
    const isHidden =
      found !== undefined &&
      ownerOfKeys !== undefined &&
      !(await idsOfOwnKeys(snapshot, own)).has(found.keyId)
    if (found === undefined || isHidden)
      throw notFound(
        `There is no request ${id} of this account. Requests are kept for some time, and appear when they end.`,
      )
    const keyNames = await findKeyNames(snapshot, [found.keyId])
    return viewInFull(found, { keyNames, refund: await findRefund(snapshot, found) })
  },
)

function viewLine(exchange: RecordedExchange): Answer<typeof holderRequestForm> {
  return holderRequestForm.parse({
    ...viewRequest(exchange, new Map()),
    vendor_request_id: exchange.vendorRequestId ?? null,
    ...changedForHolder(exchange),
  })
}

/** What else a vendor says is about the operator's account. */
function changedForHolder(exchange: RecordedExchange) {
  const amount = exchange.charge?.amountPicos ?? zeroPicos
  return {
    vendor_error: viewVendorError(reasonForClient(exchange)),
    cost_usd: usdNumber(amount),
    cost: formatUsd(amount),
  }
}

function viewInFull(exchange: RecordedExchange, beside: Beside): Answer<typeof inFullForm> {
  const { refund } = beside
  const view = viewForOperator(exchange, beside)
  const amount = exchange.charge?.amountPicos ?? zeroPicos
  return inFullForm.parse({
    ...view,
    ...changedForHolder(exchange),
    explanation: view.marks.includes('not_free')
      ? `${explanations[exchange.ending]} ${notFree}`
      : explanations[exchange.ending],
    estimated: view.marks.includes('estimated'),
    calculation: view.bill?.calculation ?? null,
    refund:
      refund === undefined
        ? null
        : {
            amount_usd: usdNumber(refund.amountPicos),
            amount: formatUsd(refund.amountPicos),
            at: timeText(refund.bookedAtMs),
          },
    paid: formatUsd(subtractPicos(amount, refund?.amountPicos ?? zeroPicos)),
  })
}
