/** The endpoints of what a vendor account keeps: responses with their inputs, and conversations. */
import { vendorHeaders } from '../answer.ts'
import type { BodyAnswer } from '../answer.ts'
import type { SandboxRoute } from '../endpoints.ts'
import type { ErrorPreset } from '../error-presets.ts'
import { errorAnswer } from '../plain-answers.ts'
import { belowMinimum, notFound, plainRefusal } from '../refusals.ts'
import { asArray, asObject } from '../request.ts'
import type { JsonObject } from '../request.ts'
import { finishJson } from '../usage.ts'
import type { Item, StoredResponse, VendorAccount } from './accounts.ts'

export interface StoredCall {
  readonly route: SandboxRoute
  readonly index: number
  readonly atMs: number
  readonly account: VendorAccount
  readonly query: URLSearchParams
  readonly body: JsonObject | undefined
}

type Result = { readonly content: JsonObject } | { readonly refusal: ErrorPreset }

export function answerStored(call: StoredCall): BodyAnswer {
  const result = run(call)
  const subject = { format: call.route.format, index: call.index }
  if ('refusal' in result) return errorAnswer(subject, result.refusal)
  const headers = vendorHeaders(subject, 'application/json')
  return { kind: 'free', status: 200, headers, body: finishJson(JSON.stringify(result.content)) }
}

function run(call: StoredCall): Result {
  const { route, account } = call
  const id = route.id ?? ''
  switch (route.operation) {
    case 'conversations.create':
      return createConversation(call)
    case 'conversations.retrieve': {
      const found = account.findConversation(id)
      return found === undefined ? missing('Conversation', id) : { content: found.shown }
    }
    case 'conversations.delete': {
      const content = { id, object: 'conversation.deleted', deleted: true }
      return account.deleteConversation(id) ? { content } : missing('Conversation', id)
    }
    default: {
      const found = account.findResponse(id)
      return found === undefined ? missing('Response', id) : runOnResponse(call, found)
    }
  }
}

function missing(kind: string, id: string): Result {
  return { refusal: notFound(`${kind} with id '${id}' not found.`) }
}

function runOnResponse({ route, account, query }: StoredCall, found: StoredResponse): Result {
  const { id } = found
  switch (route.operation) {
    case 'responses.delete':
      account.deleteResponse(id)
      return { content: { id, object: 'response.deleted', deleted: true } }
    case 'responses.cancel':
      return cancel(account, found)
    case 'responses.input_items':
      return listItems(found.input, query)
    default:
      // A response in the background has run by the time of the next question.
      if (found.later !== undefined)
        account.keepResponse({ ...found, shown: found.later, later: undefined })
      return { content: found.later ?? found.shown }
  }
}

function cancel(account: VendorAccount, found: StoredResponse): Result {
  const { background, status } = found.shown
  if (background !== true) return { refusal: plainRefusal('Cannot cancel a synchronous response.') }
  if (status !== 'queued') return { refusal: plainRefusal(`Cannot cancel a completed response.`) }
  const shown = { ...found.shown, status: 'cancelled' }
  account.keepResponse({ ...found, shown, later: undefined })
  return { content: shown }
}

const pageSize = 20
const pageSizeMax = 100

function listItems(items: readonly Item[], query: URLSearchParams): Result {
  const limit = Number(query.get('limit') ?? pageSize)
  if (!Number.isInteger(limit) || limit < 1) return { refusal: belowMinimum('limit', 1, limit) }
  const after = query.get('after')
  const ordered = query.get('order') === 'asc' ? items : items.toReversed()
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0)
    return { refusal: notFound(`Item with id '${after}' not found.`, 'after') }
  const end = start + Math.min(limit, pageSizeMax)
  const data = ordered.slice(start, end)
  return {
    content: {
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      has_more: ordered.length > end,
      last_id: data.at(-1)?.id ?? null,
    },
  }
}

function createConversation({ account, atMs, index, body }: StoredCall): Result {
  const id = `conv_${atMs.toString(16).padStart(12, '0')}sandbox${String(index).padStart(12, '0')}`
  const createdAt = Math.floor(atMs / 1000)
  const metadata = asObject(body?.['metadata']) ?? {}
  const shown = { id, object: 'conversation', created_at: createdAt, metadata }
  const items = asArray(body?.['items']).flatMap((entry, at) => {
    const item = asObject(entry)
    return item === undefined ? [] : [{ type: 'message', id: `msg_${id.slice(5)}${at}`, ...item }]
  })
  account.keepConversation({ id, shown, items })
  return { content: shown }
}
