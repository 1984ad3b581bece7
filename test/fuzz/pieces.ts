/** Cuts bytes as a network may. */
import type { Random } from '../../src/base/random.ts'

/** Byte by byte, at a few places, or not at all. */
export function cutAnywhere(bytes: Buffer, random: Random): readonly Buffer[] {
  const kind = random()
  if (kind < 0.03) return Array.from(bytes, (byte) => Buffer.from([byte]))
  const count = kind < 0.2 ? 0 : 1 + Math.floor(random() * 8)
  const places = Array.from({ length: count }, () => Math.floor(random() * (bytes.length + 1)))
  const cuts = [0, ...places.toSorted((one, other) => one - other), bytes.length]
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
}
