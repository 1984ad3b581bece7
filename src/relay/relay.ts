/**
 * The path of one exchange, as a table of contents: every branch between stages is visible here and
 * every stage is one call. Nothing below calls back up. Whatever goes wrong that nobody expected is
 * caught here, and only here.
 */
import { presentedSecret, type Authenticate } from '../access/authenticate.ts'
import type { RunningLimits } from '../access/limits.ts'
import type { Clock } from '../base/clock.ts'
import { refusalOfFault, refuse, type Refusal } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Snapshot, Vendor } from '../channels/channel.ts'
import { findOperation, formatOf } from '../formats/registry.ts'
import type { FormatName, OperationName } from '../formats/format.ts'
import type { IncomingRequest } from '../http/incoming-request.ts'
import { sendReply } from '../http/reply.ts'
import type { ResponseWriter } from '../http/response-writer.ts'
import type { Target } from '../http/router.ts'
import type { Telemetry } from '../telemetry/events.ts'
import { admit, isFree, type AdmitParts } from './admit.ts'
import type { Answered } from './answered.ts'
import { ClientLink } from './client-link.ts'
import { deliver, type DeliverParts } from './deliver.ts'
import { errorReply } from './error-reply.ts'
import { failover, learnEnding, type FailoverParts } from './failover.ts'
import { answerFree, helloReply } from './free-answers.ts'
import { intake, type IntakeParts } from './intake.ts'
import { misroutedMessage } from './misrouted.ts'
import { settle, settleFault, type SettleParts } from './settle.ts'
import type { Admitted, ForwardedOperation, Identified, Incoming } from './stages.ts'

export interface RelayParts {
  readonly clock: Clock
  readonly authenticate: Authenticate
  readonly running: RunningLimits
  readonly telemetry: Telemetry
  readonly intake: IntakeParts
  readonly admit: AdmitParts
  readonly failover: FailoverParts
  readonly deliver: DeliverParts
  readonly settle: SettleParts
}

/** A request whose path begins with a vendor's prefix. */
export interface VendorRequest {
  readonly request: IncomingRequest
  readonly response: ResponseWriter
  readonly snapshot: Snapshot
  readonly vendor: Vendor
  /** Path behind the prefix, and the raw query. */
  readonly target: Target
  /** The gateway is going down and takes nothing new. */
  readonly isDraining: () => boolean
}

/** Serves one request to its end. Never throws. */
export async function relay(vendorRequest: VendorRequest, parts: RelayParts): Promise<void> {
  const incoming = accept(vendorRequest, parts.clock)
  try {
    if (vendorRequest.isDraining()) refuseWith(incoming, shuttingDown, parts)
    else await serve(incoming, vendorRequest, parts)
  } catch (error) {
    parts.telemetry.fault(error, 'relay')
    if (incoming.response.isHeadWritten) incoming.response.destroy()
    else refuseWith(incoming, refusalOfFault(error), parts)
  }
}

const shuttingDown = refuse(
  'relay.shutting_down',
  'This gateway is about to stop and takes no new requests. Try again.',
  { 'retry-after': '1' },
)

function accept(vendorRequest: VendorRequest, clock: Clock): Incoming {
  const { request, response, snapshot, vendor, target } = vendorRequest
  const startedAtMs = clock.now()
  return {
    exchangeId: newId('ex', startedAtMs),
    request,
    response,
    snapshot,
    vendor,
    format: formatOf(vendor.format),
    path: target.path,
    query: target.query,
    startedAtMs,
    startedMonotonicMs: clock.monotonic(),
  }
}

async function serve(
  incoming: Incoming,
  { isDraining }: Pick<VendorRequest, 'isDraining'>,
  parts: RelayParts,
): Promise<void> {
  const { request, response } = incoming
  const found = findOperation(incoming.format.name, request.method, incoming.path)
  if (found.kind === 'found' && found.operation === 'hello')
    return sendReply(request, response, helloReply(incoming))

  const known = parts.authenticate(presentedSecret(request.rawHeaders), 'client', {
    address: request.remoteAddress,
    nowMs: incoming.startedAtMs,
  })
  const principal = known instanceof Promise ? await known : known
  // While it was looked for nothing waited for this request: nobody would see it to its end.
  if (isDraining()) return refuseWith(incoming, shuttingDown, parts)
  if (principal.kind === 'refusal') return refuseWith(incoming, principal, parts)
  const identified: Identified = { ...incoming, kind: 'identified', principal }

  if (found.kind !== 'found') return refuseWith(incoming, misrouted(incoming, found), parts)
  const { operation } = found
  if (!isForwarded(operation))
    return sendReply(request, response, answerFree(identified, operation, found.parameter))

  const full = parts.running.enter(principal)
  if (full !== undefined) return refuseWith(incoming, full, parts)
  try {
    await forward(identified, operation, parts)
  } finally {
    parts.running.leave(principal)
  }
}

/**
 * Stages that mostly have their result at once are awaited only where they have not: every wait is
 * a turn of the microtask queue for each function above it.
 */
async function forward(
  identified: Identified,
  operation: ForwardedOperation,
  parts: RelayParts,
): Promise<void> {
  const taken = intake(identified, operation, parts.intake)
  const prepared = taken instanceof Promise ? await taken : taken
  if (prepared === 'client_gone') return
  if ('code' in prepared) return refuseWith(identified, prepared, parts)
  const placed = admit(prepared, parts.admit)
  const admitted = placed instanceof Promise ? await placed : placed
  if ('code' in admitted) return refuseWith(identified, admitted, parts)

  // From admission on a settlement is owed, however the exchange ends.
  let isOwed = !isFree(admitted)
  let undelivered: Answered | undefined
  try {
    const client = watchClient(admitted, parts)
    const answered = await failover(admitted, client, parts.failover)
    undelivered = answered
    admitted.body.release()
    const delivering = deliver(admitted, answered, client, parts.deliver)
    const delivered = delivering instanceof Promise ? await delivering : delivering
    undelivered = undefined
    learnEnding(admitted, answered, delivered.ending, parts.failover)
    const isDurable = !isOwed || (await settle(admitted, delivered, answered.notes, parts.settle))
    isOwed = false
    delivered.finish(isDurable)
  } catch (error) {
    if (undelivered !== undefined) abandon(admitted, undelivered, parts)
    if (isOwed) await settleFault(admitted, parts.settle)
    throw error
  }
}

/** A stream that nobody delivers must not run on, nor keep its place on the channel. */
function abandon(admitted: Admitted, answered: Answered, parts: RelayParts): void {
  if (answered.kind === 'streaming') answered.stream.abort()
  learnEnding(admitted, answered, 'gateway_cut', parts.failover)
}

function watchClient({ response, exchangeId }: Admitted, parts: RelayParts): ClientLink {
  return new ClientLink(response, {
    monotonic: parts.deliver.monotonic,
    onLeft: () => parts.telemetry.milestone('client_left', exchangeId),
  })
}

function isForwarded(operation: OperationName): operation is ForwardedOperation {
  return (
    operation === 'messages.create' ||
    operation === 'chat.completions.create' ||
    operation === 'messages.count_tokens'
  )
}

function refuseWith(incoming: Incoming, refusal: Refusal, parts: RelayParts): void {
  parts.telemetry.refused(refusal.code, incoming.exchangeId)
  const reply = errorReply(incoming.format, refusal, incoming.exchangeId)
  sendReply(incoming.request, incoming.response, reply)
}

function misrouted(
  incoming: Incoming,
  found: { readonly kind: 'path_unknown' } | { readonly kind: 'method_not_allowed'; allow: string },
): Refusal {
  if (found.kind === 'method_not_allowed')
    return refuse('http.method_not_allowed', `Use ${found.allow} here.`, { allow: found.allow })
  const format: FormatName = incoming.format.name
  return refuse('http.not_found', misroutedMessage(format, incoming.vendor.name, incoming.path))
}
