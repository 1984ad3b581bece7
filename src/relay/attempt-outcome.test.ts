/**
 * Each row of the table of outcomes can be reached: an example for each class of a vendor's error, each way
 * in which a connection fails, and what the gateway itself says of an attempt.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classOfFailure, outcomes, type OutcomeClass } from '../channels/outcomes.ts'
import { chatFormat } from '../formats/chat/index.ts'
import type { UpstreamFault } from '../formats/format.ts'
import { responsesCreate } from '../formats/responses/index.ts'
import type { FailureKind, UpstreamHead } from '../http/client/upstream.ts'
import { fieldsOf } from '../http/wire/fields.ts'
import { readErrorAnswer } from './attempt-outcome.ts'

const envelope = (error: object): string => JSON.stringify({ error })

const answers: Readonly<Record<UpstreamFault, readonly [status: number, body: string]>> = {
  client: [400, envelope({ message: 'temperature is too high' })],
  context_too_long: [400, envelope({ code: 'context_length_exceeded' })],
  model_dependent: [404, envelope({ message: 'No such file: file-1' })],
  throttle: [429, envelope({ message: 'slow down' })],
  config: [401, envelope({ message: 'no such key' })],
  no_credit: [402, '{}'],
  model_missing: [404, envelope({ code: 'model_not_found' })],
  not_offered: [405, '{}'],
  lone_500: [500, '{}'],
  conflict: [409, '{}'],
  hard: [502, '<html>'],
}

const failures: readonly FailureKind[] = [
  'connect',
  'lookup',
  'shortage',
  'address',
  'certificate_expired',
  'tls',
  'reset',
  'protocol',
  'aborted',
]

/** What no vendor says and no connection tells; test/failover reaches each of these. */
const seenByGateway: readonly OutcomeClass[] = [
  ...(['answered', 'cut', 'client_left', 'stale'] as const),
  ...(['timeout', 'not_the_format', 'too_large', 'deadline'] as const),
]

function classOf(status: number, body: string): OutcomeClass {
  const head: UpstreamHead = {
    status,
    fields: fieldsOf([]),
    isEndAnnounced: true,
    header: () => undefined,
  }
  const context = { head, format: chatFormat, operation: responsesCreate, secrets: [] }
  return readErrorAnswer(Buffer.from(body), context).class
}

test('an example of each error of a vendor has the class that the table has a row for', () => {
  for (const [name, [status, body]] of Object.entries(answers))
    assert.equal(classOf(status, body), name)
})

test('each row of the table is reached, and no class is without a row', () => {
  const reached = new Set([
    ...Object.keys(answers),
    ...failures.map(classOfFailure),
    ...seenByGateway,
  ])
  assert.deepEqual([...reached].toSorted(), Object.keys(outcomes).toSorted())
})
