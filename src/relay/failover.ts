/**
 * The attempt loop of one exchange: takes a channel, tries it, and either commits to what came back,
 * moves on, or gives up with the best answer there is. Everything here happens before the client has
 * seen a byte; it never writes to the client.
 */
import type { Clock } from '../base/clock.ts'
import { addPicos, zeroPicos } from '../base/money.ts'
import type { AttemptEnd, Lease, Outcome, Route } from '../channels/route.ts'
import type { UpstreamFault } from '../formats/format.ts'
import { forwardRequestHeaders, withTraceHeaders } from '../formats/headers.ts'
import { readRetryAfterMs } from '../formats/rate-headers.ts'
import type { AttemptRecord, Ending } from '../ledger/ledger.ts'
import type { AttemptTrace } from '../telemetry/traces.ts'
import { promptCostPicos } from './admit.ts'
import { committed, giveUp, type Answered, type FailedAttempt } from './answered.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { attemptRecord, type AttemptTimes } from './attempt-records.ts'
import { makeAttempt, type AttemptRequest, type AttemptServices } from './attempt.ts'
import type { ClientLink } from './client-link.ts'
import type { Admitted, AttemptNotes, RelayServices } from './stages.ts'
import { beginAttemptTrace } from './trace-facts.ts'
import { judge, type Verdict } from './verdict.ts'

type FailoverServices = AttemptServices & Pick<RelayServices, 'openRoute' | 'onTracePoint'>

export async function failover(
  admitted: Admitted,
  client: ClientLink,
  services: FailoverServices,
): Promise<Answered> {
  const { clock, settings } = services
  const deadlineMs = admitted.startedMonotonicMs + settings.requestDeadlineMs
  const isFree = admitted.hold === undefined
  const route = openRoute(admitted, !isFree, services)
  const failed: FailedAttempt[] = []
  let attempts: readonly AttemptRecord[] = []
  let attemptCount = 0
  /** Attempts that went into stale connections: the vendor never received them. */
  let lostCount = 0
  let operatorCostPicos = zeroPicos
  let repeated: Lease | undefined
  /** A model did not take the request. Another one is tried once, and this answer passes if it fails. */
  let unsuited: { readonly lease: Lease; readonly outcome: AttemptOutcome } | undefined

  // A client that has left would not get what another attempt brings, and the attempt costs money.
  while (!client.isGone && attemptCount - lostCount < settings.attemptsMax) {
    const lease = repeated === undefined ? route.next(unsuited?.lease) : route.repeat(repeated)
    if (lease === undefined) break
    attemptCount++
    const startedMs = clock.monotonic()
    const trace = beginAttemptTrace(admitted, lease, attempts.length)
    const outcome = await tryLease({ admitted, client, lease, deadlineMs }, trace, services)
    const endedMs = clock.monotonic()
    const record = recordOf({ admitted, lease, outcome }, { startedMs, endedMs })
    attempts = [...attempts, record]
    const verdict = judge(outcome, {
      isFree,
      hasAlternative: () => route.hasAlternative(),
      hasOtherModel: () => unsuited === undefined && route.hasAlternative(lease),
      mayRepeat: () => route.mayRepeat(lease),
      hasRepeated: repeated !== undefined,
    })
    report({ admitted, lease, outcome, verdict }, clock)
    trace?.judged({ ...record, next: verdict.next, isRunning: outcome.kind === 'streaming' })
    if (verdict.mayHaveCost)
      operatorCostPicos = addPicos(operatorCostPicos, promptCostPicos(admitted, lease.channel))
    const isBegun = isAnswer(outcome) && !client.isGone
    const notes: AttemptNotes = {
      count: attemptCount,
      operatorCostPicos,
      attempts,
      firstEventMs: isBegun ? Math.round(endedMs - admitted.startedMonotonicMs) : undefined,
      streamSinceMs: outcome.kind === 'streaming' ? startedMs : undefined,
    }
    const common = { deadlineMs, notes }
    if (verdict.next === 'abandon') return { ...common, kind: 'client_left' }
    const isLost = verdict.next === 'retry_same' && outcome.kind === 'broken'
    if (unsuited !== undefined && !isAnswer(outcome) && !isLost) break
    if (verdict.next === 'commit')
      return { ...common, ...committed(outcome, lease, wallTimeMs(admitted, clock)) }
    failed.push({ channel: lease.channel, outcome })
    if (verdict.next === 'other_model') unsuited = { lease, outcome }
    if (verdict.next === 'give_up' || clock.monotonic() >= deadlineMs) break
    repeated = verdict.next === 'retry_same' ? lease : undefined
    if (isLost) lostCount++
  }
  const none = { firstEventMs: undefined, streamSinceMs: undefined }
  const notes: AttemptNotes = { count: attemptCount, operatorCostPicos, attempts, ...none }
  const common = { deadlineMs, notes }
  if (client.isGone) return { ...common, kind: 'client_left' }
  const nowMs = wallTimeMs(admitted, clock)
  if (unsuited !== undefined)
    return { ...common, ...committed(unsuited.outcome, unsuited.lease, nowMs) }
  return { ...common, ...giveUp(failed, nowMs) }
}

function isAnswer({ kind }: AttemptOutcome): boolean {
  return kind === 'streaming' || kind === 'whole'
}

function openRoute(
  { snapshot, model, operation, principal, facts, pinnedTo, preferredChannel }: Admitted,
  isTimed: boolean,
  services: FailoverServices,
): Route {
  return services.openRoute({
    snapshot,
    model,
    operation: operation.name,
    caller: principal,
    isStream: facts.isStream,
    inputTokens: facts.inputTokensEstimate,
    isTimed,
    pinnedTo: pinnedTo?.name,
    preferred: preferredChannel,
  })
}

async function tryLease(
  attempt: AttemptRequest,
  trace: AttemptTrace | undefined,
  services: FailoverServices,
): Promise<AttemptOutcome> {
  const { admitted, lease } = attempt
  const { vendor, operation, facts, exchangeId } = admitted
  try {
    const forwarded = forwardRequestHeaders(admitted.request.rawHeaders, {
      prefix: vendor.name,
      credential: { scheme: vendor.credential, secret: lease.channel.credential },
      versionHeader: vendor.versionHeader,
      defaultVersion: vendor.defaultVersion,
    })
    const headers =
      trace?.headers === undefined ? forwarded : withTraceHeaders(forwarded, trace.headers)
    const body =
      operation.kind === 'stored'
        ? undefined
        : operation.amend(admitted.body.bytes, facts, lease.upstreamModel)
    services.onTracePoint?.('attempt_sending', exchangeId)
    const path = admitted.path + admitted.query
    const outcome = makeAttempt(
      attempt,
      { method: operation.method, path, headers, body },
      services,
    )
    services.onTracePoint?.('attempt_sent', exchangeId)
    return await outcome
  } catch (error) {
    lease.ended({ outcome: 'nobody' })
    throw error
  }
}

interface Judged {
  readonly admitted: Admitted
  readonly lease: Lease
  readonly outcome: AttemptOutcome
  readonly verdict: Verdict
}

function recordOf(
  { admitted, lease, outcome }: Omit<Judged, 'verdict'>,
  times: Pick<AttemptTimes, 'startedMs' | 'endedMs'>,
): AttemptRecord {
  const requestStartedMs = admitted.startedMonotonicMs
  return attemptRecord(outcome, { channel: lease.channel.name, requestStartedMs, ...times })
}

/** Reports the attempt to its channel. A committed stream is reported again at its end. */
function report({ admitted, lease, outcome, verdict }: Judged, clock: Clock): void {
  if (outcome.kind === 'streaming') lease.answered(outcome.firstEventMs)
  if (outcome.kind === 'whole')
    lease.answered(outcome.firstEventMs, outcome.reading.usage?.reported.outputTokens)
  if (verdict.blame === undefined) return
  lease.ended({
    outcome: verdict.blame,
    isRequestSuspect: isRequestSuspect(outcome, verdict),
    isTimeout: outcome.kind === 'broken' && outcome.cause === 'timeout',
    isNotOffered: outcome.kind === 'vendor_error' && outcome.fault === 'not_offered',
    retryAfterMs:
      verdict.blame === 'throttle' && outcome.kind === 'vendor_error'
        ? readRetryAfterMs(outcome.head, wallTimeMs(admitted, clock))
        : undefined,
  })
}

/** A failure that the request itself may have caused: the vendor had it and failed on it. */
function isRequestSuspect(outcome: AttemptOutcome, { blame }: Verdict): boolean {
  if (blame !== 'hard') return false
  return outcome.kind !== 'broken' || (outcome.cause !== 'connect' && !outcome.isUnsent)
}

function wallTimeMs(admitted: Admitted, clock: Clock): number {
  return admitted.startedAtMs + clock.monotonic() - admitted.startedMonotonicMs
}

/** Reports to the channel how a committed stream ended; every other attempt has ended already. */
export function reportEnding(admitted: Admitted, answered: Answered, ending: Ending): void {
  if (answered.kind !== 'streaming') return
  answered.lease.ended(endOfStream(admitted, answered, ending))
}

function endOfStream(
  { format }: Admitted,
  { stream }: Extract<Answered, { kind: 'streaming' }>,
  ending: Ending,
): AttemptEnd {
  const error = ending === 'upstream_cut' ? stream.meter.error : undefined
  return error === undefined
    ? { outcome: endingOutcome[ending] }
    : { outcome: faultOutcome[format.classifyEvent(error).fault] }
}

const endingOutcome: Readonly<Record<Ending, Outcome>> = {
  completed: 'ok',
  client_left: 'client',
  upstream_cut: 'broken',
  gateway_cut: 'nobody',
  refused: 'client',
  failed: 'broken',
}

/** An error event in the middle of a stream is blamed as it would be at its beginning. */
const faultOutcome: Readonly<Record<UpstreamFault, Outcome>> = {
  client: 'client',
  model_dependent: 'client',
  conflict: 'client',
  throttle: 'throttle',
  config: 'config',
  no_credit: 'no_credit',
  model_missing: 'model_missing',
  not_offered: 'nobody',
  lone_500: 'broken',
  hard: 'broken',
}
