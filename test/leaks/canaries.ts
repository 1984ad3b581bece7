/**
 * Canaries: unique words planted in private data, and the search for them. A canary that is found
 * outside its allowed places is a leak. The search also looks for a canary
 * written in another way, and for a large part of one.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A text that was written somewhere, and where. */
export interface Place {
  /** Such as `log`, `metrics`, `store turnpike.db-wal`, `command key create`. */
  readonly name: string
  readonly bytes: Buffer
}

export interface Canary {
  readonly name: string
  readonly text: string
  /** Places where it is allowed, by the beginnings of their names. */
  readonly allowed: readonly string[]
}

export class Canaries {
  readonly #all: Canary[] = []
  #count = 0

  /** A new word. `allowed` are beginnings of names of places. */
  plant(name: string, ...allowed: readonly string[]): string {
    this.#count++
    const text = `canary${String(this.#count).padStart(3, '0')}x${randomWord()}`
    return this.watch(name, text, ...allowed)
  }

  /** A text that exists already, such as a secret the program made. */
  watch(name: string, text: string, ...allowed: readonly string[]): string {
    this.#all.push({ name, text, allowed })
    return text
  }

  get names(): readonly string[] {
    return this.#all.map((canary) => canary.name)
  }

  /** Canaries in places that are not allowed, a line for each. */
  search(places: readonly Place[]): string[] {
    const found: string[] = []
    for (const { name, text, allowed } of this.#all)
      for (const place of places) {
        if (allowed.some((beginning) => place.name.startsWith(beginning))) continue
        const way = findIn(place.bytes, text)
        if (way !== undefined) found.push(`${name} is ${way} in ${place.name}`)
      }
    return found
  }

  /** All places that contain it, to show that the search works. */
  placesOf(name: string, places: readonly Place[]): string[] {
    const canary = this.#all.find((one) => one.name === name)
    if (canary === undefined) throw new Error(`no canary ${name}`)
    return places
      .filter((place) => findIn(place.bytes, canary.text) !== undefined)
      .map((place) => place.name)
  }
}

function randomWord(): string {
  return Array.from({ length: 16 }, () => Math.floor(Math.random() * 36).toString(36)).join('')
}

/** Returns in which form a text contains the canary; undefined if it does not. */
export function findIn(bytes: Buffer, text: string): string | undefined {
  const plain = Buffer.from(text)
  const ways: readonly (readonly [string, Buffer])[] = [
    ['as it is', plain],
    ['up to its middle', plain.subarray(0, Math.ceil(plain.length / 2) + 2)],
    ['from its middle on', plain.subarray(Math.floor(plain.length / 2) - 2)],
    ['in hexadecimal', Buffer.from(plain.toString('hex'))],
    ['in capitals', Buffer.from(text.toUpperCase())],
    ['as bytes of UTF-16', Buffer.from(text, 'utf16le')],
    ...[0, 1, 2].map((shift): [string, Buffer] => ['in base64', base64Core(plain, shift)]),
  ]
  return ways.find(([, wanted]) => bytes.includes(wanted))?.[0]
}

/** The characters of base64 that do not depend on the neighbours of the text. */
function base64Core(plain: Buffer, shift: number): Buffer {
  const padded = Buffer.concat([Buffer.alloc(shift), plain])
  const whole = padded.subarray(0, padded.length - (padded.length % 3))
  return Buffer.from(whole.toString('base64').slice(shift === 0 ? 0 : 4))
}

/** Every file below the folder but those named. */
export function filesIn(folder: string, except: readonly string[]): Place[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !except.includes(entry.name))
    .map((entry) => ({
      name: `store ${entry.name}`,
      bytes: readFileSync(join(entry.parentPath, entry.name)),
    }))
}
