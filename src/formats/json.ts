/**
 * Reads JSON of unknown shape: parses without throwing, narrows types with checks. It knows no vendor's
 * fields.
 */
import { isObject } from '../base/object.ts'

export interface JsonObject {
  readonly [name: string]: unknown
}

/** What is read of a JSON text that is not parsed as a whole. */
export interface WantedJson {
  /** The names of the members that are kept, at any depth. */
  readonly names: ReadonlySet<string>
  /** The objects under these names have members of any name; an empty name stands for the outermost. */
  readonly open?: ReadonlySet<string>
  /** Everything within the values under these names is kept. */
  readonly whole?: ReadonlySet<string>
  /** The member whose long texts are known by their hash. */
  readonly hashed?: string
  /** Longer texts are kept in part. Absent = only short ones are kept whole. */
  readonly textBytesMax?: number
}

/** Returns the parsed value, or undefined where the text is not JSON (JSON itself has no undefined). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // JSON.parse throws only where the text is not JSON, which is an expected outcome here.
    return undefined
  }
}

/** The same of the bytes of a text. */
export function parseBody(body: Buffer): unknown {
  return parseJson(body.toString('utf8'))
}

export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

export function asArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** Returns a string that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * Returns a copy of a latin1 text. A part of a text keeps the whole text in memory: facts
 * of a body live as long as its answer, and the body can be megabytes.
 */
export function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** Returns whether a field requests something: it is neither absent nor null nor false. */
export function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}
