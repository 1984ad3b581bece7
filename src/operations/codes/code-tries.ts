/**
 * Top-up codes that were tried and do not exist, by account and by address of the client. Beyond a limit no
 * code of theirs is looked up for a while. Counted in this process only: a code has 256 random bits, so the
 * limit spares the store, and no guess would ever hit.
 */
import { minuteMs } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import { addressGroup } from '../../base/ip-address.ts'

const triesMax = 10
const periodMs = 10 * minuteMs
/** More are not told apart in one period, so that memory is bounded. */
const callersMax = 100_000

export interface Trier {
  /** Undefined before there is one. */
  readonly accountId: string | undefined
  readonly address: string | undefined
}

export class CodeTries {
  readonly #counts = new Map<string, number>()
  #periodStartMs = Number.NEGATIVE_INFINITY

  /** Counts a try before its code is looked up, so that many at once stay within the limit, too. */
  begin(trier: Trier, nowMs: number): Refusal | undefined {
    const ageMs = nowMs - this.#periodStartMs
    if (ageMs < 0 || ageMs >= periodMs) {
      this.#periodStartMs = nowMs
      this.#counts.clear()
    }
    const callers = callersOf(trier)
    if (callers.some((caller) => this.#countOf(caller) >= triesMax)) return this.#tooMany(nowMs)
    for (const caller of callers)
      if (this.#counts.size < callersMax || this.#counts.has(caller))
        this.#counts.set(caller, this.#countOf(caller) + 1)
    return undefined
  }

  /** The code exists: the try does not count. */
  forgive(trier: Trier): void {
    for (const caller of callersOf(trier))
      this.#counts.set(caller, Math.max(0, this.#countOf(caller) - 1))
  }

  #countOf(caller: string): number {
    return this.#counts.get(caller) ?? 0
  }

  #tooMany(nowMs: number): Refusal {
    const waitMs = this.#periodStartMs + periodMs - nowMs
    return refuse(
      'access.too_many_wrong_codes',
      'Too many codes that do not exist were tried from here. Check the code, and wait before you try again.',
      { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
    )
  }
}

function callersOf({ accountId, address }: Trier): readonly string[] {
  return [accountId, address && addressGroup(address)].filter((caller) => caller !== undefined)
}
