/**
 * The member API below `/account/v1` of the public listener: the rows of operations/members/own-endpoints.ts,
 * the calls about sessions, and the figures of `/v1/usage/…` for the member's account. The credential is the
 * session in a cookie, and only the account page itself may use it; keys and tokens are refused.
 */
import { presentedSecret } from '../../access/authenticate.ts'
import { memberRoles, type Member, type MemberRole } from '../../access/member-store.ts'
import { sessionEnded, type LiveSession } from '../../access/session.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import { sendReply } from '../../http/server/reply.ts'
import { readBody, type IncomingRequest } from '../../http/server/request.ts'
import type { ResponseWriter } from '../../http/server/response-writer.ts'
import type { SessionCall } from '../../operations/endpoint.ts'
import {
  ownCalls,
  ownEndpoints,
  type MemberEndpoint,
} from '../../operations/members/own-endpoints.ts'
import type { OperationRefusal } from '../../operations/operation.ts'
import { performCall } from '../admin/call.ts'
import { hasBody, parseInput, placesOf, type Places, type ReadInput } from '../admin/input.ts'
import { namedReply, refusalReply } from '../refusal-reply.ts'
import { answerHolder, findHolderRequest } from '../usage/holder-api.ts'
import { isPerson, isRead, refusalOfOtherPage } from './own-page.ts'
import type { MemberApiParts } from './parts.ts'
import {
  askForLink,
  askToSignUp,
  beginOidc,
  beginSession,
  endSession,
  showSession,
  unknownPath,
  type OwnAnswer,
} from './session-calls.ts'

const prefix = '/account/v1'

export function isMemberPath(path: string): boolean {
  return path.startsWith(`${prefix}/`)
}

interface Route {
  readonly row: MemberEndpoint | SessionCall
  readonly places: Places
  /** Of the path below the prefix; its groups are the fields in the path. */
  readonly pattern: RegExp
}

const routes: readonly Route[] = [...ownEndpoints, ...Object.values(ownCalls)].map((row) => ({
  row,
  places: placesOf(row),
  pattern: new RegExp(`^${row.path.replaceAll(/{(\w+)}/g, '(?<$1>[A-Za-z0-9_-]{1,256})')}$`),
}))

interface Target {
  readonly path: string
  readonly query: string
}

export async function serveMember(
  request: IncomingRequest,
  response: ResponseWriter,
  target: Target,
  parts: MemberApiParts,
): Promise<void> {
  response.addHeader('x-content-type-options', 'nosniff')
  response.addHeader('cross-origin-resource-policy', 'same-origin')
  const answer = await answerTo(request, response, target, parts)
  if (answer === undefined) return
  if ('kind' in answer) return sendReply(request, response, refusalReply(answer, parts.clock))
  const { status, text, cookies = [], afterwards } = answer
  const headers = [
    'content-type',
    'application/json',
    'cache-control',
    'no-store',
    'vary',
    'cookie',
  ]
  const set = cookies.flatMap((cookie) => ['set-cookie', cookie])
  const reply = { status, headers: [...headers, ...set], body: Buffer.from(text) }
  sendReply(request, response, namedReply(reply, parts.clock))
  afterwards?.()
}

type Answered = OwnAnswer | Refusal | OperationRefusal

const notForKeys = refuse(
  'access.credential_wrong_kind',
  'Keys and tokens do not work here. Sign in at /account/.',
)

/** Undefined where the answer is under way already, or the client has gone. */
async function answerTo(
  request: IncomingRequest,
  response: ResponseWriter,
  target: Target,
  parts: MemberApiParts,
): Promise<Answered | undefined> {
  const path = target.path.slice(prefix.length)
  const usage = findHolderRequest(`/v1${path}`)
  const found = routes.filter(({ pattern }) => pattern.test(path))
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const route = found.find(({ row }) => row.method === method)
  if (presentedSecret(request.fields) !== undefined) return notForKeys
  if (usage === undefined && found.length === 0) return unknownPath
  if (usage === undefined && route === undefined) {
    const allow = found.map(({ row }) => row.method).join(', ')
    return refuse('http.method_not_allowed', `Use ${allow} here.`, { allow })
  }
  const otherPage = refusalOfOtherPage(request, parts.publicUrl)
  if (route !== undefined && 'session' in route.row && route.row.session === 'begins') {
    if (otherPage !== undefined) return otherPage
    return answerStranger(request, response, { ...target, route }, parts)
  }
  const session = await findSession(request, otherPage === undefined, parts)
  if (session === undefined)
    return route?.row === ownCalls.show ? { status: 204, text: '' } : sessionEnded
  if ('code' in session) return session
  if (otherPage !== undefined) return otherPage
  request.place.showKey()
  if (usage !== undefined) {
    const { id: actor, accountId } = session.owner
    const who = { actor, accountId, member: session.owner }
    return answerHolder(request, response, { ...usage, query: target.query }, { ...parts, who })
  }
  if (route === undefined) return undefined
  return answerMember(request, response, { ...target, route, session }, parts)
}

async function findSession(
  request: IncomingRequest,
  isOwnPage: boolean,
  { sessions, cookies }: MemberApiParts,
): Promise<LiveSession<Member> | Refusal | undefined> {
  const cookie = cookies.read(request, 'session')
  if (cookie === undefined) return undefined
  const caller = { address: request.clientAddress, isPerson: isOwnPage && isPerson(request) }
  return sessions.find(cookie, caller)
}

async function answerStranger(
  request: IncomingRequest,
  response: ResponseWriter,
  asked: Target & { readonly route: Route },
  parts: MemberApiParts,
): Promise<Answered | undefined> {
  const read = await readRequest(request, response, asked, parts)
  if (read?.kind !== 'input') return read
  const { row } = asked.route
  if (row === ownCalls.signIn) return askForLink(request, read.input, parts)
  if (row === ownCalls.signUp) return askToSignUp(request, read.input, parts)
  if (row === ownCalls.oidc) return beginOidc(request, parts)
  return beginSession(request, read.input, parts)
}

type Asked = Target & { readonly route: Route; readonly session: LiveSession<Member> }

async function answerMember(
  request: IncomingRequest,
  response: ResponseWriter,
  asked: Asked,
  parts: MemberApiParts,
): Promise<Answered | undefined> {
  const { route, session } = asked
  const { row } = route
  if ('operation' in row && !includesRole(session.owner.role, row.role))
    return refuse('access.role_insufficient', `This needs the role ${row.role} in the account.`)
  const place = await parts.holderReads.enter(session.owner.accountId)
  if ('code' in place) return place
  try {
    const read = await readRequest(request, response, asked, parts)
    if (read?.kind !== 'input') return read
    if ('operation' in row)
      return await perform(request, { row, session, input: read.input }, parts)
    return await (row === ownCalls.show ? showSession : endSession)(session, parts)
  } finally {
    place.leave()
  }
}

function includesRole(role: MemberRole, least: MemberRole): boolean {
  return memberRoles.indexOf(role) >= memberRoles.indexOf(least)
}

async function perform(
  request: IncomingRequest,
  call: {
    readonly row: MemberEndpoint
    readonly session: LiveSession<Member>
    readonly input: Readonly<Record<string, unknown>>
  },
  parts: MemberApiParts,
): Promise<Answered> {
  const { row, session, input } = call
  const { id, accountId, role } = session.owner
  const context = {
    ...parts.operations,
    actor: id,
    session: session.idHash,
    member: { id, accountId, role },
    address: request.clientAddress,
  }
  const own = row.accountField === undefined ? {} : { [row.accountField]: accountId }
  const headers = { idempotencyKey: request.header('idempotency-key'), ifMatch: undefined }
  const answer = await performCall(row, context, { ...input, ...own }, headers)
  if (answer.kind === 'refusal') return answer
  // A change acts on this gateway before its answer is sent: a revoked key buys nothing more.
  if (!isRead(request)) await parts.catchUp().catch(parts.onFault)
  return { status: row.status ?? 200, text: answer.text }
}

/** Forms and single secrets are small. */
const bodyBytesMax = 65_536
const noBytes = Buffer.alloc(0)

async function readRequest(
  request: IncomingRequest,
  response: ResponseWriter,
  { path, query, route }: Target & { readonly route: Route },
  parts: MemberApiParts,
): Promise<ReadInput | undefined> {
  const { row, places, pattern } = route
  const bytes = hasBody(row) ? await readBytes(request, response, parts) : noBytes
  if (bytes === undefined || !Buffer.isBuffer(bytes)) return bytes
  const fields = { ...pattern.exec(path.slice(prefix.length))?.groups }
  return parseInput({ target: `?${query}`, path: fields, bytes }, { row, places })
}

async function readBytes(
  request: IncomingRequest,
  response: ResponseWriter,
  { clock, bodyTimeoutMs: timeoutMs }: MemberApiParts,
): Promise<Buffer | Refusal | undefined> {
  if (request.expectsContinue) response.sendContinue()
  const reading = await readBody(request.body, { bytesMax: bodyBytesMax, timeoutMs, clock })
  switch (reading.kind) {
    case 'body':
      return reading.body
    case 'refusal':
      return reading
    case 'too_large':
      return refuse('http.body_too_large', `The body may have at most ${bodyBytesMax} bytes here.`)
    case 'timed_out':
      return refuse('http.body_timeout', 'The request body did not arrive in time.')
    case 'client_gone':
      return undefined
  }
}
