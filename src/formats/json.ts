/**
 * Reading JSON of unknown make: parse without throwing, narrow without trusting. Nothing here knows
 * a vendor's fields.
 */

export interface JsonObject {
  readonly [name: string]: unknown
}

/** The parsed value, or undefined where the text is not JSON (JSON itself has no undefined). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The only thing JSON.parse throws is that the text is not JSON; that is an outcome here.
    return undefined
  }
}

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined
}

export function asArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** A string with something in it. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
