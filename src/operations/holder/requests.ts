/** The requests of an account as its holder sees them: what became of each, its tokens and its cost. */
import { z } from 'zod'
import { findKey, type KeyRow } from '../../access/key-store.ts'
import { formatUsd, subtractPicos, usdNumber, zeroPicos } from '../../base/money.ts'
import { firstExchangeIdAt } from '../../ledger/entry-store.ts'
import {
  findExchange,
  findRefund,
  findSearchEnd,
  listExchanges,
  type RecordedExchange,
  type Refund,
} from '../../ledger/exchange-store.ts'
import type { FreeEnding } from '../../ledger/free-exchange-store.ts'
import { fromTime, untilTime } from '../input.ts'
import { invalidField, notFound, timeText } from '../operation.ts'
import { cursorText, pageFields, pageOf } from '../paging.ts'
import { billOf, tokensOf } from '../requests/view.ts'
import { holderRead } from './holder-read.ts'

const explanations: Readonly<Record<FreeEnding, string>> = {
  completed: 'You got the whole answer.',
  client_left: 'Your program left before it had the whole answer.',
  upstream_cut: 'The vendor broke off after the answer had begun.',
  gateway_cut: 'The gateway ended the answer: it took too long, or the gateway stopped.',
  refused: "The vendor refused the request, and you got the vendor's error.",
  failed: 'No vendor gave an answer, and you got an error of the gateway.',
  not_admitted: 'The gateway refused the request before it sent anything to a vendor.',
}
const endings = Object.keys(explanations) as [FreeEnding, ...FreeEnding[]]

const word = z.string('must be text').min(1, 'must not be empty').max(256, 'is too long')

/** Rows that one question may read, so that a filter with few hits does not keep the store busy. */
const searchRowsMax = 10_000

/** The newest first. A page may have fewer than `limit`, or none, and still be followed by another one. */
export const holderRequests = holderRead(
  z.strictObject({
    key: word.optional(),
    model: word.optional(),
    outcome: z.enum(endings, `must be one of ${endings.join(', ')}`).optional(),
    from: fromTime.optional(),
    to: untilTime.optional(),
    ...pageFields,
  }),
  async ({ snapshot, account, input }) => {
    const { key, model, outcome, from, to, cursor, limit } = input
    if (from !== undefined && to !== undefined && from >= to)
      throw invalidField('to', 'must be after from')
    const place = { accountId: account.id, toMs: to, beforeId: cursor }
    const hasFilter = [key, model, outcome].some((given) => given !== undefined)
    const end = hasFilter
      ? await findSearchEnd(snapshot, { ...place, rowsMax: searchRowsMax })
      : undefined
    const filter = { ...place, fromMs: from, keyId: key, model, ending: outcome, sinceId: end }
    const found = await listExchanges(snapshot, { ...filter, countMax: limit + 1 })
    const page = pageOf(found, {
      limit,
      cursorOf: ({ exchangeId }) => exchangeId,
      view: viewRequest,
    })
    const isCut = end !== undefined && (from === undefined || end > firstExchangeIdAt(from))
    return isCut && page.next_cursor === null ? { ...page, next_cursor: cursorText(end) } : page
  },
)

/** One request, by the gateway's id or the vendor's. */
export const holderRequest = holderRead(
  z.strictObject({ request: z.string().min(1).max(512) }),
  async ({ snapshot, account, input: { request: id } }) => {
    const found = await findExchange(snapshot, { id, accountId: account.id })
    if (found === undefined)
      throw notFound(
        `There is no request ${id} of this account. Requests are kept for some time, and appear when they end.`,
      )
    const key = await findKey(snapshot, found.keyId)
    return viewInFull(found, { key, refund: await findRefund(snapshot, found) })
  },
)

function viewRequest(exchange: RecordedExchange) {
  const { charge } = exchange
  const reported = charge?.usage?.reported
  const amount = charge?.amountPicos ?? zeroPicos
  return {
    id: exchange.exchangeId,
    vendor_request_id: exchange.vendorRequestId ?? null,
    started_at: timeText(exchange.startedAtMs),
    ended_at: timeText(exchange.endedAtMs),
    key_id: exchange.keyId,
    vendor: exchange.vendor,
    model: exchange.model ?? null,
    operation: exchange.operation ?? null,
    stream: exchange.isStream ?? null,
    outcome: exchange.ending,
    status: exchange.status,
    /** Of the gateway's own error. */
    code: exchange.code ?? null,
    first_event_ms: exchange.firstEventMs ?? null,
    input_tokens: reported?.inputTokens ?? 0,
    output_tokens: reported?.outputTokens ?? 0,
    cache_tokens: reported?.cacheTokens ?? 0,
    cost_usd: usdNumber(amount),
    /** Exact. */
    cost: formatUsd(amount),
    /** More than one where the line stands for many refused requests; it shows the first. */
    requests: exchange.standsFor,
  }
}

interface Beside {
  readonly key: Pick<KeyRow, 'name' | 'head'> | undefined
  readonly refund: Refund | undefined
}

function viewInFull(exchange: RecordedExchange, { key, refund }: Beside) {
  const { charge } = exchange
  const amount = charge?.amountPicos ?? zeroPicos
  const bill = charge === undefined || charge.priceLines === '' ? null : billOf(charge.priceLines)
  return {
    ...viewRequest(exchange),
    key: key === undefined ? null : key.name === '' ? key.head : key.name,
    explanation: explanations[exchange.ending],
    estimated: charge?.marks.includes('estimated') ?? false,
    /** By class of price. */
    tokens: tokensOf(charge),
    calculation: bill?.calculation ?? null,
    /** The same line by line. */
    bill: bill === null ? null : withoutCalculation(bill),
    refund:
      refund === undefined
        ? null
        : {
            amount_usd: usdNumber(refund.amountPicos),
            amount: formatUsd(refund.amountPicos),
            at: timeText(refund.bookedAtMs),
          },
    /** Exact: the cost less the refund. */
    paid: formatUsd(subtractPicos(amount, refund?.amountPicos ?? zeroPicos)),
  }
}

function withoutCalculation({ calculation: _calculation, ...lines }: ReturnType<typeof billOf>) {
  return lines
}
