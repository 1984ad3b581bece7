/**
 * Requests of the account page, and the session of a member, whose cookie is the credential of the member
 * API. A read-only token in this tab comes first: the page then knows no session.
 */
import { queryOptions, useQuery, type QueryClient } from '@tanstack/react-query'
import { causeOfRequest } from '../api/interaction.ts'
import { isHeard, t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { errorForm, fieldsOf, nullable, record, text, type Shape, type ValueOf } from './answers.ts'
import { useToken } from './token.ts'

/**
 * Returns the answer unread; every one but a good one becomes a `Problem`. No cookie goes with it, unless the
 * options say so.
 */
export async function send(address: string, options: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(address, { credentials: 'omit', cache: 'no-store', ...options })
  } catch (error) {
    if (options.signal?.aborted === true) throw error
    throw new Problem(0, { detail: t('account.noAnswer') })
  }
  if (!response.ok) throw await problemOf(response)
  return response
}

/** An error that does not come from the gateway, such as a proxy's page, has its status only. */
async function problemOf(response: Response): Promise<Problem> {
  try {
    const body: unknown = await response.json()
    await isHeard
    const { message, type, request_id: id, fields } = errorForm(fieldsOf(body)['error'])
    return new Problem(response.status, {
      detail: message,
      code: type,
      request_id: id ?? undefined,
      errors: fields ?? undefined,
    })
  } catch {
    return new Problem(response.status, {})
  }
}

/** The cookie goes with the request, and the page says whether a person has caused it. */
export function asMember(headers: Readonly<Record<string, string>> = {}) {
  const cause = { 'x-turnpike-account': causeOfRequest() }
  return { credentials: 'same-origin', headers: { ...cause, ...headers } } as const
}

/** Calls an endpoint of the member API, such as `POST /keys`; `once` makes the gateway do it once. */
export async function call<Value>(
  route: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`,
  shape: Shape<Value>,
  body?: object,
  once?: string,
): Promise<Value> {
  const [method = '', path = ''] = route.split(' ')
  const response = await send(`/account/v1${path}`, {
    method,
    ...asMember({
      ...(method !== 'GET' && { 'content-type': 'application/json' }),
      ...(once !== undefined && { 'idempotency-key': once }),
    }),
    ...(body && { body: JSON.stringify(body) }),
  })
  return shape(response.status === 204 ? null : await response.json())
}

export const roles = ['member', 'owner'] as const
export const roleForm: Shape<(typeof roles)[number]> = (given) =>
  given === 'owner' ? 'owner' : 'member'

const standingForm = record({ name: text, status: text })
export type Standing = ValueOf<typeof standingForm>
const sessionForm = record({ member_id: text, email: text, role: roleForm, account: standingForm })

const refreshMs = 60_000
/** The member whose account this document shows. */
let known: string | undefined
/** How the last session has ended, or would be said to. */
let left: 'here' | 'everywhere' | 'ended' | undefined

/** Why there is no session; undefined where there was none. */
export function lastLeft(): typeof left {
  return left
}

/** The gateway refuses the cookie of a session that has ended, and may refuse all that a proxy changes. */
function nullOfEnded(error: unknown): null {
  if (error instanceof Problem && (error.status === 401 || error.status === 403)) return null
  throw error
}

/** Null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  async queryFn() {
    const session = await call('GET /session', nullable(sessionForm)).catch(nullOfEnded)
    if (session === null) return null
    known ??= session.member_id
    left = 'ended'
    // Another tab has signed in another member: a new document forgets what this one has read.
    if (session.member_id !== known) location.reload()
    return session
  },
  refetchInterval: refreshMs,
  refetchOnWindowFocus: 'always',
})

/** What the views may show: a reader has a token, a member sees the own keys only. */
export type Role = 'reader' | (typeof roles)[number]

/** Nothing where this tab has a token. */
export function useSession() {
  const token = useToken()
  const { data: session } = useQuery({ ...sessionQuery, enabled: token === null })
  return token === null ? session : undefined
}

export function useRole(): Role {
  return useSession()?.role ?? 'reader'
}

/** Ends this session, or all sessions of the member. */
export async function signOut(client: QueryClient, place: 'here' | 'everywhere'): Promise<void> {
  await call(place === 'here' ? 'DELETE /session' : 'DELETE /sessions', record({}))
  left = place
  client.setQueryData(sessionQuery.queryKey, null)
}
