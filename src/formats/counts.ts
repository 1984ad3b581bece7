/**
 * A vendor's counters with their checks: a count is a non-negative safe integer and never falls within a
 * stream. A missing counter and null mean the same: no count.
 */

export class Counters<Name extends string> {
  readonly #counts = new Map<Name, number>()
  #isImplausible = false

  get isImplausible(): boolean {
    return this.#isImplausible
  }

  /** Records an inconsistency that only the format can see. */
  markImplausible(): void {
    this.#isImplausible = true
  }

  get(name: Name): number {
    return this.#counts.get(name) ?? 0
  }

  has(name: Name): boolean {
    return this.#counts.has(name)
  }

  /** Counters are cumulative: a new value replaces the old one and is never added. */
  set(name: Name, value: unknown): void {
    const count = this.read(value)
    if (count === undefined) return
    if (count < (this.#counts.get(name) ?? 0)) this.#isImplausible = true
    else this.#counts.set(name, count)
  }

  /** Sets a counter whose earlier value was a placeholder and may be higher. */
  replace(name: Name, value: unknown): void {
    const count = this.read(value)
    if (count !== undefined) this.#counts.set(name, count)
  }

  /** Returns a valid count, or undefined. */
  read(value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    this.#isImplausible = true
    return undefined
  }
}
