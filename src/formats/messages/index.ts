/**
 * The messages format: its operations and which function does what. Everything it declares is pure;
 * the relay calls it through the interfaces of format.ts only.
 */
import type { RequestRules } from '../fields.ts'
import type { Format, ForwardedOperation, ListedModel } from '../format.ts'
import { modelsOperations, pageOf, toJson } from '../models.ts'
import { peek } from '../peek.ts'
import { renameModel } from '../rename-model.ts'
import { readTokenCount, tokenCountMembers } from '../token-count.ts'
import { notOffered } from '../vendor-error.ts'
import {
  classifyMessages,
  classifyMessagesEvent,
  messagesBodyOfEvent,
  messagesErrorBody,
  messagesErrorEvent,
} from './errors.ts'
import { messagesRules } from './request.ts'
import { messagesAnswerMembers, openMessagesMeter, readMessagesAnswer } from './meter.ts'

/** This answer is a count and nothing else: no output, no stream. */
const countRules: RequestRules = { ...messagesRules, hasOutput: false }

export const messagesCreate: ForwardedOperation = {
  kind: 'forwarded',
  name: 'messages.create',
  method: 'POST',
  path: '/v1/messages',
  outputLimitFields: ['max_tokens'],
  isFree: false,
  readRequest: (body, options) => peek(body, messagesRules, options),
  amend: renameModel,
  openMeter: openMessagesMeter,
  readAnswer: readMessagesAnswer,
  answerMembers: messagesAnswerMembers,
  classify: classifyMessages,
  errorEvent: messagesErrorEvent,
  checkBodies(model, isStream) {
    const messages = [{ role: 'user', content: 'ping' }]
    return [toJson({ model, max_tokens: 1, messages, ...(isStream && { stream: true }) })]
  },
}

export const countTokens: ForwardedOperation = {
  kind: 'forwarded',
  name: 'messages.count_tokens',
  method: 'POST',
  path: '/v1/messages/count_tokens',
  isFree: true,
  readRequest: (body, options) => peek(body, countRules, options),
  amend: renameModel,
  openMeter: openMessagesMeter,
  readAnswer: readTokenCount,
  answerMembers: tokenCountMembers,
  // Some vendors do not offer it; their address is right all the same.
  classify(head, error) {
    return notOffered(classifyMessages(head, error), head.status, error)
  },
  errorEvent: messagesErrorEvent,
}

export const messagesFormat: Format = {
  name: 'messages',
  operations: [
    messagesCreate,
    countTokens,
    ...modelsOperations(showModel, showPage),
    { kind: 'warm_up', name: 'hello', method: 'HEAD', path: '/api/hello' },
  ],
  webSocketPaths: [],
  basePath: '',
  // Without it a page has twenty.
  listingQuery: '?limit=1000',
  requestIdHeader: 'request-id',
  ping: Buffer.from('event: ping\ndata: {"type": "ping"}\n\n'),
  classifyEvent: classifyMessagesEvent,
  bodyOfEvent: messagesBodyOfEvent,
  // Claude Code asks for another model only after this status.
  statuses: { 'access.model_not_allowed': 400 },
  errorBody: messagesErrorBody,
}

/** Null where the catalogue has no fact: SDKs know these fields as present, and null as unknown. */
function showModel(model: ListedModel) {
  return {
    type: 'model',
    id: model.id,
    display_name: model.id,
    created_at: new Date(model.createdAtMs).toISOString(),
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: model.maxInputTokens ?? null,
    max_tokens: model.maxOutputTokens ?? null,
    capabilities: null,
    line: null,
    allowed_fallback_models: null,
  }
}

function showPage(models: readonly ReturnType<typeof showModel>[], query: string) {
  const page = pageOf(models, query)
  if ('kind' in page) return page
  const { data, hasMore } = page
  return {
    data,
    has_more: hasMore,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
}
