/**
 * A call of one row of the admin API, from its input to its answer as text. It knows no connection, so that
 * it can run on the event loop or in a thread.
 */
import type { Refusal } from '../../base/errors.ts'
import type { Endpoint } from '../../operations/endpoint.ts'
import { RepeatedRequest } from '../../operations/once.ts'
import type { OperationContext, OperationRefusal } from '../../operations/operation.ts'
import { contextOf, etagOf, refusalOfKey } from './change.ts'

/** The headers of the request about its repetition and the version that it must match. */
export interface CallHeaders {
  readonly idempotencyKey: string | undefined
  readonly ifMatch: string | undefined
}

export type CallAnswer =
  | {
      readonly kind: 'answer'
      readonly text: string
      readonly etag: string | undefined
      /** It is the answer of an earlier request. */
      readonly isReplayed: boolean
    }
  | Refusal
  | OperationRefusal

export async function performCall(
  row: Omit<Endpoint, 'role'>,
  context: OperationContext,
  input: Readonly<Record<string, unknown>>,
  { idempotencyKey, ifMatch }: CallHeaders,
): Promise<CallAnswer> {
  const wrongKey = row.repeats === undefined ? undefined : refusalOfKey(idempotencyKey)
  if (wrongKey !== undefined) return wrongKey
  try {
    const changing = contextOf(context, { row, input, idempotencyKey, ifMatch })
    const outcome = await row.operation(changing, input)
    if (outcome.kind === 'refusal') return outcome
    const etag = row.isTagged ? etagOf(row, outcome.value) : undefined
    return { kind: 'answer', text: JSON.stringify(outcome.value), etag, isReplayed: false }
  } catch (error) {
    if (!(error instanceof RepeatedRequest)) throw error
    return { kind: 'answer', text: error.answer, etag: undefined, isReplayed: true }
  }
}
