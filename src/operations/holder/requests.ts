/** The requests of an account as its holder sees them: what became of each, its tokens and its cost. */
import { z } from 'zod'
import { formatUsd, subtractPicos, usdNumber, zeroPicos } from '../../base/money.ts'
import {
  findExchange,
  findRefund,
  listExchanges,
  type RecordedExchange,
  type Refund,
} from '../../ledger/exchange-store.ts'
import { notFound, timeText } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { viewBill } from '../reports/bill.ts'
import { holderRead } from './holder-read.ts'

/** The newest first. */
export const holderRequests = holderRead(
  z.strictObject(pageFields),
  async ({ snapshot, account, input: { cursor, limit } }) => {
    const filter = { accountId: account.id, beforeId: cursor, countMax: limit + 1 }
    return pageOf(await listExchanges(snapshot, filter), {
      limit,
      cursorOf: ({ exchangeId }) => exchangeId,
      view: viewRequest,
    })
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
    return viewInFull(found, await findRefund(snapshot, found))
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

function viewInFull(exchange: RecordedExchange, refund: Refund | undefined) {
  const { charge } = exchange
  const amount = charge?.amountPicos ?? zeroPicos
  return {
    ...viewRequest(exchange),
    estimated: charge?.marks.includes('estimated') ?? false,
    calculation:
      charge === undefined || charge.priceLines === ''
        ? null
        : viewBill(charge.priceLines).calculation,
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
