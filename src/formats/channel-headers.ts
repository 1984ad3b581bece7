/**
 * What a channel changes in the headers of the requests to its vendor: it sets fixed ones, and leaves out
 * betas that its vendor does not know. Pure functions over flat lists, after `forwardRequestHeaders`.
 */
import type { Secret } from '../base/secret.ts'
import type { HeadLines } from '../http/wire/head-lines.ts'
import { hyphenated, isOwnedByHttp } from './headers.ts'

/** Returns whether a channel may set a header of this lower-case name to a fixed value. */
export function mayBeFixed(name: string): boolean {
  return !isOwnedByHttp(name) && !/^(?:content|proxy|x-turnpike)-/.test(name)
}

/** Returns the headers with the fixed ones in place of the client's of the same names. */
export function withFixedHeaders(
  headers: HeadLines,
  fixed: ReadonlyMap<string, Secret>,
): HeadLines {
  const kept = headers.edit((fields, index) =>
    fixed.has(hyphenated(fields.name(index))) ? undefined : fields.value(index),
  )
  for (const [name, value] of fixed) kept.add(name, value.reveal())
  return kept
}

/** The header in which clients of the messages format ask for betas, with commas between them. */
const betaHeader = 'anthropic-beta'

export interface WithoutBetas {
  readonly headers: HeadLines
  /** In the order in which the client names them, each once. */
  readonly dropped: readonly string[]
}

/**
 * Returns the headers without these betas. A header without any of them stays as it came; one with nothing
 * else goes.
 */
export function withoutBetas(headers: HeadLines, unknown: readonly string[]): WithoutBetas {
  const dropped = new Set<string>()
  const kept = headers.edit((fields, index) => {
    const value = fields.value(index)
    return fields.isNamed(index, betaHeader) ? leftOf(value, unknown, dropped) : value
  })
  return { headers: kept, dropped: [...dropped] }
}

/** Undefined where no beta is left. */
function leftOf(
  value: string,
  unknown: readonly string[],
  dropped: Set<string>,
): string | undefined {
  const names = value.split(',').map((one) => one.trim())
  const left = names.filter((name) => !unknown.some((one) => isMeant(one, name)))
  if (left.length === names.length) return value
  for (const name of names) if (!left.includes(name)) dropped.add(name)
  return left.some((name) => name !== '') ? left.join(',') : undefined
}

function isMeant(unknown: string, name: string): boolean {
  return unknown.endsWith('*') ? name.startsWith(unknown.slice(0, -1)) : name === unknown
}
