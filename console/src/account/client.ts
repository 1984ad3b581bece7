/** Reads the account's figures with the token of this tab. */
import { Problem } from '../problem.ts'
import { fieldsOf, nullable, record, text, type Shape } from './shape.ts'
import { readToken } from './token.ts'

type Query = Readonly<Record<string, string | number | undefined>>

/** Throws a `Problem` for every answer but a good one. */
export async function read<Value>(path: string, shape: Shape<Value>, query: Query = {}) {
  const response = await ask(path, query)
  const body: unknown = await response.json()
  return shape(body)
}

/** Returns the answer unread, to save it byte for byte. `token` replaces the token that is kept. */
export async function ask(
  path: string,
  query: Query = {},
  { token = readToken(), signal }: { token?: string | null; signal?: AbortSignal } = {},
): Promise<Response> {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
  let response: Response
  try {
    response = await fetch(`/v1/usage${path}${search}`, {
      headers: { authorization: `Bearer ${token ?? ''}` },
      credentials: 'omit',
      cache: 'no-store',
      ...(signal !== undefined && { signal }),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new Problem(0, { detail: 'The gateway does not answer. Check your connection.' })
  }
  if (!response.ok) throw await problemOf(response)
  return response
}

const errorForm = record({ message: text, type: text, request_id: nullable(text) })

/** An error that does not come from the gateway, such as a proxy's page, has its status only. */
async function problemOf(response: Response): Promise<Problem> {
  try {
    const body: unknown = await response.json()
    const { message, type, request_id: requestId } = errorForm(fieldsOf(body)['error'])
    return new Problem(response.status, {
      detail: message,
      code: type,
      request_id: requestId ?? undefined,
    })
  } catch {
    return new Problem(response.status, {})
  }
}

const operatorForm = record({
  name: nullable(text),
  contact: nullable(text),
})

/** Needs no token. */
export async function readOperator() {
  const response = await fetch('/account/operator.json', { credentials: 'omit' })
  if (!response.ok) throw await problemOf(response)
  const body: unknown = await response.json()
  return operatorForm(body)
}
