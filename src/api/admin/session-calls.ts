/**
 * The calls of a browser about its own session: begin, show, end. They are the only ones that set or remove a
 * cookie. Beginning needs no credential but the one in its body.
 */
import type { Hono } from 'hono'
import type { z } from 'zod'
import { presentedSecret } from '../../access/authenticate.ts'
import { makeSessionSecret, oidcLifeMs } from '../../access/session.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import { fieldsOf } from '../../http/wire/fields.ts'
import { sessionCalls } from '../../operations/sessions/endpoints.ts'
import {
  noInput,
  refusalOfInput,
  type OperationContext,
  type OperationRefusal,
} from '../../operations/operation.ts'
import { personOf, type OperatorOidc } from '../../operations/sessions/person.ts'
import { beginSession, operatorsOwn, viewSession } from '../../operations/sessions/sessions.ts'
import { placesOf, readInput } from './input.ts'
import { judgeSignIn } from './own-origin.ts'
import {
  answerRefusal,
  apiPath,
  refuseOtherMethods,
  type Environment,
  type Request,
} from './request.ts'
import { printCookie, printRemovals, readCookie } from './session-cookie.ts'
import { byToken, type SignInParts } from './sign-in.ts'

export interface SessionCallParts extends SignInParts {
  readonly operations: Omit<OperationContext, 'actor'>
  /** Undefined where operators do not sign in by OpenID Connect. */
  readonly oidc: OperatorOidc | undefined
}

const path = `${apiPath}${sessionCalls.begin.path}`
const beginPlaces = placesOf(sessionCalls.begin)
const oidcPlaces = placesOf(sessionCalls.oidc)

/** Before the other calls, which need a credential. */
export function addSignIn(app: Hono<Environment>, parts: SessionCallParts): void {
  app.post(path, async (request) => {
    const begun = await begin(request, parts)
    if (begun.kind === 'refusal') return answerRefusal(request, begun)
    request.header('set-cookie', begun.cookie)
    return request.json(begun.view)
  })
  app.get(`${path}/oidc`, (request) => request.json({ host: parts.oidc?.host ?? null }))
  app.post(`${path}/oidc`, async (request) => {
    const begun = await beginOidc(request, parts)
    if (begun.kind === 'refusal') return answerRefusal(request, begun)
    request.header('set-cookie', begun.cookie)
    return request.json({ url: begun.url })
  })
  refuseOtherMethods(app, `${path}/oidc`, ['GET', 'HEAD', 'POST'])
  // A page that opens looks whether there is a session. None is no fault, which browsers would report.
  app.get(path, async (request, next) => {
    const { incoming } = request.env
    const proof = readCookie(incoming) ?? presentedSecret(fieldsOf(incoming.rawHeaders))
    if (proof === undefined) return request.body(null, 204)
    await next()
    return undefined
  })
}

const noOidc = refuse(
  'operations.conflict',
  'Signing in by OpenID Connect is not set up here. Use an admin token, or a link of: turnpike console',
)

async function beginOidc({ env }: Request, { oidc, sessions, addressOf }: SessionCallParts) {
  const { incoming } = env
  const judged = judgeSignIn(incoming)
  if ('code' in judged) return judged
  const read = await readInput(env, {}, { row: sessionCalls.oidc, places: oidcPlaces })
  if (read.kind === 'refusal') return read
  const refusal = refusalOfInput(noInput, read.input) ?? sessions.countTry(addressOf(incoming))
  if (refusal !== undefined) return refusal
  if (oidc === undefined) return noOidc
  const browser = makeSessionSecret()
  const begun = await oidc.begin(browser)
  if (begun.kind === 'refusal') return begun
  const cookie = `${printCookie(browser, judged, 'oidc')}; Max-Age=${oidcLifeMs / 1_000}`
  return { ...begun, cookie }
}

async function begin(request: Request, parts: SessionCallParts) {
  const { incoming } = request.env
  const { begin: row } = sessionCalls
  const judged = judgeSignIn(incoming)
  if ('code' in judged) return judged
  const read = await readInput(request.env, {}, { row, places: beginPlaces })
  if (read.kind === 'refusal') return read
  const refusal = refusalOfInput(row.input, read.input)
  if (refusal !== undefined) return refusal
  const proof = await prove(request, row.input.parse(read.input), parts)
  if (proof.kind === 'refusal') return proof
  const begun = await beginSession(parts.operations, { proof, replaced: readCookie(incoming) })
  if (begun.kind === 'refusal') return parts.sessions.refuse(begun, parts.addressOf(incoming))
  return { ...begun, cookie: printCookie(begun.secret, judged) }
}

async function prove(
  request: Request,
  given: z.output<typeof sessionCalls.begin.input>,
  parts: SessionCallParts,
) {
  const { token, code, oidc } = given
  if (Object.values(given).filter((one) => one !== undefined).length !== 1)
    return refuse('operations.invalid', 'Give one of token, code and oidc.')
  if (code !== undefined) return { kind: 'code', code } as const
  if (oidc !== undefined) return proveByOidc(request, oidc, parts)
  const operator = await byToken(parts, request.env.incoming, token)
  if (operator.kind === 'refusal') return operator
  if (operator.role === 'credits')
    return refuse('access.role_insufficient', 'A token with the role credits has no sessions.')
  return { kind: 'token', tokenId: operator.tokenId } as const
}

async function proveByOidc({ env }: Request, query: string, parts: SessionCallParts) {
  const { oidc, sessions, addressOf } = parts
  if (oidc === undefined) return noOidc
  const proven = await oidc.prove(readCookie(env.incoming, 'oidc'), query)
  const person = proven.kind === 'refusal' ? proven : personOf(proven.claims, oidc)
  return person.kind === 'refusal' ? sessions.refuse(person, addressOf(env.incoming)) : person
}

/** Behind the check of the credential. */
export function addSessionCalls(app: Hono<Environment>, parts: SessionCallParts): void {
  app.get(path, (request) => {
    const { session } = request.get('operator')
    return session === undefined
      ? answerRefusal(request, noSession)
      : request.json(viewSession(session))
  })
  app.delete(path, async (request) => {
    const { session, tokenId } = request.get('operator')
    if (session === undefined) return answerRefusal(request, noSession)
    await operatorsOwn.end({ ...parts.operations, actor: tokenId }, session.idHash)
    for (const removal of printRemovals()) request.header('set-cookie', removal, { append: true })
    return request.json({ ended: 1 })
  })
}

const noSession: Refusal | OperationRefusal = refuse(
  'operations.not_found',
  'This request has a token and no session. Only browsers have sessions.',
)
