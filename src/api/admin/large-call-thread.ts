/** The thread of large-call.ts: one call, from the bytes of its body to its answer. */
import { invariant } from '../../base/errors.ts'
import { answerOrder } from '../../base/thread.ts'
import { allEndpoints } from '../../operations/all-endpoints.ts'
import { inThread } from '../../operations/thread-context.ts'
import { performCall, type CallAnswer } from './call.ts'
import { inputFrom, placesOf } from './input.ts'
import { parseJsonObject } from './json-text.ts'
import type { LargeCallOrder } from './large-call.ts'

await answerOrder((order) => call(order as LargeCallOrder))

async function call(order: LargeCallOrder): Promise<CallAnswer> {
  const { rowId, bytes, target, path, headers } = order
  const row = allEndpoints.find(({ id }) => id === rowId)
  invariant(row !== undefined, 'the row is one of the endpoints')
  const body = parseJsonObject(bytes)
  if (body.kind === 'refusal') return body
  const read = inputFrom({ target, path, body: body.value }, { row, places: placesOf(row) })
  if (read.kind === 'refusal') return read
  return inThread(order.context, (context) => performCall(row, context, read.input, headers))
}
