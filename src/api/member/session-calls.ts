/**
 * The calls of a browser about its own session: ask for a link or the way to a provider, begin, show, end.
 * They are the only ones that set or remove a cookie. Asking and beginning need no session.
 */
import { hashSecret } from '../../access/key.ts'
import type { Member } from '../../access/member-store.ts'
import { makeSessionSecret, oidcLifeMs, type LiveSession } from '../../access/session.ts'
import { minuteMs } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { IncomingRequest } from '../../http/server/request.ts'
import {
  beginMemberSession,
  membersOwn,
  viewMemberSession,
} from '../../operations/members/member-sessions.ts'
import { ownCalls } from '../../operations/members/own-endpoints.ts'
import { codeOfAddress } from '../../operations/members/proven-address.ts'
import { signInLinkLifeMs, type Asked } from '../../operations/members/sign-in-mails.ts'
import { checkSignUp } from '../../operations/members/sign-up.ts'
import { refusalOfInput, type OperationRefusal } from '../../operations/operation.ts'
import type { MemberApiParts } from './parts.ts'

/** What a call answers; `afterwards` begins when the answer is on its way. */
export interface OwnAnswer {
  readonly status: number
  readonly text: string
  readonly cookies?: readonly string[]
  readonly afterwards?: () => void
}

type Answered = OwnAnswer | Refusal | OperationRefusal

export const unknownPath = refuse('http.not_found', 'Unknown path of the member API.')

const noMail = refuse(
  'operations.conflict',
  'Signing in by mail is not set up here. Ask the operator of this gateway.',
)

/** The answer says nothing about the address; the work begins afterwards. */
export function askForLink(
  request: IncomingRequest,
  input: unknown,
  parts: MemberApiParts,
): Answered {
  const refusal = refusalOfInput(ownCalls.signIn.input, input)
  if (refusal !== undefined) return refusal
  const tooMany = parts.sessions.countTry(request.clientAddress)
  return tooMany ?? answerByMail(ownCalls.signIn.input.parse(input), parts)
}

/** Of the address it looks at the domain only. */
export async function askToSignUp(
  request: IncomingRequest,
  input: unknown,
  parts: MemberApiParts,
): Promise<Answered> {
  const { operations, sessions } = parts
  if (operations.signUp === undefined) return unknownPath
  const refusal = refusalOfInput(ownCalls.signUp.input, input)
  if (refusal !== undefined) return refusal
  const address = request.clientAddress
  const tooMany = sessions.countTry(address)
  if (tooMany !== undefined) return tooMany
  const { email, code, language } = ownCalls.signUp.input.parse(input)
  const checked = await checkSignUp({ ...operations, address }, operations.signUp, { email, code })
  if (checked.kind === 'refusal') return checked
  return answerByMail({ email, signUp: { language, invitationHash: checked.value } }, parts)
}

function answerByMail(
  asked: Omit<Asked, 'browserHash'>,
  { signInMails, cookies }: MemberApiParts,
): Answered {
  if (signInMails === undefined) return noMail
  const browser = makeSessionSecret()
  return {
    status: 202,
    text: JSON.stringify({ email: asked.email, minutes: signInLinkLifeMs / minuteMs }),
    cookies: [cookies.print('sign-in', browser, signInLinkLifeMs)],
    afterwards: () => signInMails.ask({ ...asked, browserHash: hashSecret(browser) }),
  }
}

const noOidc = refuse(
  'operations.conflict',
  'Signing in by OpenID Connect is not set up here. Ask the operator of this gateway.',
)

export async function beginOidc(
  request: IncomingRequest,
  { oidc, sessions, cookies }: MemberApiParts,
): Promise<Answered> {
  const tooMany = sessions.countTry(request.clientAddress)
  if (tooMany !== undefined) return tooMany
  if (oidc === undefined) return noOidc
  const browser = makeSessionSecret()
  const begun = await oidc.begin(browser)
  if (begun.kind === 'refusal') return begun
  return {
    status: 200,
    text: JSON.stringify({ url: begun.url }),
    cookies: [cookies.print('sign-in', browser, oidcLifeMs)],
  }
}

export async function beginSession(
  request: IncomingRequest,
  input: unknown,
  parts: MemberApiParts,
): Promise<Answered> {
  const { operations, sessions, cookies } = parts
  const refusal = refusalOfInput(ownCalls.begin.input, input)
  if (refusal !== undefined) return refusal
  const { oidc: query, ...asked } = ownCalls.begin.input.parse(input)
  const browser = cookies.read(request, 'sign-in')
  const proven =
    query === undefined
      ? ({ kind: 'code', code: asked.code ?? '' } as const)
      : await prove(query, browser, parts)
  if (proven.kind === 'refusal') return sessions.refuse(proven, request.clientAddress)
  const begun = await beginMemberSession(operations, {
    ...asked,
    code: proven.code,
    browser,
    replaced: cookies.read(request, 'session'),
  })
  if ('code' in begun)
    return begun.code === 'access.sign_in_link_invalid'
      ? sessions.refuse(begun, request.clientAddress)
      : begun
  const { view, secret } = begun
  const text = JSON.stringify(view)
  if (secret === undefined) return { status: 200, text }
  return {
    status: 200,
    text,
    cookies: [cookies.print('session', secret), cookies.print('sign-in', '', 0)],
  }
}

/** Returns the code of a link for a person who has returned from the provider. */
async function prove(
  query: string,
  browser: string | undefined,
  { oidc, operations }: MemberApiParts,
) {
  if (oidc === undefined) return noOidc
  const proven = await oidc.prove(browser, query)
  if (proven.kind === 'refusal') return proven
  return codeOfAddress(operations, proven.claims, proven.browser)
}

export async function showSession(
  session: LiveSession<Member>,
  { operations }: MemberApiParts,
): Promise<OwnAnswer> {
  const view = await viewMemberSession(operations.database, session)
  return { status: 200, text: JSON.stringify(view) }
}

export async function endSession(
  session: LiveSession<Member>,
  { operations, cookies }: MemberApiParts,
): Promise<OwnAnswer> {
  await membersOwn.end({ ...operations, actor: session.ownerId }, session.idHash)
  return {
    status: 200,
    text: JSON.stringify({ ended: 1 }),
    cookies: [cookies.print('session', '', 0)],
  }
}
