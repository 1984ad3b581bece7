/**
 * The path of one exchange, as a table of contents: every branch between stages is visible here and
 * every stage is one call. No stage calls an earlier one. Faults that no stage expects are caught here,
 * and only here. Where a function has nothing to do after the next one, it returns that one's promise: an
 * async function that waits costs half a kilobyte for as long as the answer takes.
 */
import { presentedSecret } from '../access/authenticate.ts'
import type { Principal } from '../access/key.ts'
import type { BodyRoom } from '../access/limits.ts'
import type { Clock } from '../base/clock.ts'
import { errorCatalogue } from '../base/error-catalogue.ts'
import { refusalOfFault, refuse, type Refusal } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Channel, Snapshot, Vendor } from '../channels/channel.ts'
import type { ForwardedOperation, Operation, StoredOperation } from '../formats/format.ts'
import { chatCompletions } from '../formats/chat/index.ts'
import { canonicalPath, findOperation, formatOf } from '../formats/registry.ts'
import { dropRest } from '../http/server/request.ts'
import { sendReply } from '../http/server/reply.ts'
import type { Found, Target } from '../http/server/router.ts'
import { admissionOf } from './admit.ts'
import type { Answered } from './answered.ts'
import { ClientLink } from './client-link.ts'
import { deliver, keepAliveOf } from './deliver.ts'
import { findEarlierAnswers, prepareStored } from './earlier-answers.ts'
import { failover, reportEnding } from './failover.ts'
import { recordClientGone, recordOwnReply, recordRefusal } from './free-record.ts'
import { leavingOf } from './leaving.ts'
import { errorReply, ownReply, warmUpReply } from './own-replies.ts'
import { askedName, bodyLimits, prepare } from './prepare.ts'
import { settle, settleFault } from './settle.ts'
import {
  fill,
  type Admitted,
  type Identified,
  type Incoming,
  type Opened,
  type RelayServices,
} from './stages.ts'
import { beginTrace } from './trace-facts.ts'
import { pathRefusal } from './unknown-path.ts'

/** A request whose path begins with a vendor's prefix. */
export interface VendorRequest extends Pick<
  Incoming,
  'request' | 'response' | 'snapshot' | 'vendor'
> {
  /** Path behind the prefix, and the raw query. */
  readonly target: Target
  /** The gateway is shutting down and accepts nothing new. */
  readonly isDraining: () => boolean
}

/** Serves one request to its end. */
export function relay(vendorRequest: VendorRequest, services: RelayServices): void {
  const incoming = accept(vendorRequest, services.clock)
  void serve(incoming, vendorRequest.isDraining, services).catch((error: unknown) =>
    endInFault(incoming, error, services),
  )
}

const shuttingDown = refuse(
  'relay.shutting_down',
  'This gateway is shutting down and accepts no new requests. Try again.',
  { 'retry-after': '1' },
)

/** For a request on a connection that is left for `/health`. */
export const crowded = refuse(
  'relay.overloaded',
  'This gateway has all its connections in use. Try again shortly.',
  { 'retry-after': '1' },
)

function accept(vendorRequest: VendorRequest, clock: Clock): Opened {
  const { request, response, snapshot, vendor, target } = vendorRequest
  const startedAtMs = clock.now()
  const startedMonotonicMs = clock.monotonic()
  const { format, path } = spokenBy(vendor, target.path, snapshot)
  return {
    kind: 'exchange',
    exchangeId: newId('ex', startedAtMs),
    request,
    response,
    snapshot,
    vendor,
    format,
    path,
    query: target.query,
    startedAtMs,
    startedMonotonicMs,
    principal: undefined,
    trace: undefined,
    holdsMost: undefined,
    operation: undefined,
    model: undefined,
    prices: undefined,
    otherPrices: undefined,
    outputLimits: undefined,
    body: undefined,
    facts: undefined,
    pinnedTo: undefined,
    preferredChannel: undefined,
    storedId: undefined,
    hold: undefined,
  }
}

/**
 * Returns the format of a request with its canonical path: the vendor's own, or chat completions of a vendor
 * of the messages format while one of its channels speaks these too.
 */
export function spokenBy(
  vendor: Vendor,
  path: string,
  { channels }: Snapshot,
): Pick<Incoming, 'format' | 'path'> {
  const own = { format: formatOf(vendor.format), path }
  const { path: chatPath } = chatCompletions
  if (vendor.format === 'chat' || canonicalPath('chat', path) !== chatPath) return own
  const speaks = (one: Channel): boolean => one.vendor === vendor.name && one.chatPath !== undefined
  return channels.values().some(speaks) ? { format: formatOf('chat'), path: chatPath } : own
}

/** From the accepted request to the known caller; the gateway's own endpoints are answered here. */
async function serve(
  incoming: Incoming,
  isDraining: () => boolean,
  services: RelayServices,
): Promise<void> {
  const { request, response } = incoming
  if (request.place.isForHealthOnly) return refuseWith(incoming, crowded, services)
  if (isDraining()) return refuseWith(incoming, shuttingDown, services)
  const found = findOperation(incoming.format.name, request.method, incoming.path)
  if (found.kind === 'found' && found.operation.kind === 'warm_up')
    return sendReply(request, response, warmUpReply(incoming))

  const caller = { address: request.clientAddress, nowMs: incoming.startedAtMs }
  const checking = services.authenticate(presentedSecret(request.fields), 'client', caller)
  const principal = checking instanceof Promise ? await checking : checking
  // The drain does not wait for a request that is still being authenticated.
  if (isDraining()) return refuseWith(incoming, shuttingDown, services)
  if (principal.kind === 'refusal')
    return refuseWith(incoming, principal, services, { owner: principal.owner })
  request.place.showKey()
  const trace = beginTrace(incoming, principal, services.traces)
  const holdsMost = (principal.holds ?? services.settings.holds) === 'most'
  return serveKnown(fill(incoming, { principal, holdsMost, trace }), found, services)
}

async function serveKnown(
  identified: Identified,
  found: Found<Operation>,
  services: RelayServices,
): Promise<void> {
  const { principal, request, response } = identified
  if (found.kind !== 'found') {
    const { refusal, format } = pathRefusal(identified, found)
    return refuseWith({ ...identified, format }, refusal, services, { owner: principal })
  }
  const { operation } = found
  if (operation.kind === 'models' || operation.kind === 'warm_up') {
    const answer = ownReply(identified, operation, found.parameter)
    const isRefused = 'kind' in answer
    const reply = isRefused ? errorReply(identified, answer) : answer
    const facts = { operation: operation.name, status: reply.status }
    recordOwnReply(identified, { ...facts, code: isRefused ? answer.code : undefined }, services)
    return sendReply(request, response, reply)
  }
  const full = services.running.enter(principal)
  if (full !== undefined)
    return refuseWith(identified, full, services, { owner: principal, operation: operation.name })
  return forward(identified, { operation, id: found.parameter }, services)
}

async function forward(
  identified: Identified,
  asked: Asked,
  services: RelayServices,
): Promise<void> {
  const room = services.running.openBodyRoom(identified.principal)
  let admitted: Admitted | undefined
  try {
    admitted = await admit(identified, asked, room, services)
  } finally {
    if (admitted === undefined) leave(identified, room, services)
  }
  return admitted && answer(admitted, room, services)
}

function leave({ principal }: Identified, room: BodyRoom, { running }: RelayServices): void {
  room.free()
  running.leave(principal)
}

/** Returns undefined where the request was refused, or its client has left. */
async function admit(
  identified: Identified,
  asked: Asked,
  room: BodyRoom,
  services: RelayServices,
): Promise<Admitted | undefined> {
  const refused: Refused = { owner: identified.principal, operation: asked.operation.name }
  const admission = admissionOf(asked.operation)
  const preadmitted = admission.preadmit(identified, services)
  const inadmissible = preadmitted && (await preadmitted)
  if (inadmissible !== undefined) return refuseWith(identified, inadmissible, services, refused)
  const prepared = await understand(identified, asked, room, services)
  if (prepared.kind === 'client_gone') {
    recordClientGone(identified, asked.operation.name, services)
    return undefined
  }
  if (prepared.kind === 'refusal') {
    const isForBody = errorCatalogue[prepared.code].origin === 'client'
    const counted = isForBody ? await admission.countRefused(identified, services) : undefined
    const refusal = counted ?? prepared
    const { model, asked: name } = prepared
    return refuseWith(identified, refusal, services, { ...refused, model, asked: name })
  }
  const admitting = admission.admit(prepared, services)
  const admitted = admitting instanceof Promise ? await admitting : admitting
  if (admitted.kind !== 'refusal') return admitted
  const name = askedName(prepared.model, prepared.facts.model)
  return refuseWith(identified, admitted, services, {
    ...refused,
    model: prepared.model.id,
    asked: name,
  })
}

/** The operation that a vendor gets. */
interface Asked {
  readonly operation: ForwardedOperation | StoredOperation
  /** Names a stored answer; from the path. */
  readonly id: string | undefined
}

/** Reads what the request asks for, and what it names of earlier answers. */
async function understand(
  identified: Identified,
  { operation, id = '' }: Asked,
  room: BodyRoom,
  services: RelayServices,
): ReturnType<typeof prepare> {
  if (operation.kind === 'stored')
    return prepareStored(identified, { operation, id }, room, services)
  const prepared = await prepare(identified, operation, room, services)
  return prepared.kind === 'exchange' ? findEarlierAnswers(prepared, services) : prepared
}

/** From admission on the exchange must be settled, however it ends; a free one is recorded by that. */
async function answer(admitted: Admitted, room: BodyRoom, services: RelayServices): Promise<void> {
  let mustSettle = true
  let client: ClientLink | undefined
  let undelivered: Answered | undefined
  try {
    client = new ClientLink(admitted, leavingOf(admitted, services), services)
    client.keepAlive = keepAliveOf(admitted, client, services)
    const answered = await failover(admitted, client, services)
    undelivered = answered
    admitted.body.release()
    const delivering = deliver(admitted, answered, client, services)
    const delivered = delivering instanceof Promise ? await delivering : delivering
    client.keepAlive?.stop()
    undelivered = undefined
    reportEnding(admitted, answered, delivered)
    const settled = await settle(admitted, delivered, answered.notes, services)
    mustSettle = false
    delivered.finish(settled)
  } catch (error) {
    client?.keepAlive?.stop()
    if (undelivered !== undefined) abandon(admitted, undelivered)
    if (mustSettle) await settleFault(admitted, services)
    await endInFault(admitted, error, services, { isRecorded: true })
  } finally {
    leave(admitted, room, services)
  }
}

/** A stream that is not delivered must not run on, nor keep its place on the channel. */
function abandon(admitted: Admitted, answered: Answered): void {
  if (answered.kind === 'streaming') answered.stream.abort()
  reportEnding(admitted, answered, { ending: 'gateway_cut', reading: undefined })
}

/** A fault of the gateway's own, which no stage expects. */
async function endInFault(
  incoming: Incoming,
  error: unknown,
  services: RelayServices,
  { isRecorded = false }: Pick<Refused, 'isRecorded'> = {},
): Promise<void> {
  services.telemetry.fault(error, 'relay')
  const refused = { owner: incoming.principal, isRecorded }
  if (incoming.response.isHeadWritten) incoming.response.destroy()
  else await refuseWith(incoming, refusalOfFault(error), services, refused)
}

/** The known facts of a refused request. */
interface Refused {
  readonly owner?: Pick<Principal, 'accountId' | 'keyId'> | undefined
  readonly operation?: string
  readonly model?: string | undefined
  /** The name by which the client asked, where that is not the model's id. */
  readonly asked?: string | undefined
  /** The ledger has its record. */
  readonly isRecorded?: boolean
}

/**
 * A known caller's answer waits for the rest of the body, which is dropped: a client that is still sending
 * would see a reset in place of the answer.
 */
async function refuseWith(
  incoming: Incoming,
  refusal: Refusal,
  services: RelayServices,
  refused: Refused = {},
): Promise<undefined> {
  const { owner, model } = refused
  const { accountId, keyId } = owner ?? {}
  const { code } = refusal
  const { exchangeId, request } = incoming
  const address = request.clientAddress
  services.telemetry.refused({ exchangeId, address, accountId, keyId, model, code })
  if (owner !== undefined && refused.isRecorded !== true)
    recordRefusal(incoming, { ...refused, owner, code }, services)
  if (owner !== undefined) await dropRest(request, bodyLimits(services))
  sendReply(request, incoming.response, errorReply(incoming, refusal))
  return undefined
}
