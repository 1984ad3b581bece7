/**
 * Who sends a request to the admin listener: the admin token in its headers, or the session in its cookie. A
 * token wins where both are there. A cookie counts for the admin API alone, and only from the console itself.
 */
import type { IncomingMessage } from 'node:http'
import { presentedSecret, type Authenticate } from '../../access/authenticate.ts'
import type { AdminRole } from '../../access/key.ts'
import type { LiveSession, Sessions, TokenOwner } from '../../access/session.ts'
import type { Clock } from '../../base/clock.ts'
import type { Refusal } from '../../base/errors.ts'
import { fieldsOf } from '../../http/wire/fields.ts'
import { isPerson, refusalOfCrossSite } from './own-origin.ts'
import { readCookie } from './session-cookie.ts'

export interface SignInParts {
  readonly clock: Clock
  readonly authenticate: Authenticate
  readonly sessions: Pick<Sessions<TokenOwner>, 'find' | 'refuse' | 'countTry'>
  /** Finds the address of a client from its connection and headers. */
  readonly addressOf: (incoming: IncomingMessage) => string | undefined
}

export interface Operator {
  readonly kind: 'operator'
  readonly tokenId: string
  readonly role: AdminRole
  /** Undefined where the token itself is in the headers. */
  readonly session: LiveSession<TokenOwner> | undefined
}

/** `isFollowUp`: the request has been admitted before, and goes on. */
export async function signIn(
  parts: SignInParts,
  incoming: IncomingMessage,
  { isFollowUp }: { readonly isFollowUp: boolean } = { isFollowUp: false },
): Promise<Operator | Refusal> {
  const cookie = mayHaveCookie(incoming) ? readCookie(incoming) : undefined
  if (cookie === undefined)
    return byToken(parts, incoming, presentedSecret(fieldsOf(incoming.rawHeaders)))
  const crossSite = refusalOfCrossSite(incoming)
  const address = parts.addressOf(incoming)
  const isInUse = crossSite === undefined && isPerson(incoming) && !isFollowUp
  const session = await parts.sessions.find(cookie, { address, isPerson: isInUse })
  if (session.kind === 'refusal') return session
  if (crossSite !== undefined) return crossSite
  return { kind: 'operator', tokenId: session.ownerId, role: session.owner.role, session }
}

/** Checks an admin token, wherever it stands. */
export async function byToken(
  { authenticate, addressOf, clock }: SignInParts,
  incoming: IncomingMessage,
  secret: string | undefined,
): Promise<Operator | Refusal> {
  const caller = { address: addressOf(incoming), nowMs: clock.now() }
  const principal = await authenticate(secret, 'admin', caller)
  if (principal.kind === 'refusal') return principal
  const { keyId: tokenId, role = 'viewer' } = principal
  return { kind: 'operator', tokenId, role, session: undefined }
}

function mayHaveCookie({ headers, url = '' }: IncomingMessage): boolean {
  const sent = [headers.authorization, headers['x-api-key'], headers['api-key']]
  if (sent.some((value) => value !== undefined)) return false
  return url.startsWith('/admin/v1/')
}
