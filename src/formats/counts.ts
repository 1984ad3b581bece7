/**
 * Believing a vendor's counters one at a time: a count is a non-negative safe integer and never
 * falls within a stream. Missing and null are alike: the counter is not spoken of.
 */

export class CountBook<Name extends string> {
  readonly #counts = new Map<Name, number>()
  #isImplausible = false

  get isImplausible(): boolean {
    return this.#isImplausible
  }

  /** Notes that counts contradict each other in a way only the format can see. */
  distrust(): void {
    this.#isImplausible = true
  }

  get(name: Name): number {
    return this.#counts.get(name) ?? 0
  }

  has(name: Name): boolean {
    return this.#counts.has(name)
  }

  /** Counters are cumulative: a new value takes the place of the old one and is never added. */
  set(name: Name, value: unknown): void {
    const count = this.read(value)
    if (count === undefined) return
    if (count < (this.#counts.get(name) ?? 0)) this.#isImplausible = true
    else this.#counts.set(name, count)
  }

  /** Sets a counter whose earlier value was only a placeholder and may lie higher. */
  replace(name: Name, value: unknown): void {
    const count = this.read(value)
    if (count !== undefined) this.#counts.set(name, count)
  }

  /** A single count, or undefined where there is none to believe. */
  read(value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    this.#isImplausible = true
    return undefined
  }
}
