/**
 * The moments at which an account's requests were admitted, within its window: so requests per minute
 * are exact, not per calendar minute. Knows no account and no limit. Moments only grow, so the oldest
 * is always first.
 */

const firstSize = 16

export class RequestWindow {
  /** A ring: `#count` moments from `#start` on. */
  #moments = new Float64Array(firstSize)
  #start = 0
  #count = 0

  /** Removes all moments up to `moment`; returns the number of those that remain. */
  dropUntil(moment: number): number {
    while (this.#count > 0 && (this.#moments[this.#start] ?? 0) <= moment) {
      this.#start = (this.#start + 1) % this.#moments.length
      this.#count--
    }
    return this.#count
  }

  /** Returns the moment `index` places after the oldest. */
  at(index: number): number {
    return this.#moments[(this.#start + index) % this.#moments.length] ?? 0
  }

  add(moment: number): void {
    if (this.#count === this.#moments.length) this.#grow()
    this.#moments[(this.#start + this.#count) % this.#moments.length] = moment
    this.#count++
  }

  #grow(): void {
    const larger = new Float64Array(this.#moments.length * 2)
    for (let index = 0; index < this.#count; index++) larger[index] = this.at(index)
    this.#moments = larger
    this.#start = 0
  }
}
