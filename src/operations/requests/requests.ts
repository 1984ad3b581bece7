/**
 * The request log: the result of each request of a known caller, charged or refused. It reads the records
 * of all nodes on the store; it holds no content of requests.
 */
import { z } from 'zod'
import { findKey, findKeyNames } from '../../access/key-store.ts'
import { errorCatalogue } from '../../base/error-catalogue.ts'
import type { ErrorCode } from '../../base/errors.ts'
import { readExchangeCut } from '../../ledger/exchange-retention.ts'
import { findExchange, findRefund, listExchanges } from '../../ledger/exchange-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { pageForm } from '../answer-forms.ts'
import { accountReference, fromTime, untilTime, searchWord } from '../input.ts'
import { invalidField, notFound, operation, timeText } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { requestForm, requestInFullForm, viewInFull, viewRequest } from './view.ts'

const errorCodes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]

/** A status such as 402, or a class such as `4xx`, as its first and last number. */
const statusRange = z
  .union([z.string(), z.number()], 'must be a status such as 402 or 4xx')
  .transform(String)
  .pipe(z.string().regex(/^[1-5](\d\d|xx)$/, 'must be a status such as 402 or 4xx'))
  .transform((text): readonly [number, number] => [
    Number(text.replace('xx', '00')),
    Number(text.replace('xx', '99')),
  ])
  .meta({
    anyOf: [
      { type: 'string', pattern: '^[1-5]([0-9]{2}|xx)$' },
      { type: 'integer', minimum: 100, maximum: 599 },
    ],
  })

export const requestFilters = {
  account: accountReference.optional(),
  key: searchWord.optional().describe('Id of the key.'),
  model: searchWord.optional().describe('Model as requested.'),
  channel: searchWord.optional().describe('Channel whose answer the client got.'),
  status: statusRange.optional().describe('Status such as 402, or 4xx.'),
  code: z
    .enum(errorCodes, 'must be a code of docs/errors.md')
    .optional()
    .describe('Error code such as ledger.insufficient_balance.'),
  label: searchWord.optional().describe('Label of the request.'),
  from: fromTime.optional(),
  to: untilTime.optional(),
}

const requestsInput = z.strictObject({ ...requestFilters, ...pageFields })

/** Lists requests, the newest first. */
export const listRequests = operation(
  { input: requestsInput, answer: pageForm(requestForm) },
  (context, { account, key, from, to, cursor, limit, ...filter }) => {
    if (from !== undefined && to !== undefined && from >= to)
      throw invalidField('to', 'must be after from')
    return context.database.snapshot(async (snapshot) => {
      const rows = await listExchanges(snapshot, {
        ...filter,
        ...(await findOwner(snapshot, { account, key })),
        fromMs: from,
        toMs: to,
        beforeId: cursor,
        countMax: limit + 1,
      })
      const keyNames = await findKeyNames(
        snapshot,
        rows.map(({ keyId }) => keyId),
      )
      return pageOf(rows, {
        limit,
        cursorOf: ({ exchangeId }) => exchangeId,
        view: (row) => viewRequest(row, keyNames),
      })
    })
  },
)

/** A key has one account, by which its requests are found. */
export async function findOwner(
  snapshot: Queryable,
  { account, key }: { readonly account: string | undefined; readonly key: string | undefined },
): Promise<{ readonly accountId?: string | undefined; readonly keyId?: string }> {
  const accountId = account === undefined ? undefined : (await getAccount(snapshot, account)).id
  if (key === undefined) return { accountId }
  const found = await findKey(snapshot, key)
  if (found === undefined) throw notFound(`There is no key ${key}. turnpike key list shows keys.`)
  return { accountId: accountId ?? found.accountId, keyId: key }
}

const requestInput = z.strictObject({
  request: searchWord.describe("Its x-turnpike-request-id, or the vendor's own id."),
})

/** Shows one request, by the gateway's id or the vendor's. */
export const showRequest = operation(
  { input: requestInput, answer: requestInFullForm },
  (context, { request: id }) =>
    context.database.snapshot(async (snapshot) => {
      const found = await findExchange(snapshot, { id })
      if (found === undefined) throw notFound(await missing(snapshot, id))
      return viewInFull(found, {
        keyNames: await findKeyNames(snapshot, [found.keyId]),
        refund: await findRefund(snapshot, found),
      })
    }),
)

async function missing(snapshot: Queryable, id: string): Promise<string> {
  const cutMs = await readExchangeCut(snapshot)
  const kept = cutMs === 0 ? '' : ` Requests are kept from ${timeText(cutMs)} on.`
  return (
    `There is no request ${id}.${kept} Callers without a valid key leave no record. ` +
    'Of many refused requests of a key within a minute, only the first have a record each.'
  )
}
