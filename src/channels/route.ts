/**
 * The door from an exchange to the channels of its model: which channel to try next, how long it may
 * take, and the result of the attempt. It knows no bytes, no client and no money. Invariant: every
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
import { waitsOf } from './health/health-place.ts'
import { noteProven, type OutlastedWait } from './health/waits.ts'
import { MissingOperations } from './missing-operations.ts'
import { OutputRates } from './output-rates.ts'
import { isClosedToAccount, selectChannel, type SelectOptions } from './select.ts'
import { learnedFactor, type SilenceSettings } from './silence.ts'
import { Patience } from './patience.ts'

export interface RouteRequest {
  readonly snapshot: Snapshot
  readonly model: Model
  /** The name of the wanted operation: a channel may not offer it. */
  readonly operation: string
  readonly caller: Caller
  /** What stays on one channel where possible. */
  readonly conversation: string
  readonly isStream: boolean
  readonly inputTokens: number
  /** The body does. */
  readonly asksReasoning: boolean
  /** The model answers, so the time it takes says something about the channel. */
  readonly isTimed: boolean
  /** The only channel that may be tried, whatever its health. */
  readonly pinnedTo?: string | undefined
  /** Tried first where it is fit to serve. */
  readonly preferred?: string | undefined
}

export interface RouteSettings extends SilenceSettings {
  /** From the request sent to the end of an answer that is not streamed. */
  readonly answerTimeoutMs: number
}

interface RouteServices {
  readonly clock: Clock
  readonly health: HealthBook
  readonly telemetry: Pick<Telemetry, 'failedOver' | 'firstEvent' | 'attemptEnded'>
  readonly settings: RouteSettings
  readonly missing: MissingOperations
  readonly rates: OutputRates
}

export type OpenRoute = (request: RouteRequest) => Route

export function createRoutes(parts: Omit<RouteServices, 'missing' | 'rates'>): OpenRoute {
  const services = { ...parts, missing: new MissingOperations(), rates: new OutputRates() }
  return (request) => new Route(request, services)
}

export interface AttemptEnd {
  readonly outcome: Outcome
  /** The vendor had the request and failed on it, so the request itself may be the cause. */
  readonly isRequestSuspect?: boolean
  /** Output of a complete stream. */
  readonly outputTokens?: number | undefined
  /** The channel does not offer the operation. */
  readonly isNotOffered?: boolean
  /** What the vendor asked for with a throttle. */
  readonly retryAfterMs?: number | undefined
}

/** The attempts of one exchange, one channel after the other. */
export class Route {
  readonly request: RouteRequest
  readonly #services: RouteServices
  /** Names of channels. */
  #tried: readonly string[] = []
  /** The attempt whose answer has not begun. */
  #waiting: Lease | undefined
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
    if (this.#tried.length > 0) this.#services.telemetry.failedOver(channel.vendor)
    this.#tried = [...this.#tried, channel.name]
    return this.#begin(channel)
  }

  /** Begins another attempt on the same channel. */
  repeat(lease: Lease): Lease {
    return this.#begin(lease.channel)
  }

  /**
   * The answer took this long to begin. An earlier attempt that was given little more says nothing against
   * its channel then: the request is slow on every channel, which its channel learns.
   */
  forgiveMoves(firstEventMs: number): void {
    const { keyId } = this.request.caller
    for (const { attempt, moved } of this.#suspects) {
      if (moved === undefined) continue
      if (moved.waitedMs <= firstEventMs * learnedFactor)
        this.#services.health.outlasted(attempt, keyId, moved)
      else noteProven(waitsOf(attempt))
    }
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined
  }

  /** The attempt waits no longer. */
  noteAnswered(lease: Lease): void {
    if (this.#waiting === lease) this.#waiting = undefined
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
    const { model, isStream, inputTokens, isTimed, asksReasoning } = this.request
    const reasons = asksReasoning || model.thinks === true
    const traits = isTimed ? { isStream, inputTokens, reasons } : undefined
    const attempt = this.#services.health.begin(channel, model.id, { asksReasoning, traits })
    this.#waiting = new Lease(this, this.#services, attempt)
    return this.#waiting
  }

  #select(unsuited?: Lease): Channel | undefined {
    const tried = unsuited === undefined ? this.#tried : this.#triedOrLike(unsuited)
    const { snapshot, model } = this.request
    return selectChannel(snapshot, model.id, this.#selectOptions(tried))
  }

  #selectOptions(tried: readonly string[]): SelectOptions {
    const { health, clock, missing } = this.#services
    const { caller, conversation, operation, pinnedTo, preferred } = this.request
    const { accountId } = caller
    const now = clock.monotonic()
    const lacks = missing.isEmpty
      ? undefined
      : (channel: string): boolean => missing.has(channel, operation, now)
    return { facts: health, accountId, conversation, tried, now, pinnedTo, preferred, lacks }
  }

  /** Adds the channels whose vendor-side model is that of the lease. */
  #triedOrLike({ channel }: Lease): readonly string[] {
    const { snapshot, model } = this.request
    const nameOn = ({ models }: Channel): string => models.get(model.id) ?? model.id
    const alike = (snapshot.channelsByModel.get(model.id) ?? []).filter(
      (other) => nameOn(other) === nameOn(channel),
    )
    return [...this.#tried, ...alike.map(({ name }) => name)]
  }
}

/** One attempt on one channel, from before it is sent until it has ended. */
export class Lease {
  readonly attempt: OpenAttempt
  /** The name the channel knows the model by, where that differs from ours. */
  readonly upstreamModel: string | undefined
  /** How long the gateway waits for it. */
  readonly patience: Patience
  readonly #route: Route
  readonly #services: RouteServices

  constructor(route: Route, services: RouteServices, attempt: OpenAttempt) {
    this.attempt = attempt
    this.upstreamModel = attempt.channel.models.get(route.request.model.id)
    this.patience = new Patience(attempt, route, services)
    this.#route = route
    this.#services = services
  }

  get channel(): Channel {
    return this.attempt.channel
  }

  /** The wait after which the request was moved; undefined where it was not. */
  get moved(): OutlastedWait | undefined {
    return this.patience.moved
  }

  /** How fast the model writes for requests like this one. */
  get tokensPerSecond(): number {
    return this.#services.rates.find(this.attempt)
  }

  /** The first event has come, or a whole answer with this number of output tokens. Call at most once. */
  answered(firstEventMs: number, outputTokens?: number): void {
    const { telemetry, health } = this.#services
    const { name: channel } = this.channel
    telemetry.firstEvent({ channel, model: this.attempt.model }, firstEventMs)
    health.answered(this.attempt, { outputTokens, waited: this.patience.answered() })
    this.#route.noteAnswered(this)
    this.#route.forgiveMoves(firstEventMs)
  }

  /** The attempt has ended. Call exactly once. */
  ended(end: AttemptEnd): void {
    const { outcome, isRequestSuspect, isNotOffered, retryAfterMs, outputTokens } = end
    const { telemetry, health, missing, clock, rates } = this.#services
    const now = clock.monotonic()
    telemetry.attemptEnded(this.channel.name, outcome)
    this.#route.noteAnswered(this)
    if (isNotOffered === true) missing.note(this.channel.name, this.#route.request.operation, now)
    const { headAt } = this.patience
    if (outcome === 'ok' && outputTokens !== undefined && headAt !== undefined)
      rates.note(this.attempt, outputTokens, now - headAt)
    const isBlamed = isRequestSuspect === true && this.#route.isBlamed(this)
    health.end(this.attempt, {
      outcome: isBlamed ? 'suspect' : outcome,
      caller: this.#route.request.caller,
      retryAfterMs,
    })
  }
}
