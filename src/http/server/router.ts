/**
 * Finds an endpoint by method and exact raw path. It normalises nothing: two spellings of one path are two
 * paths, and only one of them exists. Building the table fails on duplicates and on paths that could never
 * match.
 */
import { invariant } from '../../base/errors.ts'

/** A request target in origin form, in its two parts. */
export interface Target {
  readonly path: string
  /** The raw query with its question mark, or empty. */
  readonly query: string
}

/**
 * Splits a raw request target. Returns undefined for any other form (`*`, a full URL), for other characters
 * than printable ASCII, and for a query that two programs could read differently.
 */
export function splitTarget(target: string): Target | undefined {
  if (!/^\/[!-~]*$/.test(target)) return undefined
  const mark = target.indexOf('?')
  if (mark === -1) return { path: target, query: '' }
  const query = target.slice(mark)
  // A path needs no such check: no path that is forwarded contains these two.
  if (query.includes('#') || query.includes('\\')) return undefined
  return { path: target.slice(0, mark), query }
}

/**
 * `path` is exact, except for one parameter. A last segment `*name` matches the rest of a path, slashes
 * included. The rest is not checked, so an endpoint that forwards its path must not have one. A segment
 * `{name}` anywhere matches one segment that is an id of letters, digits, `_` and `-`.
 */
export interface RouterEntry<Operation> {
  readonly method: string
  readonly path: string
  readonly entry: Operation
}

export type Found<Operation> =
  | {
      readonly kind: 'found'
      readonly operation: Operation
      /** What the parameter matched, as sent; undefined where the path has none. */
      readonly parameter: string | undefined
    }
  | { readonly kind: 'path_unknown' }
  | {
      readonly kind: 'method_not_allowed'
      /** Value for the `Allow` header. */
      readonly allow: string
    }

export interface Router<Operation> {
  /** An exact path wins over one with a parameter, an id over the rest of a path. */
  find(method: string, path: string): Found<Operation>
}

interface PathEntry<Operation> {
  /** Results for paths without a parameter, built once. */
  readonly byMethod: Map<string, Extract<Found<Operation>, { kind: 'found' }>>
  readonly refusal: { readonly kind: 'method_not_allowed'; allow: string }
}

const pathUnknown = { kind: 'path_unknown' } as const

/** Throws an InvariantError on duplicates and on paths that could never match. */
export function createRouter<Operation>(
  entries: readonly RouterEntry<Operation>[],
): Router<Operation> {
  const exact = new Map<string, PathEntry<Operation>>()
  /** By everything before the parameter, its slash included. */
  const beginnings = new Map<string, PathEntry<Operation>>()
  /** By everything around the parameter, as `/before/{}/behind`. */
  const around = new Map<string, PathEntry<Operation>>()

  for (const { method, path, entry } of entries) {
    invariant(isRoutePath(path), `${path} is not a path that could be matched`)
    const star = path.indexOf('*')
    const hasId = path.includes('{')
    const table = hasId ? around : star === -1 ? exact : beginnings
    const key = star === -1 ? path.replace(/\{.*\}/, '{}') : path.slice(0, star)
    const known = table.get(key) ?? {
      byMethod: new Map(),
      refusal: { kind: 'method_not_allowed', allow: '' },
    }
    invariant(!known.byMethod.has(method), `${method} ${path} is defined twice`)
    known.byMethod.set(method, { kind: 'found', operation: entry, parameter: undefined })
    known.refusal.allow = [...known.byMethod.keys()].join(', ')
    table.set(key, known)
  }

  const longestFirst = [...beginnings].sort(([left], [right]) => right.length - left.length)
  const withId = [...around].map(([key, entry]) => {
    const [before = '', behind = ''] = key.split('{}')
    return { before, behind, entry }
  })

  return {
    find(method, path) {
      const known = exact.get(path)
      if (known !== undefined) return known.byMethod.get(method) ?? known.refusal
      for (const { before, behind, entry } of withId) {
        if (!path.startsWith(before) || !path.endsWith(behind)) continue
        const parameter = path.slice(before.length, path.length - behind.length)
        if (!idPattern.test(parameter)) continue
        const found = entry.byMethod.get(method)
        return found === undefined ? entry.refusal : { ...found, parameter }
      }
      for (const [beginning, behind] of longestFirst) {
        if (!path.startsWith(beginning) || path.length === beginning.length) continue
        const found = behind.byMethod.get(method)
        if (found === undefined) return behind.refusal
        return { ...found, parameter: path.slice(beginning.length) }
      }
      return pathUnknown
    },
  }
}

const idPattern = /^[\w-]{1,128}$/

/** Segments of unreserved characters; one of them may be an id, or the last of them a parameter. */
function isRoutePath(path: string): boolean {
  if (/\/\.\.?(\/|$)/.test(path)) return false
  if (/^(\/[\w.~-]+)+\/\{\w+\}(\/[\w.~-]+)*$/.test(path)) return true
  return /^(\/[\w.~-]+)*\/(\*?[\w.~-]+)$/.test(path)
}
