/** Ways in which a network may cut bytes, for parsers that must not care. */
import * as fc from 'fast-check'

/** How often a property is tried. `TURNPIKE_FUZZ_RUNS` asks for more than `npm test` has time for. */
export const fuzzRuns = Number(process.env['TURNPIKE_FUZZ_RUNS'] ?? 300)

/** The bytes cut at each of these places. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [0, ...places.toSorted((one, other) => one - other), bytes.length]
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
}

/** The bytes whole, byte by byte, and in two at every place. */
export function everySplit(bytes: Buffer): Buffer[][] {
  const inTwo = Array.from({ length: bytes.length + 1 }, (_, place) => cutAt(bytes, [place]))
  return [[bytes], cutAt(bytes, Array.from(bytes.keys())), ...inTwo]
}

/** Places to cut bytes of up to that length at. */
export function places(bytesMax: number): fc.Arbitrary<number[]> {
  return fc.array(fc.nat({ max: bytesMax }), { maxLength: 12 })
}
