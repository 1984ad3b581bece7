/**
 * The log lines of refused requests whose caller is not known. Invariant: a flood of them, from one address
 * or from many, writes a bounded number of lines at `info`, and the lines say how many were left out. Those
 * that are left out are lines at `debug`.
 */
import type { Logger } from 'pino'
import { minuteMs, type Clock } from '../base/clock.ts'
import { addressGroup } from '../base/ip-address.ts'

interface UnknownCaller {
  readonly code: string
  /** Undefined where the connection has gone. */
  readonly address?: string | undefined
}

/** For one address, or the IPv6 network that counts as one. */
const linesPerAddress = 3
export const unknownCallerLinesMax = 30

export class UnknownCallerLines {
  readonly #log: Logger
  readonly #clock: Clock
  #lineCount = 0
  #isCounting = false
  /** Lines of this minute by address; at most as many as lines in all. */
  readonly #byAddress = new Map<string, number>()
  readonly #leftOut = new Map<string, number>()

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  write(caller: UnknownCaller): void {
    if (!this.#isCounting) this.#clock.after(minuteMs, () => this.#endMinute())
    this.#isCounting = true
    const { address, code } = caller
    const group = address === undefined ? '' : addressGroup(address)
    const count = this.#byAddress.get(group) ?? 0
    if (count >= linesPerAddress || this.#lineCount >= unknownCallerLinesMax) {
      this.#leftOut.set(code, (this.#leftOut.get(code) ?? 0) + 1)
      this.#log.debug(caller, 'request refused')
      return
    }
    this.#byAddress.set(group, count + 1)
    this.#lineCount++
    this.#log.info(caller, 'request refused')
  }

  #endMinute(): void {
    for (const [code, leftOut] of this.#leftOut)
      this.#log.info({ code, leftOut }, 'more requests refused')
    this.#isCounting = false
    this.#lineCount = 0
    this.#byAddress.clear()
    this.#leftOut.clear()
  }
}
