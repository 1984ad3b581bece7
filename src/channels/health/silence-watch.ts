/**
 * Silence across attempts: requests that wait while nothing arrives ask for a probe, and five that wait
 * beyond a learned limit at once switch a channel off. Part of the book: it reads places and applies events.
 */
import {
  isUnanswered,
  noteSilenceProbed,
  silenceEndsAt,
  startWaiting,
  stopWaiting,
  waitsOf,
  type OpenAttempt,
} from './health-place.ts'
import type { HealthRegister } from './health-register.ts'
import { noteHanging, noteWaits, refuteHanging, type Waited } from './waits.ts'

type Register = Pick<HealthRegister, 'entries' | 'apply'>

export class SilenceWatch {
  readonly #register: Register
  #scanAt = Number.POSITIVE_INFINITY

  constructor(register: Register) {
    this.#register = register
  }

  /** When the first silence may have lasted too long. */
  nextScanAt(): number {
    return this.#scanAt
  }

  /** A timed request waits from now on. */
  expect({ place, form, beganAt }: OpenAttempt): void {
    startWaiting(place.silence[form], beganAt)
    this.#scanAt = Math.min(this.#scanAt, silenceEndsAt(place.silence[form]))
  }

  /** It waits no longer. `hasAnswered`: the vendor has sent something, even an error. */
  ended(attempt: OpenAttempt, hasAnswered: boolean, now: number): void {
    if (isUnanswered(attempt)) stopWaiting(attempt.place.silence[attempt.form], hasAnswered, now)
  }

  /** An answer has begun after these waits. */
  learn(attempt: OpenAttempt, waited: Waited, now: number): void {
    noteWaits(waitsOf(attempt), waited, now)
    refuteHanging(waitsOf(attempt), attempt.beganAt)
  }

  /** It waits beyond a learned limit. */
  hangs(attempt: OpenAttempt, now: number): void {
    const { channel, model, form, beganAt } = attempt
    if (noteHanging(waitsOf(attempt), beganAt, now))
      this.#register.apply(channel, model, { kind: 'hanging', form })
  }

  scan(now: number): void {
    this.#scanAt = Number.POSITIVE_INFINITY
    for (const { channel, places } of this.#register.entries())
      for (const [model, { silence }] of places)
        for (const form of ['stream', 'whole'] as const) {
          if (silenceEndsAt(silence[form]) <= now) {
            noteSilenceProbed(silence[form], now)
            this.#register.apply(channel, model, { kind: 'silent', form })
          }
          this.#scanAt = Math.min(this.#scanAt, silenceEndsAt(silence[form]))
        }
  }
}
