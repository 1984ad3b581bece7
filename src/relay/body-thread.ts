/** The thread that parses large bodies. It keeps none: bytes go back with the facts read from them. */
import { invariant } from '../base/errors.ts'
import { answerQuestions } from '../base/thread.ts'
import type {
  FormatName,
  ReadRequestOptions,
  RequestFacts,
  RequestFault,
} from '../formats/format.ts'
import { formatOf } from '../formats/registry.ts'

export interface BodyQuestion {
  readonly format: FormatName
  /** The name of a forwarded operation of the format. */
  readonly operation: string
  /** Moved to the thread and back, not copied. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly options: ReadRequestOptions
}

export interface BodyAnswer {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly facts: RequestFacts | RequestFault
}

answerQuestions(read, ({ bytes }) => [bytes.buffer])

function read({ format, operation, bytes, options }: BodyQuestion): BodyAnswer {
  const found = formatOf(format).operations.find(
    (one) => one.kind === 'forwarded' && one.name === operation,
  )
  invariant(found?.kind === 'forwarded', 'the operation is one of the format')
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { bytes, facts: found.readRequest(body, options) }
}
