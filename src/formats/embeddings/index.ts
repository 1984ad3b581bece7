/** Embeddings: vectors for texts. There is input and no output, and an answer is never a stream. */
import { chatErrorEvent, classifyChat } from '../chat/errors.ts'
import { openChatMeter } from '../chat/meter.ts'
import { amendChat } from '../chat/request.ts'
import { aggregatorFields, fault, findAggregatorWork, type RequestRules } from '../fields.ts'
import type { ForwardedOperation } from '../format.ts'
import { toJson } from '../models.ts'
import { peek } from '../peek.ts'
import { estimateTextPrompt, readTextPrompt } from '../text-prompt.ts'
import { notOffered } from '../vendor-error.ts'
import { embeddingsMembers, readEmbeddings, readEmbeddingsEdges } from './answer.ts'

/** The vendor's own limit. */
const textsMax = 2_048

const embeddingsRules: RequestRules = {
  fields: new Set(['model', 'input', ...aggregatorFields]),
  limitFields: [],
  isNullAbsent: true,
  hasChoices: false,
  hasOutput: false,
  findPromptFault(_body, source) {
    const prompt = readTextPrompt(source, 'input')
    if (prompt === undefined)
      return fault(
        '`input` is required and must be a string, a list of tokens, or a non-empty list of either.',
      )
    if (prompt.texts > textsMax) return fault(`\`input\` has more than ${textsMax} texts.`)
    return undefined
  },
  estimatePayloads: (body, source) => estimateTextPrompt(body, source, 'input'),
  findOperatorFeatures: () => [],
  findBillableFeatures: findAggregatorWork,
  findService: () => undefined,
}

export const embeddings: ForwardedOperation = {
  kind: 'forwarded',
  name: 'embeddings.create',
  method: 'POST',
  path: '/v1/embeddings',
  modelOperation: 'embeddings',
  hasManyTexts: true,
  isFree: false,
  readRequest: (body, options) => peek(body, embeddingsRules, options),
  amend: amendChat,
  openMeter: openChatMeter,
  readAnswer: readEmbeddings,
  answerMembers: embeddingsMembers,
  readEdges: readEmbeddingsEdges,
  classify: (head, error) => notOffered(classifyChat(head, error), head.status, error),
  errorEvent: chatErrorEvent,
  checkBodies: (model) => [toJson({ model, input: 'ping' })],
}
