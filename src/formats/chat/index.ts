/**
 * The chat format: its operations and which function does what. Everything it declares is pure; the
 * relay calls it through the interfaces of format.ts only.
 */
import { completions } from '../completions/index.ts'
import { embeddings } from '../embeddings/index.ts'
import type { Format, ForwardedOperation, ListedModel } from '../format.ts'
import type { JsonObject } from '../json.ts'
import { modelsOperations, toJson } from '../models.ts'
import { peek } from '../peek.ts'
import { responsesCompact, responsesCreate, responsesInputTokens } from '../responses/index.ts'
import { storedResponses } from '../responses/stored.ts'
import { amendChat, chatRules } from './request.ts'
import { chatErrorBody, chatErrorEvent, classifyChat, classifyChatEvent } from './errors.ts'
import { chatAnswerMembers, openChatMeter, readChatAnswer } from './meter.ts'

export const chatCompletions: ForwardedOperation = {
  kind: 'forwarded',
  name: 'chat.completions.create',
  method: 'POST',
  path: '/v1/chat/completions',
  modelOperation: 'chat',
  outputLimitFields: ['max_tokens', 'max_completion_tokens'],
  isFree: false,
  readRequest: (body, options) => peek(body, chatRules, options),
  usageField: 'stream_options',
  amend: amendChat,
  openMeter: openChatMeter,
  readAnswer: readChatAnswer,
  answerMembers: chatAnswerMembers,
  classify: classifyChat,
  errorEvent: chatErrorEvent,
  // Reasoning models refuse the older name of the limit, and a limit too small to reason with.
  checkBodies(model, isStream, usage = 'ask') {
    const messages = [{ role: 'user', content: 'ping' }]
    const plain = { model, messages, ...(isStream && { stream: true }) }
    if (!isStream || usage === 'never') return checks(plain)
    const asking = { ...plain, stream_options: { include_usage: true } }
    return [...checks(asking), ...checks(plain)]
  },
}

function checks(request: JsonObject): readonly Buffer[] {
  return [toJson({ ...request, max_tokens: 1 }), toJson({ ...request, max_completion_tokens: 16 })]
}

export const chatFormat: Format = {
  name: 'chat',
  operations: [
    chatCompletions,
    responsesCreate,
    responsesCompact,
    responsesInputTokens,
    ...storedResponses,
    embeddings,
    completions,
    ...modelsOperations(showModel, (data) => ({ object: 'list', data })),
  ],
  webSocketPaths: [responsesCreate.path],
  basePath: '/v1',
  listingQuery: '',
  requestIdHeader: 'x-request-id',
  // Its SDKs read the data of every event, so only a comment is safe.
  ping: Buffer.from(': keep-alive\n\n'),
  classifyEvent: classifyChatEvent,
  bodyOfEvent: (envelope) => envelope,
  statuses: {},
  errorBody: chatErrorBody,
}

function showModel(model: ListedModel) {
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(model.createdAtMs / 1000),
    owned_by: model.vendor,
  }
}
