/**
 * A vendor's counters with their checks: a count is a non-negative safe integer and never falls within a
 * stream. A missing counter and null mean the same: no count.
 */

export class Counters<Name extends string> {
  readonly #counts: { [Known in Name]?: number } = {}
  /** Counters whose latest value was no count. Almost no answer has one. */
  #unusable: Set<Name> | undefined
  #isImplausible = false

  get isImplausible(): boolean {
    return this.#isImplausible
  }

  /** Records an inconsistency that only the format can see. */
  markImplausible(): void {
    this.#isImplausible = true
  }

  get(name: Name): number {
    return this.#counts[name] ?? 0
  }

  has(name: Name): boolean {
    return this.#counts[name] !== undefined
  }

  /** There is a count, and the vendor has not followed it with a value that is none. */
  isKnown(name: Name): boolean {
    return this.has(name) && this.#unusable?.has(name) !== true
  }

  /** Counters are cumulative: a new value replaces the old one and is never added. */
  set(name: Name, value: unknown): void {
    const count = this.#take(name, value)
    if (count === undefined) return
    if (count < this.get(name)) this.#isImplausible = true
    else this.#counts[name] = count
  }

  /** Sets a counter whose earlier value was a placeholder and may be higher. */
  replace(name: Name, value: unknown): void {
    const count = this.#take(name, value)
    if (count !== undefined) this.#counts[name] = count
  }

  #take(name: Name, value: unknown): number | undefined {
    const count = this.read(value)
    if (count !== undefined) this.#unusable?.delete(name)
    else if (isGiven(value)) (this.#unusable ??= new Set()).add(name)
    return count
  }

  /** Returns a valid count, or undefined. */
  read(value: unknown): number | undefined {
    if (isCount(value)) return value
    if (isGiven(value)) this.#isImplausible = true
    return undefined
  }
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
