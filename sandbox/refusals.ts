/**
 * The chat vendor's refusals of a wrong request, in its words: each names the field at fault and
 * has a code. Read from answers of the vendor on 2026-11-22.
 */
import type { ErrorPreset } from './error-presets.ts'

function refuse(message: string, code: string | null, param?: string): ErrorPreset {
  const row = { status: 400, type: 'invalid_request_error', message, code }
  return param === undefined ? row : { ...row, param }
}

export function missingField(name: string): ErrorPreset {
  return refuse(`Missing required parameter: '${name}'.`, 'missing_required_parameter', name)
}

export function unknownField(name: string): ErrorPreset {
  return refuse(`Unknown parameter: '${name}'.`, 'unknown_parameter', name)
}

/** A field of another operation, which this one calls by another name. */
export function movedField(name: string, movedTo: string): ErrorPreset {
  return refuse(
    `Unsupported parameter: '${name}'. In the Responses API, this parameter has moved to '${movedTo}'. ` +
      'Try again with the new parameter.',
    'unsupported_parameter',
    name,
  )
}

export function wrongType(name: string, expected: string, value: unknown): ErrorPreset {
  return refuse(
    `Invalid type for '${name}': expected ${expected}, but got ${kindOf(value)} instead.`,
    'invalid_type',
    name,
  )
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function belowMinimum(name: string, least: number, value: number): ErrorPreset {
  return refuse(
    `Invalid '${name}': integer below minimum value. Expected a value >= ${least}, but got ${value} instead.`,
    'integer_below_min_value',
    name,
  )
}

export function emptyArray(name: string): ErrorPreset {
  return refuse(
    `Invalid '${name}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    'empty_array',
    name,
  )
}

export function arrayTooLong(name: string, most: number, length: number): ErrorPreset {
  return refuse(
    `Invalid '${name}': array too long. Expected an array with maximum length ${most}, but got an array with length ${length} instead.`,
    'array_above_max_length',
    name,
  )
}

/** A refusal that names neither a code nor, as a rule, a field. */
export function plainRefusal(message: string, param?: string): ErrorPreset {
  return refuse(message, null, param)
}

export function codedRefusal(message: string, code: string, param?: string): ErrorPreset {
  return refuse(message, code, param)
}

/** Something of the vendor account that does not exist there. */
export function notFound(message: string, param?: string): ErrorPreset {
  return { ...refuse(message, null, param), status: 404 }
}
