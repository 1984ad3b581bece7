/**
 * Builds the HTTP request of an endpoint of the admin API from its row and the input of its operation. It
 * sends nothing. The invariant: a name that an operator chose stays one segment of the path.
 */
import { ServerError } from './server-error.ts'

/** What a row says about its request. */
export interface RequestRow {
  readonly method: string
  readonly path: string
  /** Fields that are in the query although the method has a body. */
  readonly query?: readonly string[]
  readonly fixed?: Readonly<Record<string, unknown>>
}

export interface ApiRequest {
  readonly method: string
  /** Below the server's address, with the query. */
  readonly target: string
  /** JSON text. */
  readonly body: string | undefined
}

const apiRoot = '/admin/v1'

/** Builds the request. Fields that the row sets itself are the server's; absent fields are left out. */
export function requestOf(
  { method, path, query = [], fixed = {} }: RequestRow,
  input: object,
): ApiRequest {
  const fields = new Map<string, unknown>(
    Object.entries(input).filter(
      ([name, value]) => value !== undefined && !Object.hasOwn(fixed, name),
    ),
  )
  const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => {
    const value = fields.get(name)
    fields.delete(name)
    return pathSegment(typeof value === 'string' ? value : '')
  })
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const inQuery = [...fields].filter(([name]) => !hasBody || query.includes(name))
  const inBody = [...fields].filter(([name]) => hasBody && !query.includes(name))
  return {
    method,
    target: apiRoot + filled + queryOf(inQuery),
    body: hasBody ? JSON.stringify(Object.fromEntries(inBody)) : undefined,
  }
}

/** Dots alone would name another path, also as `%2E`. */
function pathSegment(value: string): string {
  if (/^\.{0,2}$/.test(value))
    throw new ServerError(`"${value}" cannot be a part of an address. Use the id.`)
  return encodeURIComponent(value)
}

function queryOf(fields: readonly (readonly [string, unknown])[]): string {
  const query = new URLSearchParams()
  for (const [name, value] of fields) query.append(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
