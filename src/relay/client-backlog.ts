/**
 * How long a vendor has had to wait for a client that reads too slowly or not at all. Short gaps do not
 * end a wait: a client that reads a little now and then does not keep up. All times are monotonic.
 */

/** A wait shorter than this says nothing about the client; a gap longer than this ends a wait. */
const unreadMs = 1_000

export class ClientBacklog {
  #waitedMs = 0
  /** Infinity while the vendor does not wait. */
  #beganAtMs = Infinity
  #endedAtMs = -Infinity

  /** From now on the vendor waits. */
  begin(nowMs: number): void {
    if (this.#beganAtMs !== Infinity) return
    if (nowMs - this.#endedAtMs > unreadMs) this.#waitedMs = 0
    this.#beganAtMs = nowMs
  }

  /** The client has read its answer so far. */
  end(nowMs: number): void {
    if (this.#beganAtMs === Infinity) return
    this.#waitedMs += nowMs - this.#beganAtMs
    this.#beganAtMs = Infinity
    this.#endedAtMs = nowMs
  }

  /** Returns whether a vendor that breaks off now may have given up because of the client. */
  isUnread(nowMs: number): boolean {
    const isWaiting = this.#beganAtMs !== Infinity
    if (!isWaiting && nowMs - this.#endedAtMs > unreadMs) return false
    const waitedMs = this.#waitedMs + (isWaiting ? nowMs - this.#beganAtMs : 0)
    return waitedMs >= unreadMs
  }
}
