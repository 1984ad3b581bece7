/** The operation that creates a response: a request for output items, answered whole or as typed events. */
import { classifyChat, errorFields } from '../chat/errors.ts'
import type { ErrorToShow, ForwardedOperation } from '../format.ts'
import { toJson } from '../models.ts'
import { peek } from '../peek.ts'
import { renameModel } from '../rename-model.ts'
import { notOffered } from '../vendor-error.ts'
import { openResponsesMeter, readResponsesAnswer } from './meter.ts'
import { responsesRules } from './request.ts'

export const responsesCreate: ForwardedOperation = {
  kind: 'forwarded',
  name: 'responses.create',
  method: 'POST',
  path: '/v1/responses',
  modelOperation: 'responses',
  outputLimitFields: ['max_output_tokens'],
  isFree: false,
  readRequest: (body, options) => peek(body, responsesRules, options),
  amend: renameModel,
  openMeter: openResponsesMeter,
  readAnswer: readResponsesAnswer,
  // Many servers of this vendor's format know chat completions only; their address is right all the same.
  classify(head, error) {
    return notOffered(classifyChat(head, error), head.status, error)
  },
  errorEvent: responsesErrorEvent,
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
