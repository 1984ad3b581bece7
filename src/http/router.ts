/**
 * Looks an endpoint up by method and exact raw path. It normalises nothing: two spellings of one
 * path are two paths, and only one of them exists. Duplicates and paths that could never match are
 * found when the table is built.
 */
import { invariant } from '../base/errors.ts'

/** A request target in origin form, cut in two. */
export interface Target {
  readonly path: string
  /** The raw query with its question mark, or empty. */
  readonly query: string
}

/**
 * Cuts a raw request target; undefined for what is no origin-form target (`*`, a full URL), holds
 * other than printable ASCII, or has a query that others could read differently.
 */
export function splitTarget(target: string): Target | undefined {
  if (!/^\/[!-~]*$/.test(target)) return undefined
  const mark = target.indexOf('?')
  if (mark === -1) return { path: target, query: '' }
  const query = target.slice(mark)
  // In the path these two need no check: no path that is forwarded has them.
  if (query.includes('#') || query.includes('\\')) return undefined
  return { path: target.slice(0, mark), query }
}

/**
 * `path` is exact, but for a last segment `*name`, which stands for all that is left of a path, slashes
 * included. What it stands for is not looked at, so an endpoint that forwards its path has none.
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
      /** What a `*name` stood for, as sent; undefined where the path has none. */
      readonly parameter: string | undefined
    }
  | { readonly kind: 'path_unknown' }
  | {
      readonly kind: 'method_not_allowed'
      /** Value for the `Allow` header. */
      readonly allow: string
    }

export interface Router<Operation> {
  /** An exact path wins over one with a parameter. */
  find(method: string, path: string): Found<Operation>
}

interface PathEntry<Operation> {
  /** Answers made once, for paths without a parameter. */
  readonly byMethod: Map<string, Extract<Found<Operation>, { kind: 'found' }>>
  readonly refusal: { readonly kind: 'method_not_allowed'; allow: string }
}

const pathUnknown = { kind: 'path_unknown' } as const

/** Throws an InvariantError on duplicates and on paths that no target could match. */
export function createRouter<Operation>(
  entries: readonly RouterEntry<Operation>[],
): Router<Operation> {
  const exact = new Map<string, PathEntry<Operation>>()
  /** By everything before the parameter, its slash included. */
  const beginnings = new Map<string, PathEntry<Operation>>()

  for (const { method, path, entry } of entries) {
    invariant(isRoutePath(path), `${path} is not a path that could be matched`)
    const star = path.indexOf('*')
    const table = star === -1 ? exact : beginnings
    const key = star === -1 ? path : path.slice(0, star)
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

  return {
    find(method, path) {
      const known = exact.get(path)
      if (known !== undefined) return known.byMethod.get(method) ?? known.refusal
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

/** Segments of unreserved characters, the last of them possibly a parameter. */
function isRoutePath(path: string): boolean {
  return /^(\/[\w.~-]+)*\/(\*?[\w.~-]+)$/.test(path) && !/\/\.\.?(\/|$)/.test(path)
}
