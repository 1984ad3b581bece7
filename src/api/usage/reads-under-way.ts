/**
 * Bounds the questions of account holders that are being answered: how many of one account and in all, and
 * the memory of answers that their clients have not received yet.
 */
import { refuse, type Refusal } from '../../base/errors.ts'

/** Enough for a page that asks for everything at once. */
export const readsPerAccountMax = 8
export const readsMax = 256
export const unreadBytesMax = 64 * 1_048_576

const tooManyOfAccount = refuse(
  'access.too_many_running',
  `${readsPerAccountMax} questions about this account are being answered. Wait for one of the answers.`,
  { 'retry-after': '1' },
)

const tooMany = refuse(
  'relay.overloaded',
  'Too many questions of account holders are being answered. Try again shortly.',
  { 'retry-after': '5' },
)

/** The place of one question, from its begin until its client has received the answer. */
export interface ReadPlace {
  /** Counts memory of the answer; returns a refusal where there is no room for it. */
  keep(bytes: number): Refusal | undefined
  leave(): void
}

export class ReadsUnderWay {
  readonly #counts = new Map<string, number>()
  #count = 0
  #bytes = 0

  /** Bytes of answers that have not been received. */
  get unreadBytes(): number {
    return this.#bytes
  }

  enter(accountId: string): ReadPlace | Refusal {
    const count = this.#counts.get(accountId) ?? 0
    if (count >= readsPerAccountMax) return tooManyOfAccount
    if (this.#count >= readsMax) return tooMany
    this.#counts.set(accountId, count + 1)
    this.#count++
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
        this.#leave(accountId)
      },
    }
  }

  #leave(accountId: string): void {
    this.#count--
    const count = (this.#counts.get(accountId) ?? 0) - 1
    if (count > 0) this.#counts.set(accountId, count)
    else this.#counts.delete(accountId)
  }
}
