/**
 * The operations on a stored response: read it, read its input, cancel it, delete it. The gateway lets an
 * account reach its own ones only; this file has their form on the wire.
 */
import { chatErrorEvent, classifyChat } from '../chat/errors.ts'
import { openChatMeter } from '../chat/meter.ts'
import { fault } from '../fields.ts'
import type { AnswerReading } from '../answer.ts'
import type { RequestFault, StoredOperation } from '../format.ts'
import { asObject } from '../json.ts'
import { emptyReading } from '../output.ts'

export const storedResponses: readonly StoredOperation[] = [
  stored('responses.get', { method: 'GET', path: '/v1/responses/{id}' }),
  stored('responses.delete', { method: 'DELETE', path: '/v1/responses/{id}' }),
  stored('responses.cancel', { method: 'POST', path: '/v1/responses/{id}/cancel' }),
  stored('responses.input_items', { method: 'GET', path: '/v1/responses/{id}/input_items' }),
]

function stored(
  name: StoredOperation['name'],
  { method, path }: Pick<StoredOperation, 'method' | 'path'>,
): StoredOperation {
  return {
    kind: 'stored',
    name,
    method,
    path,
    modelOperation: 'responses',
    isFree: true,
    deletesAnswer: method === 'DELETE',
    findQueryFault,
    openMeter: openChatMeter,
    readAnswer: readStored,
    answerMembers: { names: new Set() },
    // The gateway knows the answer and the vendor does not: its error is the client's.
    classify: (head, error) => (head.status === 404 ? 'client' : classifyChat(head, error)),
    errorEvent: chatErrorEvent,
  }
}

/** The parameters by which a stored response is streamed again. */
function findQueryFault(query: string): RequestFault | undefined {
  const parameters = new URLSearchParams(query)
  const streams = parameters.getAll('stream').some((value) => value !== 'false')
  if (!streams && !parameters.has('starting_after')) return undefined
  return fault(
    'A stored response is not streamed here; leave `stream` and `starting_after` out of the query.',
  )
}

/** It is not billed: nothing is read of it. */
function readStored(answer: unknown): AnswerReading {
  return asObject(answer) === undefined ? { kind: 'not_the_format' } : storedAnswer
}

const storedAnswer: AnswerReading = { kind: 'answer', reading: emptyReading }
