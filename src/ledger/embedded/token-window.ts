/**
 * The tokens of the requests that ended within the last 60 seconds, of one account or key. Knows no limit.
 * Whole seconds are counted, so a window takes at most one place per second. Seconds only grow.
 */

const windowSeconds = 60

interface Second {
  readonly second: number
  tokens: number
}

export class TokenWindow {
  /** The oldest first. */
  #seconds: Second[] = []
  #tokens = 0

  /** `atMs` is monotonic. */
  add(atMs: number, tokens: number): void {
    if (tokens === 0) return
    const second = Math.floor(atMs / 1_000)
    const last = this.#seconds.at(-1)
    if (last !== undefined && last.second >= second) last.tokens += tokens
    else this.#seconds.push({ second, tokens })
    this.#tokens += tokens
  }

  /** Returns the tokens that count at this moment. */
  countAt(nowMs: number): number {
    const firstSecond = Math.floor(nowMs / 1_000) - windowSeconds + 1
    const oldCount = this.#seconds.findIndex(({ second }) => second >= firstSecond)
    const gone = this.#seconds.splice(0, oldCount === -1 ? this.#seconds.length : oldCount)
    for (const { tokens } of gone) this.#tokens -= tokens
    return this.#tokens
  }

  /** Returns the milliseconds until fewer than `limit` tokens count. */
  waitMs(limit: number, nowMs: number): number {
    let left = this.countAt(nowMs)
    for (const { second, tokens } of this.#seconds) {
      left -= tokens
      if (left < limit) return (second + windowSeconds) * 1_000 - nowMs
    }
    return 0
  }
}
