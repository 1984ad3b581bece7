/**
 * Reads JSON of unknown shape: parses without throwing, narrows types with checks. It knows no vendor's
 * fields.
 */
import { isObject } from '../base/object.ts'

export interface JsonObject {
  readonly [name: string]: unknown
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
