/**
 * Query parameters of `/v1/usage` and of the endpoints below it. One that belongs to another of them is
 * refused, because ignoring it would answer another question than was asked; unknown ones are ignored.
 */
import { refuse, type Refusal } from '../../base/errors.ts'

const days = '/v1/usage/days'
const statement = '/v1/usage/statement'
const figures = '/v1/usage/statement/figures'
const requests = '/v1/usage/requests'

/** Where each parameter belongs. */
const places: ReadonlyMap<string, readonly string[]> = new Map([
  ['period', ['/v1/usage']],
  ['from', [days, statement, figures, requests]],
  ['to', [days, statement, figures, requests]],
  ['by', [days]],
  ['format', [statement]],
  ['last', [statement]],
  ['key', [requests]],
  ['model', [requests]],
  ['label', [requests]],
  ['outcome', [requests]],
  ['sort', [requests]],
  ['cursor', [requests, '/v1/usage/keys']],
  ['limit', [requests, '/v1/usage/keys']],
])

/** Returns the refusal of the first parameter that belongs elsewhere. */
export function misplacedParameter(
  query: string,
  path: string,
  own: readonly string[],
): Refusal | undefined {
  for (const name of new URLSearchParams(query).keys()) {
    const where = places.get(name)
    if (where === undefined || own.includes(name)) continue
    return refuse(
      'api.request_invalid',
      `${path} has no parameter ${name}. ${name} belongs to ${listOf(where)}.`,
    )
  }
  return undefined
}

/** Reads the values of the endpoint's own parameters. */
export function readParameters(
  query: string,
  own: readonly string[],
): { readonly values: Readonly<Record<string, string>> } | Refusal {
  const given = new URLSearchParams(query)
  const values: Record<string, string> = {}
  for (const name of own) {
    const all = given.getAll(name)
    if (all.length > 1) return refuse('api.request_invalid', `${name} may be given once.`)
    if (all[0] !== undefined) values[name] = all[0]
  }
  return { values }
}

/** `a`, `a and b`, `a, b and c`. */
function listOf(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)]
    .filter((part) => part !== '')
    .join(' and ')
}
