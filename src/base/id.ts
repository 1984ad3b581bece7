/**
 * Identifiers: a prefix for the kind, then time-ordered base-32 text. Ids sort by the time at which they
 * were made, so that a database appends to the primary key's index.
 */
import { randomFillSync } from 'node:crypto'

/** Kinds of id and their prefixes. */
export type IdKind =
  | 'acc'
  | 'key'
  | 'ex'
  | 'ent'
  | 'evt'
  | 'node'
  | 'alr'
  | 'tgt'
  | 'dlv'
  | 'aud'
  | 'note'
  | 'rec'
  | 'batch'
  | 'code'
  | 'mem'

/** Crockford's alphabet: no letters that look alike, in the order of their values. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const digitCodes = Buffer.from(alphabet, 'latin1')
const timeDigits = 10
const randomDigits = 16

/** Random digits for the next ids, as text: one slice costs less than many single characters. */
const pool = Buffer.alloc(randomDigits * 256)
let poolOffset = pool.length

let lastTimeMs = -1
let lastTimeText = ''

/**
 * Makes an id such as `ex_01jd8m3v9k…`: 50 bits of milliseconds, 80 random bits.
 * Ids made within one millisecond are unique but unordered among themselves.
 */
export function newId(kind: IdKind, nowMs: number): string {
  if (nowMs !== lastTimeMs) {
    lastTimeMs = nowMs
    lastTimeText = encodeTime(nowMs)
  }
  if (poolOffset === pool.length) refillPool()
  const random = pool.toString('latin1', poolOffset, poolOffset + randomDigits)
  poolOffset += randomDigits
  return `${kind}_${lastTimeText}${random}`
}

function refillPool(): void {
  randomFillSync(pool)
  for (let at = 0; at < pool.length; at++) pool[at] = digitCodes[(pool[at] ?? 0) & 31] ?? 0
  poolOffset = 0
}

function encodeTime(timeMs: number): string {
  let text = ''
  let rest = Math.floor(timeMs)
  for (let digit = 0; digit < timeDigits; digit++) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** Returns when an id was made, in milliseconds; undefined where the text is no id. */
export function idTimeMs(id: string): number | undefined {
  const digits = /^[a-z]+_([0-9a-z]{10})[0-9a-z]{16}$/.exec(id)?.[1]
  if (digits === undefined) return undefined
  let timeMs = 0
  for (const digit of digits) {
    const value = alphabet.indexOf(digit)
    if (value < 0) return undefined
    timeMs = timeMs * 32 + value
  }
  return timeMs
}
