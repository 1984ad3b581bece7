/**
 * Bounds how many reads of one account are under way at a time: all account holders and operators share the
 * connections for reads, and on SQLite these are answered one after the other.
 */
import { refuse } from '../../base/errors.ts'

/** Enough for a page that asks for everything at once. */
export const readsPerAccountMax = 8

export const tooManyReads = refuse(
  'access.too_many_running',
  `${readsPerAccountMax} questions about this account are being answered. Wait for one of the answers.`,
  { 'retry-after': '1' },
)

export class ReadsUnderWay {
  readonly #counts = new Map<string, number>()

  /** Returns false where the account has too many already; otherwise `leave` must follow. */
  enter(accountId: string): boolean {
    const count = this.#counts.get(accountId) ?? 0
    if (count >= readsPerAccountMax) return false
    this.#counts.set(accountId, count + 1)
    return true
  }

  leave(accountId: string): void {
    const count = (this.#counts.get(accountId) ?? 0) - 1
    if (count > 0) this.#counts.set(accountId, count)
    else this.#counts.delete(accountId)
  }
}
