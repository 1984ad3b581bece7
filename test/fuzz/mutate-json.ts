/**
 * Changes one value of a JSON text, or of the JSON behind `data:` in a stream of events, and writes it again.
 */
import type { Random } from '../../src/base/random.ts'
import { isObject } from '../../src/base/object.ts'

export function pick<Item>(list: readonly Item[], random: Random): Item {
  const item = list[Math.floor(random() * list.length)]
  if (item === undefined) throw new RangeError('there is nothing to pick from')
  return item
}

/** Texts without JSON come back as they are. */
export function changeJson(bytes: Buffer, random: Random, words: readonly string[]): Buffer {
  const text = bytes.toString('utf8')
  const places = [...text.matchAll(/^(?:data: ?)?([[{].*)$/gm)]
  const whole = parse(text)
  if (whole === undefined && places.length === 0) return bytes
  if (whole !== undefined) return Buffer.from(print(change(whole, random, words), random))
  const { index, 0: line, 1: json = '' } = pick(places, random)
  const value = parse(json)
  if (value === undefined) return bytes
  const start = index + line.length - json.length
  const changed = JSON.stringify(change(value, random, words)) ?? ''
  return Buffer.from(text.slice(0, start) + changed + text.slice(start + json.length))
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    // Most mutated texts are no JSON.
    return undefined
  }
}

function print(value: unknown, random: Random): string {
  return JSON.stringify(value, null, pick(['', '', ' ', '\t'], random)) ?? ''
}

const values: readonly unknown[] = [
  null,
  true,
  false,
  '',
  'x',
  '\0',
  '\u2028',
  '\ud800',
  [],
  {},
  [[]],
  [null],
  { type: 'text' },
  0,
  -0,
  1,
  -1,
  0.5,
  1e21,
  2 ** 31,
  2 ** 53,
  2 ** 53 - 1,
  1_000_000_000,
  1_000_000_001,
  200_000,
]

type Fields = Record<string, unknown>
interface Spot {
  readonly parent: unknown[] | Fields
  readonly key: string
}

/** Returns the value, changed where it is. */
function change(value: unknown, random: Random, words: readonly string[]): unknown {
  const spots = spotsOf(value)
  if (spots.length === 0) return pick(values, random)
  const { parent, key } = pick(spots, random)
  const given = Reflect.get(parent, key) as unknown
  const kind = random()
  const other = random() < 0.5 ? pick(values, random) : valueAt(pick(spots, random))
  if (kind < 0.35) set(parent, key, structuredClone(other))
  else if (kind < 0.5) Reflect.deleteProperty(parent, key)
  else if (kind < 0.6) set(parent, key, [given])
  else if (kind < 0.85 && Array.isArray(parent)) parent.push(structuredClone(given))
  else if (kind < 0.85) set(parent, pick(words, random), structuredClone(other))
  else if (typeof given === 'number') set(parent, key, given + pick([-1, 1, 1_000_000], random))
  else set(parent, key, pick(words, random))
  return value
}

function valueAt({ parent, key }: Spot): unknown {
  return Reflect.get(parent, key)
}

function set(parent: object, key: string, value: unknown): void {
  Object.defineProperty(parent, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

function spotsOf(value: unknown): Spot[] {
  if (!isParent(value)) return []
  return Object.keys(value)
    .filter((key) => Object.hasOwn(value, key))
    .flatMap((key) => [{ parent: value, key }, ...spotsOf(Reflect.get(value, key))])
}

function isParent(value: unknown): value is unknown[] | Fields {
  return Array.isArray(value) || isObject(value)
}
