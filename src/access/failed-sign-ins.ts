/**
 * Failed sign-ins by the client's address: requests whose credential is missing or not valid. Beyond a limit
 * per minute they get another answer and cost the store next to nothing. A known key always passes, so that
 * an office behind one address is never cut off by one of its clients. Counted in this process only.
 */
import { minuteMs } from '../base/clock.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import { addressGroup } from '../base/ip-address.ts'

export interface SignInLimit {
  /** Per address and minute; zero = no limit. */
  readonly perMinuteMax: number
  /** Called once per minute for an address that reaches the limit. */
  readonly onReached: (addresses: string) => void
}

/** More addresses than this are not counted in one minute, so that memory is bounded. */
const groupsMax = 100_000

export class FailedSignIns {
  readonly #limit: SignInLimit
  readonly #counts = new Map<string, number>()
  /** The last look-up of each address beyond the limit; it never rejects. */
  readonly #lookingUp = new Map<string, Promise<unknown>>()
  #minuteStartMs = Number.NEGATIVE_INFINITY

  constructor(limit: SignInLimit) {
    this.#limit = limit
  }

  /** Counts one; returns a refusal where the address has reached the limit. */
  note(address: string | undefined, nowMs: number): Refusal | undefined {
    if (address === undefined || this.#limit.perMinuteMax === 0) return undefined
    this.#startMinute(nowMs)
    const group = addressGroup(address)
    const count = (this.#counts.get(group) ?? 0) + 1
    if (count > 1 || this.#counts.size < groupsMax) this.#counts.set(group, count)
    if (count <= this.#limit.perMinuteMax) return undefined
    if (count === this.#limit.perMinuteMax + 1) this.#limit.onReached(group)
    return this.#tooMany(nowMs)
  }

  /**
   * Looks up a secret that is not known yet; beyond the limit, one after the other for an address. None is
   * refused before: it may be valid.
   */
  async lookUp<Found>(
    address: string | undefined,
    nowMs: number,
    find: () => Promise<Found>,
  ): Promise<Found> {
    this.#startMinute(nowMs)
    const group = address === undefined ? undefined : addressGroup(address)
    if (group === undefined || !this.#isReached(group)) return find()
    const earlier = this.#lookingUp.get(group) ?? Promise.resolve()
    const found = earlier.then(find)
    const ended = found.catch(() => undefined)
    this.#lookingUp.set(group, ended)
    try {
      return await found
    } finally {
      if (this.#lookingUp.get(group) === ended) this.#lookingUp.delete(group)
    }
  }

  #isReached(group: string): boolean {
    const { perMinuteMax } = this.#limit
    return perMinuteMax > 0 && (this.#counts.get(group) ?? 0) >= perMinuteMax
  }

  #startMinute(nowMs: number): void {
    const ageMs = nowMs - this.#minuteStartMs
    if (ageMs >= 0 && ageMs < minuteMs) return
    this.#minuteStartMs = nowMs
    this.#counts.clear()
  }

  #tooMany(nowMs: number): Refusal {
    const waitMs = this.#minuteStartMs + minuteMs - nowMs
    return refuse(
      'access.too_many_failed_sign_ins',
      'Too many requests from this address had no valid credential. Check the credential, and wait before you try again.',
      { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
    )
  }
}
