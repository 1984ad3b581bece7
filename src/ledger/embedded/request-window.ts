/**
 * The moments at which an account's requests were admitted, as far back as its window reaches:
 * what makes requests per minute exact instead of per calendar minute. Knows no account and no
 * limit. Moments only grow, so the oldest always stands first.
 */

const firstSize = 16

export class RequestWindow {
  /** A ring: `#count` moments from `#start` on. */
  #moments = new Float64Array(firstSize)
  #start = 0
  #count = 0

  /** Forgets what is not after `moment`, and returns how many remain. */
  dropUntil(moment: number): number {
    while (this.#count > 0 && (this.#moments[this.#start] ?? 0) <= moment) {
      this.#start = (this.#start + 1) % this.#moments.length
      this.#count--
    }
    return this.#count
  }

  /** The moment that stands `index` places after the oldest. */
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
