/**
 * Randomness: the system's for the running program, a seeded generator for tests and simulations. `Random`
 * is for jitter and weights; secrets use `node:crypto` directly.
 */

/** Returns a number in [0, 1). */
export type Random = () => number

export const systemRandom: Random = () => Math.random()

/** Returns a small seeded generator (mulberry32): a seed gives the same sequence everywhere. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
