/**
 * The attempt loop of one exchange: takes a channel, tries it, and either commits to the answer,
 * moves on, or gives up with the best answer there is. Everything here happens before the client has
 * seen a byte; it never writes to the client.
 */
import type { Clock } from '../base/clock.ts'
import type { Channel } from '../channels/channel.ts'
import { nameAtVendor } from '../channels/model-names.ts'
import { failureInPlaceOf, healthAfterCommit, type OutcomeClass } from '../channels/outcomes.ts'
import { placeOf } from '../channels/places.ts'
import { reachOf } from '../channels/reach.ts'
import type { AttemptEnd, Lease, Route } from '../channels/route.ts'
import { readRetryAfterMs } from '../formats/rate-headers.ts'
import type { AttemptRecord } from '../ledger/ledger.ts'
import type { Ending } from '../metering/settlement.ts'
import type { AttemptTrace } from '../telemetry/traces.ts'
import {
  committed,
  giveUp,
  noChannel,
  type Answered,
  type EndedAttempt,
  type Shown,
} from './answered.ts'
import { isAnswer, type AttemptOutcome } from './attempt-outcome.ts'
import { attemptRecord } from './attempt-records.ts'
import { makeAttempt, type AttemptRequest, type AttemptServices, type Outgoing } from './attempt.ts'
import type { ClientLink } from './client-link.ts'
import { conversationOf } from './conversation.ts'
import type { Delivered } from './deliver.ts'
import { addLostCosts, lostCostOf, noLostCost } from './request-costs.ts'
import type { Admitted, AttemptNotes, RelayServices } from './stages.ts'
import { beginAttemptTrace } from './trace-facts.ts'
import { judge, type Verdict, type VerdictContext } from './verdict.ts'

type FailoverServices = AttemptServices & Pick<RelayServices, 'openRoute' | 'running' | 'counts'>

/** An attempt, its outcome, and the verdict on it. */
interface Tried extends EndedAttempt {
  readonly verdict: Verdict
  readonly record: AttemptRecord
  /** Monotonic times. */
  readonly startedMs: number
  readonly endedMs: number
}

export async function failover(
  admitted: Admitted,
  client: ClientLink,
  services: FailoverServices,
): Promise<Answered> {
  const { clock, settings } = services
  const deadlineMs = admitted.startedMonotonicMs + settings.requestDeadlineMs
  const route = openRoute(admitted, services)
  const tried: Tried[] = []
  // A client that has left would not get what another attempt brings, and the attempt costs money.
  while (!client.isGone && countReceived(tried) < settings.attemptsMax) {
    const lease = nextLease(route, tried)
    if (lease === undefined) break
    const begun = begin({ admitted, client, lease, deadlineMs }, tried, services)
    const last = judged(begun, await begun.outcome, { admitted, route, tried }, services)
    const isOver = isLastOne(last, unsuitedOf(tried))
    if (isPlain(tried) && isAnswer(last.outcome)) services.counts.noteUsageRefused(lease.channel)
    tried.push(last)
    if (isOver || clock.monotonic() >= deadlineMs) break
  }
  const shown =
    tried.length === 0 && !client.isGone
      ? noChannel(channelsOf(admitted))
      : shownOf(tried, client, wallTimeMs(admitted, clock))
  return { ...shown, deadlineMs, notes: notesOf(tried, admitted, client) }
}

function channelsOf({ snapshot, model, format, vendor }: Admitted): readonly Channel[] {
  return snapshot.channelsByModel.get(placeOf(model.id, format.name, vendor.format)) ?? []
}

/** Leaves out attempts that went into stale connections: the vendor never received them. */
function countReceived(tried: readonly Tried[]): number {
  return tried.filter((one) => !isLost(one)).length
}

function isLost({ verdict, outcome }: Tried): boolean {
  return verdict.next === 'retry_same' && outcome.kind === 'broken'
}

/** Returns the attempt whose model did not take the request; its answer passes if another model fails too. */
function unsuitedOf(tried: readonly Tried[]): Tried | undefined {
  return tried.find(({ verdict }) => verdict.next === 'other_model')
}

function isRepeated(tried: readonly Tried[]): boolean {
  return tried.at(-1)?.verdict.next === 'retry_same' || isPlain(tried)
}

/** Whether the channel is tried again without the gateway's additions. */
function isPlain(tried: readonly Tried[]): boolean {
  return tried.at(-1)?.verdict.next === 'retry_plain'
}

/** Returns the field that the gateway adds to the request for this channel. */
function addedTo(
  { operation, facts }: Admitted,
  { channel }: Lease,
  { counts }: FailoverServices,
): string | undefined {
  if (operation.kind === 'stored' || !facts.isStream || facts.asksUsageChunk) return undefined
  return counts.asksUsage(channel) ? operation.usageField : undefined
}

function nextLease(route: Route, tried: readonly Tried[]): Lease | undefined {
  const last = tried.at(-1)
  return last !== undefined && isRepeated(tried)
    ? route.repeat(last.lease)
    : route.next(unsuitedOf(tried)?.lease)
}

/** After an unsuited attempt one other model is tried, once. */
function isLastOne(last: Tried, unsuited: Tried | undefined): boolean {
  const { next } = last.verdict
  if (unsuited !== undefined && !isAnswer(last.outcome))
    return !isLost(last) && next !== 'retry_plain'
  return next === 'commit' || next === 'give_up' || next === 'abandon'
}

function shownOf(tried: readonly Tried[], client: ClientLink, nowMs: number): Shown {
  const last = tried.at(-1)
  const unsuited = unsuitedOf(tried)
  const mayCommit = unsuited === undefined || (last !== undefined && isAnswer(last.outcome))
  if (last?.verdict.next === 'commit' && mayCommit) return shownFor(last, tried, nowMs)
  if (client.isGone || last?.verdict.next === 'abandon')
    return { kind: 'client_left', channel: last && channelLeft(last) }
  return unsuited === undefined ? giveUp(tried, nowMs) : shownFor(unsuited, tried, nowMs)
}

/** An answer passes, and so does a refusal unless an earlier failure makes it doubtful. */
function shownFor(chosen: Tried, tried: readonly Tried[], nowMs: number): Shown {
  const earlier = tried.slice(0, tried.indexOf(chosen)).map(classed)
  const failed = failureInPlaceOf(classed(chosen), earlier)
  return failed === undefined ? committed(chosen, nowMs) : giveUp([failed.tried], nowMs)
}

function classed(tried: Tried) {
  const name = isLost(tried) ? ('stale' as const) : tried.outcome.class
  return { channel: tried.lease.channel.name, class: name, tried }
}

/** Undefined where the vendor had failed before the client was given up. */
function channelLeft({ lease, outcome }: Tried): Channel | undefined {
  return outcome.kind === 'client_left' ? lease.channel : undefined
}

function notesOf(tried: readonly Tried[], admitted: Admitted, client: ClientLink): AttemptNotes {
  const answer = tried.find(({ outcome }) => isAnswer(outcome))
  const isBegun = answer !== undefined && !client.isGone
  return {
    count: tried.length,
    lost: tried
      // An attempt that the client left is settled like an answer.
      .filter((one) => one.verdict.mayHaveCost && channelLeft(one) === undefined)
      .map((one) => lostCostOf(admitted, one))
      .reduce(addLostCosts, noLostCost),
    attempts: tried.map(({ record }) => record),
    firstEventMs: isBegun ? Math.round(answer.endedMs - admitted.startedMonotonicMs) : undefined,
    stream: answer?.outcome.kind === 'streaming' ? answer : undefined,
  }
}

/** What the exchange has tried so far, as the verdict on one more attempt asks for it. */
class Choice implements VerdictContext {
  readonly isFree: boolean
  readonly hasRepeated: boolean
  readonly addedField: string | undefined
  readonly #route: Route
  readonly #lease: Lease
  readonly #tried: readonly Tried[]

  constructor({ admitted, route, tried }: Earlier, { lease, addedField }: Begun) {
    this.isFree = admitted.hold === undefined
    this.hasRepeated = isRepeated(tried)
    this.addedField = addedField
    this.#route = route
    this.#lease = lease
    this.#tried = tried
  }

  hasAlternative(): boolean {
    return this.#route.hasAlternative()
  }

  hasOtherModel(): boolean {
    return unsuitedOf(this.#tried) === undefined && this.#route.hasAlternative(this.#lease)
  }

  mayRepeat(): boolean {
    return this.#route.mayRepeat(this.#lease)
  }
}

interface Earlier {
  readonly admitted: Admitted
  readonly route: Route
  readonly tried: readonly Tried[]
}

function openRoute(admitted: Admitted, services: FailoverServices): Route {
  const { snapshot, model, operation, principal, facts, hold, pinnedTo, preferredChannel } =
    admitted
  const place = placeOf(model.id, admitted.format.name, admitted.vendor.format)
  return services.openRoute({
    snapshot,
    model: place === model.id ? model : { ...model, id: place },
    operation: operation.name,
    caller: principal,
    conversation: conversationOf(admitted, services),
    isStream: facts.isStream,
    inputTokens: facts.prompt.likely,
    asksReasoning: facts.asksReasoning === true,
    isTimed: hold !== undefined,
    pinnedTo: pinnedTo?.name,
    preferred: preferredChannel,
  })
}

/** An attempt that runs. */
interface Begun {
  readonly lease: Lease
  readonly addedField: string | undefined
  readonly droppedBetas: readonly string[] | undefined
  readonly trace: AttemptTrace | undefined
  readonly startedMs: number
  readonly outcome: Promise<AttemptOutcome>
}

function begin(
  attempt: AttemptRequest,
  tried: readonly Tried[],
  services: FailoverServices,
): Begun {
  const { admitted, lease } = attempt
  const addedField = isPlain(tried) ? undefined : addedTo(admitted, lease, services)
  const startedMs = services.clock.monotonic()
  const trace = beginAttemptTrace(admitted, lease, tried.length)
  try {
    const { exchangeId } = admitted
    const { outgoing, droppedBetas } = outgoingOf(admitted, lease, addedField)
    services.onTracePoint?.('attempt_sending', exchangeId)
    const outcome = makeAttempt(attempt, outgoing, services)
    services.onTracePoint?.('attempt_sent', exchangeId)
    return { lease, addedField, droppedBetas, trace, startedMs, outcome }
  } catch (error) {
    lease.ended({ outcome: 'nobody' })
    throw error
  }
}

/** The request as this channel gets it. */
function outgoingOf(
  admitted: Admitted,
  lease: Lease,
  addedField: string | undefined,
): { readonly outgoing: Outgoing; readonly droppedBetas: readonly string[] | undefined } {
  const { vendor, format, operation, facts, path, query } = admitted
  const { fields } = admitted.request
  const reach = reachOf(lease.channel, vendor, { fields, path, query, format: format.name })
  // The fields that are in a body are not added to it.
  const toAmend = addedField === undefined ? { ...facts, asksUsageChunk: true } : facts
  const body =
    operation.kind === 'stored'
      ? undefined
      : operation.amend(admitted.body.bytes, toAmend, nameFor(admitted, lease))
  const { method } = operation
  const { path: sentPath, headers, droppedBetas } = reach
  const onBodyUnused = admitted.body.lend()
  return { outgoing: { method, path: sentPath, headers, body, onBodyUnused }, droppedBetas }
}

/** Returns the name of the model that the channel's vendor knows. */
function nameFor({ model, facts }: Admitted, lease: Lease): string | undefined {
  return nameAtVendor(model, { asked: facts.model, mapped: lease.upstreamModel })
}

/** Judges an attempt by its outcome, and reports it to its channel. */
function judged(
  begun: Begun,
  outcome: AttemptOutcome,
  earlier: Earlier,
  { clock }: FailoverServices,
): Tried {
  const { admitted } = earlier
  const { lease, startedMs, droppedBetas, trace } = begun
  const endedMs = clock.monotonic()
  const record = attemptRecord(outcome, {
    channel: lease.channel.name,
    requestStartedMs: admitted.startedMonotonicMs,
    startedMs,
    endedMs,
    droppedBetas,
  })
  const verdict = judge(outcome, new Choice(earlier, begun))
  report({ lease, outcome }, verdict, wallTimeMs(admitted, clock))
  trace?.judged({ ...record, next: verdict.next, isRunning: outcome.kind === 'streaming' })
  return { lease, outcome, verdict, record, startedMs, endedMs }
}

/** Reports the attempt to its channel. A committed stream is reported again at its end. */
function report({ lease, outcome }: EndedAttempt, { blame }: Verdict, nowMs: number): void {
  if (outcome.kind === 'streaming') lease.answered(outcome.firstEventMs)
  if (outcome.kind === 'whole')
    lease.answered(outcome.firstEventMs, outcome.reading.usage?.reported.outputTokens)
  if (blame === undefined) return
  lease.ended({
    outcome: blame,
    isRequestSuspect: blame === 'hard' && hadRequest(outcome),
    isNotOffered: outcome.class === 'not_offered',
    retryAfterMs:
      blame === 'throttle' && outcome.kind === 'vendor_error'
        ? readRetryAfterMs(outcome.head, nowMs)
        : undefined,
  })
}

/** The vendor had the request and failed on it, so the request itself may be the cause. */
function hadRequest(outcome: AttemptOutcome): boolean {
  return outcome.kind !== 'broken' || (outcome.class !== 'connect' && !outcome.isUnsent)
}

function wallTimeMs(admitted: Admitted, clock: Clock): number {
  return admitted.startedAtMs + clock.monotonic() - admitted.startedMonotonicMs
}

/** Reports to the channel how a committed stream ended; every other attempt has ended already. */
export function reportEnding(
  admitted: Admitted,
  answered: Answered,
  { ending, reading }: Pick<Delivered, 'ending' | 'reading'>,
): void {
  if (answered.kind !== 'streaming') return
  const outputTokens = reading?.isFinal === true ? reading.usage?.reported.outputTokens : undefined
  answered.lease.ended({ ...endOfStream(admitted, answered, ending), outputTokens })
}

function endOfStream(
  { format }: Admitted,
  { stream }: Extract<Answered, { kind: 'streaming' }>,
  ending: Ending,
): AttemptEnd {
  const error = ending === 'upstream_cut' ? stream.meter.error : undefined
  const name = error === undefined ? classOfEnding[ending] : format.classifyEvent(error).fault
  return { outcome: healthAfterCommit(name) }
}

const classOfEnding: Readonly<Record<Ending, OutcomeClass>> = {
  completed: 'answered',
  client_left: 'client_left',
  upstream_cut: 'cut',
  // Or its deadline has passed; neither is a fault.
  gateway_cut: 'shutdown',
  refused: 'client',
  failed: 'cut',
}
