/**
 * The messages format, put together: routes, and which function does what. Everything it declares
 * is pure; the relay calls it through the `Format` interface only.
 */
import { askedService, isAsked, type RequestRules } from '../fields.ts'
import type { Format, ListedModel, OperatorFeature } from '../format.ts'
import { asArray, asObject, asText, parseJson, type JsonObject } from '../json.ts'
import { peek } from '../peek.ts'
import { splice } from '../splice.ts'
import { readErrorBody } from '../vendor-error.ts'
import {
  classifyMessages,
  classifyMessagesEvent,
  messagesBodyOfEvent,
  messagesErrorBody,
  messagesErrorEvent,
} from './errors.ts'
import { estimateMessagesBlobs } from './estimate.ts'
import { openMessagesMeter, readMessagesAnswer } from './meter.ts'
import { findMessagesWork } from './work.ts'

const requestRules: RequestRules = {
  limitFields: ['max_tokens'],
  isNullAbsent: false,
  hasChoices: false,
  countingOperation: 'messages.count_tokens',
  toolPromptTokens: 800,
  estimateBlobs: estimateMessagesBlobs,
  findFeatures,
  findAsked: (body) =>
    askedService({
      tier: body['service_tier'],
      speed: body['speed'],
      geo: body['inference_geo'],
    }),
  findWork: findMessagesWork,
  asksOneHourCache: (text) =>
    (text.includes('1h"') && /"ttl"\s*:\s*"1h"/.test(text)) ||
    (text.includes('\\u00') && spelledOneHour.test(text)),
}

/** The same in any spelling that JSON allows for its letters. */
const spelledOneHour = /"(?:t|\\u0074){2}(?:l|\\u006[cC])"\s*:\s*"(?:1|\\u0031)(?:h|\\u0068)"/

export const messagesFormat: Format = {
  name: 'messages',
  routes: [
    { method: 'POST', path: '/v1/messages', operation: 'messages.create' },
    { method: 'POST', path: '/v1/messages/count_tokens', operation: 'messages.count_tokens' },
    { method: 'GET', path: '/v1/models', operation: 'models.list' },
    { method: 'GET', path: '/v1/models/*id', operation: 'models.get' },
    { method: 'HEAD', path: '/api/hello', operation: 'hello' },
  ],
  requestIdHeader: 'request-id',
  readRequest: (body, options) => peek(body, requestRules, options),
  amend(body, facts, upstreamModel) {
    if (upstreamModel === undefined || upstreamModel === facts.model) return body
    return splice(body, [{ ...facts.spans.model, text: JSON.stringify(upstreamModel) }])
  },
  openMeter: openMessagesMeter,
  readAnswer: readMessagesAnswer,
  isTokenCount: (body) =>
    typeof asObject(parseJson(body.toString('utf8')))?.['input_tokens'] === 'number',
  readError: readErrorBody,
  classify: classifyMessages,
  classifyEvent: classifyMessagesEvent,
  bodyOfEvent: messagesBodyOfEvent,
  errorBody: messagesErrorBody,
  errorEvent: messagesErrorEvent,
  modelList(models) {
    const data = models.map(showModel)
    return toJson({
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    })
  },
  modelItem: (model) => toJson(showModel(model)),
  checkBodies: (model) => [
    toJson({ model, max_tokens: 1, messages: [{ role: 'user', content: 'ping' }] }),
  ],
}

/** Code execution is billed by the time its container runs, which no usage object shows. */
function findFeatures(body: JsonObject): OperatorFeature[] {
  const features: OperatorFeature[] = []
  if (isAsked(body['container'])) features.push('containers')
  if (isAsked(body['thread'])) features.push('threads')
  const runsCode = asArray(body['tools'])?.some(
    (tool) => asText(asObject(tool)?.['type'])?.startsWith('code_execution') === true,
  )
  if (runsCode === true) features.push('code_execution')
  return features
}

function showModel(model: ListedModel) {
  return {
    type: 'model',
    id: model.id,
    display_name: model.id,
    created_at: new Date(model.createdAtMs).toISOString(),
    ...(model.maxOutputTokens !== undefined && { max_tokens: model.maxOutputTokens }),
  }
}

function toJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}
