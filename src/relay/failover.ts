/**
 * The attempt loop of one exchange: picks a channel, tries it, lets health learn, and either
 * commits to what came back, moves on, or gives up with the best answer there is. Everything here
 * happens before the client has seen a byte; it never writes to the client.
 */
import { addPicos, zeroPicos } from '../base/money.ts'
import type { Channel } from '../channels/channel.ts'
import type { Outcome } from '../channels/health-event.ts'
import type { HealthBook } from '../channels/health-book.ts'
import type { OpenAttempt } from '../channels/health-place.ts'
import type { LatencyTraits } from '../channels/latency.ts'
import { readRetryAfterMs } from '../channels/retry-after.ts'
import { selectChannel } from '../channels/select.ts'
import { forwardRequestHeaders } from '../http/headers.ts'
import type { UpstreamFault } from '../formats/format.ts'
import type { Ending } from '../ledger/ledger.ts'
import type { Telemetry } from '../telemetry/events.ts'
import { isFree, promptCostPicos } from './admit.ts'
import { committed, giveUp, type Answered, type Whole } from './answered.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { makeAttempt, type AttemptParts } from './attempt.ts'
import type { ClientLink } from './client-link.ts'
import type { Admitted, AttemptNotes } from './stages.ts'
import { judge, type Verdict } from './verdict.ts'

export interface FailoverParts extends AttemptParts {
  readonly health: HealthBook
  readonly telemetry: Telemetry
  readonly attemptsMax: number
  readonly requestDeadlineMs: number
  /** A channel's own limit for the first event: so many times what is usual at most, never below. */
  readonly firstEventFactor: number
  readonly firstEventTimeoutMinMs: number
}

/** For the first event of a channel that is known to fail, where its usual time is not known. */
const lastResortMs = 30_000

interface Failed {
  readonly channel: Channel
  readonly attempt: OpenAttempt
  readonly verdict: Verdict
  readonly outcome: AttemptOutcome
}

export async function failover(
  admitted: Admitted,
  client: ClientLink,
  parts: FailoverParts,
): Promise<Answered> {
  const deadlineMs = admitted.startedMonotonicMs + parts.requestDeadlineMs
  const notes: AttemptNotes = { count: 0, operatorCostPicos: zeroPicos }
  const common = { notes, deadlineMs }
  const tried = new Set<string>()
  const failed: Failed[] = []
  let channel = pick(admitted, tried, parts)
  let hasRepeated = false
  /** Attempts that went into connections gone stale: no vendor has had them. */
  let lostCount = 0

  // Nobody is there to take what another attempt would bring, and it would be paid for.
  while (channel !== undefined && !client.isGone && notes.count - lostCount < parts.attemptsMax) {
    tried.add(channel.name)
    notes.count++
    const { attempt, outcome: coming } = tryChannel(
      admitted,
      { channel, client, deadlineMs, tried },
      parts,
    )
    let outcome: AttemptOutcome
    try {
      outcome = await coming
    } catch (error) {
      parts.health.end(attempt, { outcome: 'nobody', caller: undefined })
      throw error
    }
    const verdict = judge(outcome, {
      isCounting: isFree(admitted),
      hasAlternative: () => hasAlternative(admitted, tried, parts),
      mayRepeat: () =>
        parts.health.mayFailOverInto(attempt.channel.name, admitted.principal.accountId),
      hasRepeated,
    })
    learn(admitted, { attempt, outcome, verdict, notes, failed }, parts)
    if (verdict.next === 'commit') return { ...common, ...committed(outcome, attempt) }
    if (verdict.next === 'abandon') return { ...common, kind: 'client_left' }
    failed.push({ channel, attempt, outcome, verdict })
    if (verdict.next === 'give_up' || parts.monotonic() >= deadlineMs) break
    if (verdict.next === 'retry_same') {
      hasRepeated = true
      if (outcome.kind === 'broken' && outcome.isStale) lostCount++
    } else {
      channel = pick(admitted, tried, parts)
      hasRepeated = false
      if (channel !== undefined) parts.telemetry.failedOver(admitted.vendor.name)
    }
  }
  return { ...common, ...(client.isGone ? ({ kind: 'client_left' } as const) : giveUp(failed)) }
}

function pick(
  admitted: Admitted,
  tried: ReadonlySet<string>,
  parts: FailoverParts,
): Channel | undefined {
  return selectChannel(admitted.snapshot, admitted.model.id, {
    facts: parts.health,
    accountId: admitted.principal.accountId,
    tried,
    now: parts.monotonic(),
  })
}

/** Whether a channel that has not been tried is fit to serve, rather than merely a last resort. */
function hasAlternative(
  admitted: Admitted,
  tried: ReadonlySet<string>,
  parts: FailoverParts,
): boolean {
  const channel = pick(admitted, tried, parts)
  if (channel === undefined) return false
  const grade = parts.health.grade(channel, admitted.model.id)
  return grade === 'on' || grade === 'ramp' || grade === 'slow' || grade === 'trial'
}

interface Try {
  readonly channel: Channel
  readonly client: ClientLink
  readonly deadlineMs: number
  /** This channel and those before it. */
  readonly tried: ReadonlySet<string>
}

interface Tried {
  readonly attempt: OpenAttempt
  readonly outcome: Promise<AttemptOutcome>
}

function tryChannel(
  admitted: Admitted,
  { channel, client, deadlineMs, tried }: Try,
  parts: FailoverParts,
): Tried {
  const { vendor, format, facts, model } = admitted
  const headers = forwardRequestHeaders(admitted.request.rawHeaders, {
    prefix: vendor.name,
    credential: { scheme: vendor.credential, secret: channel.credential },
    versionHeader: vendor.versionHeader,
    defaultVersion: vendor.defaultVersion,
  })
  const body = format.amend(admitted.body.bytes, facts, channel.models.get(model.id))
  const traits = { isStream: facts.isStream, inputTokens: facts.inputTokensEstimate }
  const isKnownToFail = parts.health.grade(channel, model.id) === 'off'
  const usualLimitMs = firstEventLimitMs(admitted, { channel, traits }, parts)
  parts.telemetry.milestone('attempt_sending', admitted.exchangeId)
  const attempt = parts.health.begin(channel, model.id, isFree(admitted) ? {} : { traits })
  const outcome = makeAttempt(
    {
      admitted,
      channel,
      client,
      deadlineMs,
      firstEventLimitMs: usualLimitMs ?? (isKnownToFail ? lastResortMs : undefined),
      hasAlternative: () => isKnownToFail || hasAlternative(admitted, tried, parts),
    },
    { path: admitted.path + admitted.query, headers, body },
    parts,
  )
  parts.telemetry.milestone('attempt_sent', admitted.exchangeId)
  return { attempt, outcome }
}

/** How long the first event may take by what is usual on this channel; see `AttemptRequest`. */
function firstEventLimitMs(
  { model }: Admitted,
  { channel, traits }: Pick<Try, 'channel'> & { readonly traits: LatencyTraits },
  { health, firstEventFactor, firstEventTimeoutMinMs }: FailoverParts,
): number | undefined {
  const mostMs = health.usualMostMs(channel, model.id, traits)
  if (mostMs === undefined) return undefined
  return Math.max(firstEventTimeoutMinMs, firstEventFactor * mostMs)
}

interface Lesson {
  readonly attempt: OpenAttempt
  readonly outcome: AttemptOutcome
  readonly verdict: Verdict
  readonly notes: AttemptNotes
  /** The attempts of this exchange that failed before. */
  readonly failed: readonly Failed[]
}

/** Tells health and the record what the attempt was worth. A committed stream is judged at its end. */
function learn(
  admitted: Admitted,
  { attempt, outcome, verdict, notes, failed }: Lesson,
  parts: FailoverParts,
): void {
  const { name } = attempt.channel
  if ('firstEventMs' in outcome) {
    parts.telemetry.firstEvent({ channel: name, model: attempt.model }, outcome.firstEventMs)
    const outputTokens = outcome.kind === 'whole' ? outputTokensOf(outcome) : undefined
    parts.health.answered(attempt, outputTokens)
  }
  if (verdict.mayHaveCost)
    notes.operatorCostPicos = addPicos(notes.operatorCostPicos, promptCostPicos(admitted))
  if (verdict.blame === undefined) return
  parts.telemetry.attemptEnded(name, verdict.blame)
  const { principal: caller } = admitted
  const twin = mayBlameRequest({ outcome, verdict })
    ? failed.find((one) => one.channel !== attempt.channel && mayBlameRequest(one))
    : undefined
  if (twin !== undefined) parts.health.retract(twin.attempt, caller.keyId)
  parts.health.end(attempt, {
    outcome: twin === undefined ? verdict.blame : 'suspect',
    caller,
    retryAfterMs:
      outcome.kind === 'vendor_error'
        ? readRetryAfterMs(outcome.head, wallTimeMs(admitted, parts))
        : undefined,
  })
}

function wallTimeMs(admitted: Admitted, parts: FailoverParts): number {
  return admitted.startedAtMs + parts.monotonic() - admitted.startedMonotonicMs
}

/** A failure that the request itself may have brought about: the vendor had it, and did not cope. */
function mayBlameRequest({ outcome, verdict }: Pick<Failed, 'outcome' | 'verdict'>): boolean {
  if (verdict.blame !== 'hard') return false
  return outcome.kind !== 'broken' || (outcome.cause !== 'connect' && !outcome.isUnsent)
}

function outputTokensOf({ reading }: Whole): number | undefined {
  return reading.usage?.reported.outputTokens
}

/** Tells health how a committed stream ended; every other attempt has been judged already. */
export function learnEnding(
  admitted: Admitted,
  answered: Answered,
  ending: Ending,
  parts: FailoverParts,
): void {
  if (answered.kind !== 'streaming') return
  const { error } = answered.stream.meter
  const outcome =
    ending === 'upstream_cut' && error !== undefined
      ? faultOutcome[admitted.format.classifyEvent(error).fault]
      : endingOutcome[ending]
  parts.telemetry.attemptEnded(answered.channel.name, outcome)
  const { principal: caller } = admitted
  parts.health.end(answered.attempt, { outcome, caller })
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
  conflict: 'client',
  throttle: 'throttle',
  config: 'config',
  model_missing: 'model_missing',
  not_offered: 'nobody',
  lone_500: 'broken',
  hard: 'broken',
}
