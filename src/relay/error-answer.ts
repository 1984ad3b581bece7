/**
 * What a vendor's refusal comes to, told by a status or as a stream's first event: its words, whose fault
 * it is, and what of it could be shown. Pure.
 */
import type { UpstreamHead } from '../channels/upstream.ts'
import type { VendorError } from '../formats/format.ts'
import { faultOfCounting } from '../formats/status-fault.ts'
import { unreadError } from '../formats/vendor-error.ts'
import { readableBody } from '../http/content-encoding.ts'
import type { AttemptOutcome, ErrorBody } from './attempt-outcome.ts'
import type { Admitted } from './stages.ts'

type VendorErrorOutcome = Extract<AttemptOutcome, { kind: 'vendor_error' }>

/** `bytes` is undefined where the body was too large to be kept. */
export function readErrorAnswer(
  head: UpstreamHead,
  bytes: Buffer | undefined,
  { format, operation }: Pick<Admitted, 'format' | 'operation'>,
): VendorErrorOutcome {
  const { status } = head
  const body = readErrorBody(head, bytes)
  const error = body === undefined ? unreadError : format.readError(body.readable)
  const judged = format.classify({ status, headers: headersOf(head) }, error)
  const isCounting = operation === 'messages.count_tokens'
  const fault = isCounting ? faultOfCounting(judged, status) : judged
  return { kind: 'vendor_error', head, status, body, error, fault }
}

/** `envelope` is the event's data, where it is what error answers have as their body. */
export function readErrorEvent(
  head: UpstreamHead,
  { error, envelope }: { readonly error: VendorError; readonly envelope: string | undefined },
  { format }: Pick<Admitted, 'format'>,
): VendorErrorOutcome {
  const { fault, status } = format.classifyEvent(error)
  const bytes = envelope === undefined ? undefined : Buffer.from(envelope)
  return { kind: 'vendor_error', head, status, body: readErrorBody(head, bytes), error, fault }
}

/** What nobody here can read is not shown either: it could tell of the operator's account. */
function readErrorBody(head: UpstreamHead, bytes: Buffer | undefined): ErrorBody | undefined {
  if (bytes === undefined) return undefined
  const readable = readableBody(bytes, head.header('content-encoding'))
  return readable === undefined ? undefined : { bytes, readable }
}

function headersOf(head: UpstreamHead): Record<string, string | undefined> {
  return {
    'content-type': head.header('content-type'),
    'retry-after': head.header('retry-after'),
    'x-should-retry': head.header('x-should-retry'),
  }
}
