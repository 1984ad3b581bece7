/**
 * The operations that read a request for output items: one creates a response, whole or as typed events, one
 * makes a long conversation shorter, one counts.
 */
import { classifyChat, errorFields } from '../chat/errors.ts'
import type { ErrorToShow, ForwardedOperation } from '../format.ts'
import { toJson } from '../models.ts'
import type { RequestRules } from '../fields.ts'
import { peek } from '../peek.ts'
import { renameModel } from '../rename-model.ts'
import { readTokenCount, tokenCountMembers } from '../token-count.ts'
import { notOffered } from '../vendor-error.ts'
import { openResponsesMeter, readResponsesAnswer, responsesAnswerMembers } from './meter.ts'
import { responsesRules } from './request.ts'
import { findResponsesState } from './state.ts'

/** Many servers of this vendor's format know chat completions only; their address is right all the same. */
const shared = {
  kind: 'forwarded',
  method: 'POST',
  modelOperation: 'responses',
  amend: renameModel,
  openMeter: openResponsesMeter,
  readAnswer: readResponsesAnswer,
  answerMembers: responsesAnswerMembers,
  classify: (head, error) => notOffered(classifyChat(head, error), head.status, error),
  errorEvent: responsesErrorEvent,
} as const satisfies Partial<ForwardedOperation>

export const responsesCreate: ForwardedOperation = {
  ...shared,
  name: 'responses.create',
  path: '/v1/responses',
  outputLimitFields: ['max_output_tokens'],
  isFree: false,
  readRequest: (body, options) => peek(body, responsesRules, options),
  // Some servers know no `store`.
  checkBodies(model, isStream) {
    const request = {
      model,
      input: 'ping',
      max_output_tokens: 16,
      ...(isStream && { stream: true }),
    }
    return [toJson({ ...request, store: false }), toJson(request)]
  },
}

/** The vendor keeps no answer of these: no later request finds it by its id. */
const plainRules: RequestRules = {
  ...responsesRules,
  limitFields: [],
  hasOutput: false,
  findState: (body) => ({ ...findResponsesState(body), storesAnswer: false, asksStorage: false }),
}

/** Items in place of a long conversation, some of which the vendor alone can read. */
export const responsesCompact: ForwardedOperation = {
  ...shared,
  name: 'responses.compact',
  path: '/v1/responses/compact',
  outputLimitFields: [],
  isFree: false,
  readRequest: (body, options) => peek(body, plainRules, options),
}

export const responsesInputTokens: ForwardedOperation = {
  ...shared,
  name: 'responses.input_tokens',
  path: '/v1/responses/input_tokens',
  isFree: true,
  readRequest: (body, options) => peek(body, plainRules, options),
  readAnswer: readTokenCount,
  answerMembers: tokenCountMembers,
}

/**
 * The event has the error twice, as the vendor's reference shows it and as the vendor sends it: some clients
 * read only the first form, others only the second. The stream may have been cut inside a frame: a blank line
 * ends that frame.
 */
function responsesErrorEvent(error: ErrorToShow, eventCount: number): Buffer {
  const fields = errorFields(error)
  const { message, param, code, request_id } = fields
  const data = {
    type: 'error',
    code,
    message,
    param,
    request_id,
    sequence_number: eventCount,
    error: fields,
  }
  return Buffer.from(`\n\nevent: error\ndata: ${JSON.stringify(data)}\n\n`)
}
