/**
 * The log lines of refused requests. Invariant: a flood of refused requests writes a bounded number of lines,
 * and the lines say how many were left out.
 */
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { UnknownCallerLines } from './unknown-caller-lines.ts'

/** A request that the gateway has refused. */
export interface RefusedRequest {
  readonly code: string
  readonly exchangeId: string
  /** The client's. */
  readonly address?: string | undefined
  /** Undefined where the caller is not known. */
  readonly accountId?: string | undefined
  readonly keyId?: string | undefined
  /** A model of the catalogue, where the request was read so far. */
  readonly model?: string | undefined
}

export interface FailedSignIn {
  /** The kind of credential that the endpoint takes: client, reader, admin, member. */
  readonly kind: string
  readonly address?: string | undefined
}

interface Counted {
  readonly accountId: string
  readonly code: string
  count: number
}

/** For one account and code. */
const linesPerSecond = 10

export class RefusalLines {
  readonly #log: Logger
  readonly #clock: Clock
  /** Refusals of this second, by account and code. */
  readonly #counts = new Map<string, Counted>()
  readonly #unknownCallers: UnknownCallerLines

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
    this.#unknownCallers = new UnknownCallerLines(log, clock)
  }

  write(refused: RefusedRequest): void {
    const { accountId, code } = refused
    if (accountId === undefined) return this.#unknownCallers.write(refused)
    if (this.#counts.size === 0) this.#clock.after(1_000, () => this.#endSecond())
    const place = `${accountId} ${code}`
    let counted = this.#counts.get(place)
    if (counted === undefined) this.#counts.set(place, (counted = { accountId, code, count: 0 }))
    counted.count++
    if (counted.count <= linesPerSecond) this.#log.info(refused, 'request refused')
  }

  /** A request to an endpoint of the gateway's own that had no valid credential. */
  writeFailedSignIn(failed: FailedSignIn): void {
    this.#unknownCallers.write({ ...failed, code: 'access.credential_invalid' })
  }

  #endSecond(): void {
    for (const { accountId, code, count } of this.#counts.values()) {
      const leftOut = count - linesPerSecond
      if (leftOut > 0) this.#log.info({ accountId, code, leftOut }, 'more requests refused')
    }
    this.#counts.clear()
  }
}
