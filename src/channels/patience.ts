/**
 * How long the gateway waits for one attempt until its answer begins: the limits of `silence.ts` as time
 * passes. A short limit moves the request where another channel is usable, and is looked at again while none
 * is; a long one ends the attempt. It knows no bytes. Whole answers have one limit for all.
 */
import type { Clock } from '../base/clock.ts'
import type { Model } from './channel.ts'
import type { HealthBook } from './health/health-book.ts'
import { waitsOf, type OpenAttempt } from './health/health-place.ts'
import { lookMs } from './health/timing.ts'
import {
  knownWait,
  mayProve,
  startProving,
  type OutlastedWait,
  type Waited,
  type Waits,
} from './health/waits.ts'
import { limitOf, type Limit, type SilenceSettings, type WaitName } from './silence.ts'

/** The exchange of the attempt. */
interface Exchange {
  readonly request: {
    readonly model: Model
    readonly isStream: boolean
    readonly asksReasoning: boolean
  }
  /** Whether another channel is usable. */
  hasAlternative(): boolean
  /** Whether the request still waits for the beginning of an answer, on any channel. */
  readonly isWaiting: boolean
}

interface PatienceServices {
  readonly clock: Clock
  readonly health: Pick<HealthBook, 'headed' | 'hangs' | 'grade'>
  readonly settings: SilenceSettings & { readonly answerTimeoutMs: number }
}

export class Patience {
  /** When `isOver` is to be asked next, in monotonic time. */
  dueMs: number
  /** The wait after which the request was moved to another channel. */
  moved: OutlastedWait | undefined
  /** When the head came. */
  headAt: number | undefined
  readonly #attempt: OpenAttempt
  readonly #exchange: Exchange
  readonly #services: PatienceServices
  readonly #waits: Waits
  #wait: WaitName = 'head'
  /** Since when the channel is silent. */
  #since: number
  /** The longest silence between the head and the first output. */
  #outputMs = 0
  #isNoted = false

  constructor(attempt: OpenAttempt, exchange: Exchange, services: PatienceServices) {
    this.#attempt = attempt
    this.#exchange = exchange
    this.#services = services
    this.#waits = waitsOf(attempt)
    this.#since = attempt.beganAt
    this.dueMs = this.#nextDue()
  }

  /** The head of a stream has come. */
  onHead(): void {
    if (this.headAt !== undefined) return
    const now = this.#services.clock.monotonic()
    this.headAt = now
    this.#wait = 'output'
    this.#restart(now)
    this.#services.health.headed(this.#attempt)
  }

  /** The vendor has sent a sign of work. */
  onWork(): void {
    const now = this.#services.clock.monotonic()
    this.#outputMs = Math.max(this.#outputMs, now - this.#since)
    this.#restart(now)
  }

  /** The answer begins. Returns how long it took; undefined for a whole one. */
  answered(): Waited | undefined {
    if (this.headAt === undefined) return undefined
    this.onWork()
    return { head: this.headAt - this.#attempt.beganAt, output: this.#outputMs }
  }

  /** Whether the attempt is to be ended now; else `dueMs` says when to ask again. */
  isOver(): boolean {
    const now = this.#services.clock.monotonic()
    const limit = this.#limit()
    const longAt = this.#longAt(limit)
    if (now >= longAt) return true
    const isShortOver = now >= this.#since + limit.shortMs
    if (isShortOver) this.#noteHanging(limit)
    if (isShortOver && this.#mayMove(limit, now)) return true
    this.dueMs = Math.max(this.#nextDue(), Math.min(now + lookMs, longAt))
    return false
  }

  /** The client has left: only the long limit still holds. */
  keepOn(): void {
    this.dueMs = this.#longAt(this.#limit())
  }

  #mayMove({ isLearned }: Limit, now: number): boolean {
    if (!isLearned && !mayProve(this.#waits, now)) return false
    const exchange = this.#exchange
    if (!exchange.hasAlternative()) return false
    const moved = { wait: this.#wait, waitedMs: now - this.#attempt.beganAt }
    const isWaiting = (): boolean => exchange.isWaiting
    if (!isLearned) startProving(this.#waits, { moved, isWaiting }, now)
    this.moved = moved
    return true
  }

  #noteHanging({ isLearned }: Limit): void {
    if (!isLearned || this.#isNoted) return
    this.#isNoted = true
    this.#services.health.hangs(this.#attempt)
  }

  #restart(now: number): void {
    this.#since = now
    this.#isNoted = false
    this.dueMs = this.#nextDue()
  }

  #nextDue(): number {
    const limit = this.#limit()
    return Math.min(this.#since + limit.shortMs, this.#longAt(limit))
  }

  #limit(): Limit {
    const { model, isStream, asksReasoning } = this.#exchange.request
    const { settings, health } = this.#services
    if (!isStream) return { shortMs: Infinity, isLearned: false, longMs: settings.answerTimeoutMs }
    const { channel } = this.#attempt
    const known = knownWait(this.#waits, this.#wait)
    const isFailing = health.grade(channel, model.id) === 'off'
    return limitOf(this.#wait, { channel, model, settings, asksReasoning, known, isFailing })
  }

  /** Signs of work do not put it off. */
  #longAt({ longMs }: Limit): number {
    return (this.headAt ?? this.#attempt.beganAt) + longMs
  }
}
