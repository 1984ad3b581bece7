/** What is fuzzed: bytes go in, and a broken promise is an exception. */
import type { Random } from '../../src/base/random.ts'

export interface FuzzTarget {
  /** Also the name of its folder in the corpus. */
  readonly name: string
  /** What a mutation may insert, beside what every format knows. */
  readonly words: readonly string[]
  /** How many mutated inputs `npm test` tries. */
  readonly testRuns: number
  /**
   * Throws, or rejects, where the program breaks a promise. `random` is seeded by the input, so that
   * an input fails again by itself.
   */
  check(input: Buffer, random: Random): void | Promise<void>
}
