/**
 * Names that have been looked at and found in order, each as one string of its own. A name is found by
 * its characters where it stands in a head: cutting it out first and hashing the piece costs several
 * times as much, and a piece that is kept would keep the whole head, credentials included. Bounded,
 * whatever a peer thinks up: a new name takes the place of the oldest of its length.
 */

const lengthMax = 64
const namesPerLengthMax = 16

interface SameLength {
  readonly names: string[]
  /** Where the next name goes. */
  next: number
}

export class KnownNames {
  readonly #byLength: readonly SameLength[] = Array.from({ length: lengthMax + 1 }, () => ({
    names: [],
    next: 0,
  }))

  constructor(names: Iterable<string> = []) {
    for (const name of names) this.add(name)
  }

  /** The name that stands in `text` from `from` up to `to`, where it is known. */
  find(text: string, from: number, to: number): string | undefined {
    const known = this.#byLength[to - from]
    if (known === undefined) return undefined
    for (const name of known.names) if (text.startsWith(name, from)) return name
    return undefined
  }

  has(name: string): boolean {
    const known = this.#byLength[name.length]
    if (known === undefined) return false
    for (const one of known.names) if (one === name) return true
    return false
  }

  /** Returns the string that is kept, or the name as it is where it is too long to be kept. */
  add(name: string): string {
    const known = this.#byLength[name.length]
    if (known === undefined) return name
    const own = Buffer.from(name, 'latin1').toString('latin1')
    known.names[known.next] = own
    known.next = (known.next + 1) % namesPerLengthMax
    return own
  }
}
