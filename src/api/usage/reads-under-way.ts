/**
 * Bounds the questions of account holders: how many of one account are answered at once and wait, how many a
 * minute, how many in all, and the memory of answers that their clients have not received yet.
 */
import { minuteMs, type Clock } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'

export const runningPerAccountMax = 2
/** With those that run: enough for a page that asks for everything at once. */
export const readsPerAccountMax = 8
export const readsMax = 256
export const readsPerMinuteMax = 120
/** A client that reads an answer slowly keeps the account's other questions waiting. */
const waitingMsMax = 10_000
export const unreadBytesMax = 64 * 1_048_576

const tooManyOfAccount = refuse(
  'access.too_many_running',
  `${runningPerAccountMax} questions about this account are being answered, and more wait. Wait for one of the answers.`,
  { 'retry-after': '1' },
)

const tooMany = refuse(
  'relay.overloaded',
  'Too many questions of account holders are being answered. Try again shortly.',
  { 'retry-after': '5' },
)

function tooOften(waitMs: number): Refusal {
  return refuse(
    'access.rate_limited',
    `${readsPerMinuteMax} questions about this account have been asked within a minute. Ask less often.`,
    { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  )
}

/** The place of one question, from its begin until its client has received the answer. */
export interface ReadPlace {
  /** Counts memory of the answer; returns a refusal where there is no room for it. */
  keep(bytes: number): Refusal | undefined
  leave(): void
}

/** The questions of one account that run, and those that wait for a place. */
interface AccountReads {
  runningCount: number
  readonly waiting: ((isFree: boolean) => void)[]
}

export class ReadsUnderWay {
  readonly #clock: Clock
  readonly #accounts = new Map<string, AccountReads>()
  #count = 0
  #bytes = 0
  #minute = 0
  /** By account, of this minute. */
  #asked = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Bytes of answers that have not been received. */
  get unreadBytes(): number {
    return this.#bytes
  }

  /** Resolves when the question may be answered. */
  async enter(accountId: string): Promise<ReadPlace | Refusal> {
    const reads = this.#accounts.get(accountId) ?? { runningCount: 0, waiting: [] }
    if (reads.runningCount + reads.waiting.length >= readsPerAccountMax) return tooManyOfAccount
    if (this.#count >= readsMax) return tooMany
    const often = this.#countAsked(accountId)
    if (often !== undefined) return often
    this.#accounts.set(accountId, reads)
    this.#count++
    if (reads.runningCount < runningPerAccountMax) reads.runningCount++
    else if (!(await this.#isFree(reads))) {
      this.#forget(accountId, reads)
      return tooManyOfAccount
    }
    return this.#placeOf(accountId, reads)
  }

  #countAsked(accountId: string): Refusal | undefined {
    const nowMs = this.#clock.monotonic()
    const minute = Math.floor(nowMs / minuteMs)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#asked = new Map()
    }
    const count = this.#asked.get(accountId) ?? 0
    if (count >= readsPerMinuteMax) return tooOften((minute + 1) * minuteMs - nowMs)
    this.#asked.set(accountId, count + 1)
    return undefined
  }

  /** Resolves with true when a place has been handed on, with false where none was for too long. */
  async #isFree({ waiting }: AccountReads): Promise<boolean> {
    const turn = Promise.withResolvers<boolean>()
    waiting.push(turn.resolve)
    const timer = this.#clock.after(waitingMsMax, () => {
      waiting.splice(waiting.indexOf(turn.resolve), 1)
      turn.resolve(false)
    })
    const isFree = await turn.promise
    timer.cancel()
    return isFree
  }

  #placeOf(accountId: string, reads: AccountReads): ReadPlace {
    let kept = 0
    return {
      keep: (bytes) => {
        if (this.#bytes + bytes > unreadBytesMax) return tooMany
        this.#bytes += bytes
        kept += bytes
        return undefined
      },
      leave: () => {
        this.#bytes -= kept
        const next = reads.waiting.shift()
        if (next === undefined) reads.runningCount--
        else next(true)
        this.#forget(accountId, reads)
      },
    }
  }

  #forget(accountId: string, { runningCount, waiting }: AccountReads): void {
    this.#count--
    if (runningCount === 0 && waiting.length === 0) this.#accounts.delete(accountId)
  }
}
