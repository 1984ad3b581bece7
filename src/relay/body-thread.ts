/** The thread that parses large bodies. It keeps none: bytes go back with what was read of them. */
import { parentPort } from 'node:worker_threads'
import { InvariantError } from '../base/errors.ts'
import type {
  FormatName,
  ReadRequestOptions,
  RequestFacts,
  RequestFault,
} from '../formats/format.ts'
import { formatOf } from '../formats/registry.ts'

export interface BodyQuestion {
  readonly id: number
  readonly format: FormatName
  /** The name of a forwarded operation of the format. */
  readonly operation: string
  /** Moved to the thread and back, not copied. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly options: ReadRequestOptions
}

export interface BodyAnswer {
  readonly id: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly facts: RequestFacts | RequestFault
}

const port = parentPort
if (port === null) throw new InvariantError('the reader of bodies runs as a worker thread')

port.on('message', ({ id, format, operation, bytes, options }: BodyQuestion) => {
  const found = formatOf(format).operations.find(
    (one) => one.kind === 'forwarded' && one.name === operation,
  )
  if (found?.kind !== 'forwarded') throw new InvariantError('the operation is one of the format')
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const facts = found.readRequest(body, options)
  port.postMessage({ id, bytes, facts } satisfies BodyAnswer, [bytes.buffer])
})
