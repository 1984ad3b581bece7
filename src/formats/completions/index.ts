/**
 * Completions: text that continues a prompt, as older clients ask for it. What differs from chat is here; the
 * rest is the chat format's.
 */
import { chatErrorEvent, classifyChat } from '../chat/errors.ts'
import { chatAnswerMembers, openCompletionsMeter, readCompletionsAnswer } from '../chat/meter.ts'
import { amendChat, chatRules } from '../chat/request.ts'
import {
  aggregatorFields,
  fault,
  findAggregatorWork,
  noExtras,
  type RequestRules,
} from '../fields.ts'
import type { ForwardedOperation } from '../format.ts'
import { isAsked } from '../json.ts'
import { toJson } from '../models.ts'
import { peek } from '../peek.ts'
import { estimateTextPrompt, readTextPrompt } from '../text-prompt.ts'
import { notOffered } from '../vendor-error.ts'

const textsMax = 2_048

const completionsRules: RequestRules = {
  fields: new Set([
    'model',
    'prompt',
    'suffix',
    'max_tokens',
    'stream',
    'stream_options',
    'n',
    'best_of',
    'echo',
    'temperature',
    'service_tier',
    ...aggregatorFields,
  ]),
  limitFields: ['max_tokens'],
  // A client that wants the probabilities of its own prompt asks for no output.
  limitMin: 0,
  isNullAbsent: true,
  hasChoices: true,
  hasBestOf: true,
  hasOutput: true,
  findPromptFault(body, source) {
    // The vendor takes a request without a prompt as one that begins a new text.
    if (body['prompt'] === undefined || body['prompt'] === null) return undefined
    const prompt = readTextPrompt(source, 'prompt')
    if (prompt === undefined)
      return fault('`prompt` must be a string, a list of tokens, or a non-empty list of either.')
    if (prompt.texts > textsMax) return fault(`\`prompt\` has more than ${textsMax} texts.`)
    return undefined
  },
  countPrompts: (source) => readTextPrompt(source, 'prompt')?.texts ?? 1,
  estimatePayloads(body, source) {
    const sum = estimateTextPrompt(body, source, 'prompt')
    sum.addText(body['suffix'])
    return sum
  },
  findOperatorFeatures: () => [],
  findBillableFeatures(body) {
    const features = findAggregatorWork(body)
    const asksNoOutput = body['max_tokens'] === 0
    const echoesPrompt = isAsked(body['echo'])
    if (!asksNoOutput && !echoesPrompt) return features
    return { ...noExtras, ...features, asksNoOutput, echoesPrompt }
  },
  findService: (body) => chatRules.findService(body),
}

export const completions: ForwardedOperation = {
  kind: 'forwarded',
  name: 'completions.create',
  method: 'POST',
  path: '/v1/completions',
  modelOperation: 'completions',
  hasManyTexts: true,
  outputLimitFields: ['max_tokens'],
  isFree: false,
  readRequest: (body, options) => peek(body, completionsRules, options),
  usageField: 'stream_options',
  amend: amendChat,
  openMeter: openCompletionsMeter,
  readAnswer: readCompletionsAnswer,
  answerMembers: chatAnswerMembers,
  classify: (head, error) => notOffered(classifyChat(head, error), head.status, error),
  errorEvent: chatErrorEvent,
  checkBodies(model, isStream, usage = 'ask') {
    const plain = { model, prompt: 'ping', max_tokens: 1, ...(isStream && { stream: true }) }
    const asking = { ...plain, stream_options: { include_usage: true } }
    return (isStream && usage === 'ask' ? [asking, plain] : [plain]).map(toJson)
  },
}
