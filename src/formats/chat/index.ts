/**
 * The chat format, put together: routes, and which function does what. Everything it declares is
 * pure; the relay calls it through the `Format` interface only.
 */
import { askedService, isAsked, type RequestRules } from '../fields.ts'
import type { Format, ListedModel, OperatorFeature } from '../format.ts'
import type { JsonObject } from '../json.ts'
import { peek } from '../peek.ts'
import { readErrorBody } from '../vendor-error.ts'
import { amendChat } from './amend.ts'
import { chatErrorBody, chatErrorEvent, classifyChat, classifyChatEvent } from './errors.ts'
import { estimateChatBlobs } from './estimate.ts'
import { openChatMeter, readChatAnswer } from './meter.ts'
import { findChatWork } from './work.ts'

const requestRules: RequestRules = {
  limitFields: ['max_tokens', 'max_completion_tokens'],
  isNullAbsent: true,
  hasChoices: true,
  countingOperation: undefined,
  toolPromptTokens: 0,
  estimateBlobs: estimateChatBlobs,
  findFeatures,
  // Requests call one tier by two names; answers know only the second.
  findAsked(body) {
    const tier = body['service_tier']
    return askedService({ tier: tier === 'fast' ? 'priority' : tier })
  },
  findWork: findChatWork,
  asksOneHourCache: () => false,
}

export const chatFormat: Format = {
  name: 'chat',
  routes: [
    { method: 'POST', path: '/v1/chat/completions', operation: 'chat.completions.create' },
    { method: 'GET', path: '/v1/models', operation: 'models.list' },
    { method: 'GET', path: '/v1/models/*id', operation: 'models.get' },
  ],
  requestIdHeader: 'x-request-id',
  readRequest: (body, options) => peek(body, requestRules, options),
  amend: amendChat,
  openMeter: openChatMeter,
  readAnswer: readChatAnswer,
  isTokenCount: () => false,
  readError: readErrorBody,
  classify: classifyChat,
  classifyEvent: classifyChatEvent,
  bodyOfEvent: (envelope) => envelope,
  errorBody: chatErrorBody,
  errorEvent: chatErrorEvent,
  modelList: (models) => toJson({ object: 'list', data: models.map(showModel) }),
  modelItem: (model) => toJson(showModel(model)),
  // Models that reason refuse the older name of the limit, and one below what they think with.
  checkBodies(model) {
    const messages = [{ role: 'user', content: 'ping' }]
    return [
      toJson({ model, max_tokens: 1, messages }),
      toJson({ model, max_completion_tokens: 16, messages }),
    ]
  },
}

/** Searches and moderation are billed by the call, which no usage object shows. */
function findFeatures(body: JsonObject): OperatorFeature[] {
  const features: OperatorFeature[] = []
  if (isAsked(body['store'])) features.push('stored_completions')
  if (isAsked(body['web_search_options'])) features.push('web_search_options')
  if (isAsked(body['moderation'])) features.push('moderation')
  return features
}

function showModel(model: ListedModel) {
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(model.createdAtMs / 1000),
    owned_by: model.vendor,
  }
}

function toJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}
