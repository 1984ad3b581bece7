/** The thread that reads large answers. It keeps none: bytes go back with the facts read from them. */
import { invariant } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'
import { answerQuestions } from '../base/thread.ts'
import type { FormatName, RequestFacts } from '../formats/format.ts'
import { formatOf } from '../formats/registry.ts'
import { ReceivedHead } from '../http/client/round-trip.ts'
import type { UpstreamHead } from '../http/client/upstream.ts'
import { fieldsOf } from '../http/wire/fields.ts'
import { readCollected, type CollectedReading } from './attempt-outcome.ts'

export interface AnswerQuestion {
  readonly format: FormatName
  /** The name of an operation of the format. */
  readonly operation: string
  readonly head: Omit<UpstreamHead, 'header' | 'fields'> & { readonly fields: readonly string[] }
  readonly facts: RequestFacts
  readonly secrets: readonly string[]
  /** Moved to the thread and back, not copied. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface AnswerFound {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly reading: CollectedReading
}

answerQuestions(read, ({ bytes }) => [bytes.buffer])

function read(question: AnswerQuestion): AnswerFound {
  const format = formatOf(question.format)
  const operation = format.operations.find(({ name }) => name === question.operation)
  const isVendors = operation?.kind === 'forwarded' || operation?.kind === 'stored'
  invariant(isVendors, 'the operation is one of the format that a vendor answers')
  const { bytes, facts } = question
  const head = new ReceivedHead({ ...question.head, fields: fieldsOf(question.head.fields) })
  const secrets = question.secrets.map((text) => new Secret(text))
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const reading = readCollected(body, { head, format, operation, facts, secrets })
  return { bytes, reading: toPlain(reading) }
}

/** No name and no text that is shown is longer. */
const textLengthMax = 65_536
/** More answers at once than any vendor makes. */
const finishReasonsMax = 256

/** Returns a reading as plain data whose size does not follow that of the answer. */
function toPlain(reading: CollectedReading): CollectedReading {
  if (reading.kind === 'not_the_format') return reading
  if (reading.kind === 'vendor_error') return { ...reading, error: cutTexts(reading.error) }
  const { output, finishReasons, ...rest } = reading.reading
  const { text, bytes, audioBytes } = output
  const counted = { ...cutTexts(rest), output: { text, bytes, audioBytes } }
  if (finishReasons === undefined) return { kind: 'answer', reading: counted }
  const reasons = finishReasons.slice(0, finishReasonsMax).map(cut)
  return { kind: 'answer', reading: { ...counted, finishReasons: reasons } }
}

function cutTexts<Fields extends object>(fields: Fields): Fields {
  const cutOne = ([name, value]: [string, unknown]): [string, unknown] => [
    name,
    typeof value === 'string' ? cut(value) : value,
  ]
  return Object.fromEntries(Object.entries(fields).map(cutOne)) as Fields
}

function cut(text: string): string {
  return text.slice(0, textLengthMax)
}
