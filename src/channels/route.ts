/**
 * The door from an exchange to the channels of its model: which channel to try next, how long it may
 * take, and what became of the attempt. It knows no bytes, no client and no money. Invariant: every
 * lease is one running attempt on its channel and ends exactly once.
 */
import type { Clock } from '../base/clock.ts'
import type { Telemetry } from '../telemetry/events.ts'
import type { Channel, Model, Snapshot } from './channel.ts'
import type { HealthBook } from './health/health-book.ts'
import type { Outcome } from './health/health-event.ts'
import type { OpenAttempt } from './health/health-place.ts'
import type { Caller } from './health/evidence.ts'
import { isFit } from './health/health-state.ts'
import { unknownLimitMs } from './health/timing.ts'
import { MissingOperations } from './missing-operations.ts'
import { isClosedToAccount, selectChannel, type SelectOptions } from './select.ts'

export interface RouteRequest {
  readonly snapshot: Snapshot
  readonly model: Model
  /** The name of what is asked for: a channel may not offer it. */
  readonly operation: string
  readonly caller: Caller
  /** What stays on one channel where possible. */
  readonly conversation: string
  readonly isStream: boolean
  readonly inputTokens: number
  /** The model answers, so the time it takes says something about the channel. */
  readonly isTimed: boolean
  /** The only channel that may be tried, whatever its health. */
  readonly pinnedTo?: string | undefined
  /** Tried first where it is fit to serve. */
  readonly preferred?: string | undefined
}

export interface RouteSettings {
  /** From the request sent to the first event of a stream, unless the model has its own limit. */
  readonly firstEventTimeoutMs: number
  /** From the request sent to the end of an answer that is not streamed. */
  readonly answerTimeoutMs: number
  /** A channel's own limit for the first event: this many times its p99, and never below the minimum. */
  readonly firstEventFactor: number
  readonly firstEventTimeoutMinMs: number
}

interface RouteServices {
  readonly clock: Clock
  readonly health: HealthBook
  readonly telemetry: Pick<Telemetry, 'failedOver' | 'firstEvent' | 'attemptEnded'>
  readonly settings: RouteSettings
  readonly missing: MissingOperations
}

export type OpenRoute = (request: RouteRequest) => Route

export function createRoutes(parts: Omit<RouteServices, 'missing'>): OpenRoute {
  const services = { ...parts, missing: new MissingOperations() }
  return (request) => new Route(request, services)
}

export interface AttemptEnd {
  readonly outcome: Outcome
  /** The vendor had the request and failed on it, so the request itself may be the cause. */
  readonly isRequestSuspect?: boolean
  /** The gateway stopped waiting for the channel. */
  readonly isTimeout?: boolean
  /** The channel does not offer the operation. */
  readonly isNotOffered?: boolean
  /** What the vendor asked for with a throttle. */
  readonly retryAfterMs?: number | undefined
}

/** The attempts of one exchange, one channel after the other. */
export class Route {
  readonly request: RouteRequest
  readonly #services: RouteServices
  readonly #tried = new Set<string>()
  /** Attempts that the request itself may have made fail. */
  readonly #suspects: Lease[] = []

  constructor(request: RouteRequest, services: RouteServices) {
    this.request = request
    this.#services = services
  }

  /**
   * Begins an attempt on the best channel that has not been tried; undefined where none is left. With
   * `unsuited` its vendor-side model differs from that of this lease.
   */
  next(unsuited?: Lease): Lease | undefined {
    const channel = this.#select(unsuited)
    if (channel === undefined) return undefined
    if (this.#tried.size > 0) this.#services.telemetry.failedOver(channel.vendor)
    this.#tried.add(channel.name)
    return this.#begin(channel)
  }

  /** Begins another attempt on the same channel. */
  repeat(lease: Lease): Lease {
    return this.#begin(lease.channel)
  }

  /**
   * The answer took this long to begin. An earlier attempt that was ended sooner for its time says
   * nothing against its channel then: the request is slow on every channel, which its channel learns.
   */
  forgiveTimeouts(firstEventMs: number): void {
    for (const { attempt, timedOutMs } of this.#suspects)
      if (timedOutMs !== undefined && timedOutMs <= firstEventMs)
        this.#services.health.outlasted(attempt, this.request.caller.keyId, firstEventMs)
  }

  /** Whether a channel that `next` may give is fit to serve, rather than merely a last resort. */
  hasAlternative(unsuited?: Lease): boolean {
    const channel = this.#select(unsuited)
    if (channel === undefined) return false
    return isFit(this.#services.health.grade(channel, this.request.model.id))
  }

  /** Whether the channel has failover tokens left for one more attempt of this account. */
  mayRepeat({ channel }: Lease): boolean {
    return this.#services.health.mayFailOverInto(channel.name, this.request.caller.accountId)
  }

  /**
   * A request that fails on two channels is blamed itself; the channel it failed on first is not. So is a
   * request that may not be tried elsewhere because requests of its account failed there before.
   */
  isBlamed(lease: Lease): boolean {
    const other = this.#suspects.find(({ channel }) => channel !== lease.channel)
    this.#suspects.push(lease)
    if (other === undefined) {
      const { snapshot, model } = this.request
      return isClosedToAccount(snapshot, model.id, this.#selectOptions(this.#tried))
    }
    this.#services.health.retract(other.attempt, this.request.caller.keyId)
    return true
  }

  #begin(channel: Channel): Lease {
    const { model, isStream, inputTokens, isTimed } = this.request
    const { health } = this.#services
    const isKnownToFail = health.grade(channel, model.id) === 'off'
    const usualLimitMs = this.#usualLimitMs(channel)
    const attempt = health.begin(
      channel,
      model.id,
      isTimed ? { traits: { isStream, inputTokens } } : {},
    )
    return new Lease(this, this.#services, {
      attempt,
      isKnownToFail,
      limitMs: this.#limitMs(channel),
      usualLimitMs: usualLimitMs ?? (isStream ? unknownLimitMs : Infinity),
    })
  }

  #limitMs(channel: Channel): number {
    const { isStream, model } = this.request
    const { firstEventTimeoutMs, answerTimeoutMs } = this.#services.settings
    if (!isStream) return answerTimeoutMs
    return channel.firstEventTimeoutMs ?? model.firstEventTimeoutMs ?? firstEventTimeoutMs
  }

  /** How long the first event may take by what is usual on this channel; undefined while unknown. */
  #usualLimitMs(channel: Channel): number | undefined {
    const { model, isStream, inputTokens } = this.request
    const { health, settings } = this.#services
    const p99Ms = health.usualMostMs(channel, model.id, { isStream, inputTokens })
    if (p99Ms === undefined) return undefined
    return Math.max(settings.firstEventTimeoutMinMs, settings.firstEventFactor * p99Ms)
  }

  #select(unsuited?: Lease): Channel | undefined {
    const tried = unsuited === undefined ? this.#tried : this.#triedOrLike(unsuited)
    const { snapshot, model } = this.request
    return selectChannel(snapshot, model.id, this.#selectOptions(tried))
  }

  #selectOptions(tried: ReadonlySet<string>): SelectOptions {
    const { health, clock, missing } = this.#services
    const { caller, conversation, operation, pinnedTo, preferred } = this.request
    const { accountId } = caller
    const now = clock.monotonic()
    const lacks = (channel: string): boolean => missing.has(channel, operation, now)
    return { facts: health, accountId, conversation, tried, now, pinnedTo, preferred, lacks }
  }

  /** Adds the channels whose vendor-side model is that of the lease. */
  #triedOrLike({ channel }: Lease): ReadonlySet<string> {
    const { snapshot, model } = this.request
    const nameOn = ({ models }: Channel): string => models.get(model.id) ?? model.id
    const alike = (snapshot.channelsByModel.get(model.id) ?? []).filter(
      (other) => nameOn(other) === nameOn(channel),
    )
    return new Set([...this.#tried, ...alike.map(({ name }) => name)])
  }
}

interface Begun {
  readonly attempt: OpenAttempt
  readonly isKnownToFail: boolean
  readonly limitMs: number
  readonly usualLimitMs: number
}

/** One attempt on one channel, from before it is sent until it has ended. */
export class Lease {
  readonly attempt: OpenAttempt
  readonly channel: Channel
  /** The name the channel knows the model by, where that differs from ours. */
  readonly upstreamModel: string | undefined
  /** How long the channel may take: to the first event of a stream, else to the end of the answer. */
  readonly limitMs: number
  /**
   * Tighter than `limitMs`: by the p99 of this channel, or a fixed time where that is not known. Infinity
   * where the answer is not streamed. It applies only while `mayStopEarly`: a request that takes unusually
   * long, such as one that makes a model think for minutes, must not run into it on every channel.
   */
  readonly usualLimitMs: number
  /** How long it waited, where it ended at `usualLimitMs`. */
  timedOutMs: number | undefined
  readonly #isKnownToFail: boolean
  readonly #route: Route
  readonly #services: RouteServices

  constructor(route: Route, services: RouteServices, begun: Begun) {
    const { channel } = begun.attempt
    this.attempt = begun.attempt
    this.channel = channel
    this.upstreamModel = channel.models.get(route.request.model.id)
    this.limitMs = begun.limitMs
    this.usualLimitMs = begun.usualLimitMs
    this.#isKnownToFail = begun.isKnownToFail
    this.#route = route
    this.#services = services
  }

  /** Whether another channel is fit to serve, or this one is known to fail. */
  mayStopEarly(): boolean {
    return this.#isKnownToFail || this.#route.hasAlternative()
  }

  /** The first event has come, or a whole answer with so many output tokens. Call at most once. */
  answered(firstEventMs: number, outputTokens?: number): void {
    const { telemetry, health } = this.#services
    const { name: channel } = this.channel
    telemetry.firstEvent({ channel, model: this.attempt.model }, firstEventMs)
    health.answered(this.attempt, outputTokens)
    this.#route.forgiveTimeouts(firstEventMs)
  }

  /** The attempt has ended. Call exactly once. */
  ended({ outcome, isRequestSuspect, isTimeout, isNotOffered, retryAfterMs }: AttemptEnd): void {
    const { telemetry, health, missing, clock } = this.#services
    const now = clock.monotonic()
    telemetry.attemptEnded(this.channel.name, outcome)
    if (isNotOffered === true) missing.note(this.channel.name, this.#route.request.operation, now)
    const waitedMs = now - this.attempt.beganAt
    if (isTimeout === true && waitedMs >= this.usualLimitMs) this.timedOutMs = waitedMs
    const isBlamed = isRequestSuspect === true && this.#route.isBlamed(this)
    health.end(this.attempt, {
      outcome: isBlamed ? 'suspect' : outcome,
      caller: this.#route.request.caller,
      retryAfterMs,
    })
  }
}
