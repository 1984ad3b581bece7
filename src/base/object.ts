/** Tells what JSON and YAML call an object from everything else that they can hold. */

/** False for lists and for null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
