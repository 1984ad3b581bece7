/**
 * Sessions of operators: begin, list, end, and links that begin one. Each acts for one admin token, or for a
 * person by OpenID Connect with the role that a claim gave; the log of actions names either. The secret of a
 * cookie or a link leaves this file once; the store keeps its hash.
 */
import { z } from 'zod'
import { findKey, listKeys } from '../../access/key-store.ts'
import {
  addSession,
  hashSessionSecret,
  isUsableToken,
  makeSessionSecret,
  personId,
  sessionIdleMs,
  signInCodeLifeMs,
  type LiveSession,
  type TokenOwner,
} from '../../access/session.ts'
import { insertSignInCode, operatorSessions, takeSignInCode } from '../../access/session-store.ts'
import { minuteMs } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import { hashSecret, operatorRoles, sessionRoleOf } from '../../access/key.ts'
import type { Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import { moment, type Answer } from '../answer-forms.ts'
import { conflict, noInput, operation, timeText, type OperationContext } from '../operation.ts'
import { ownSessions } from './own-sessions.ts'

export const sessionForm = z.strictObject({
  token_id: z
    .string()
    .meta({ description: 'The admin token whose rights the session has, or `oidc:ROLE:PERSON`.' }),
  token_name: z.string(),
  role: z.enum(operatorRoles),
  created_at: moment,
  expires_at: moment.meta({ description: 'The session ends then, however much it is used.' }),
  idle_minutes: z.int().meta({ description: 'It ends after so long without use by a person.' }),
})

type SessionView = Answer<typeof sessionForm>

export function viewSession(session: Omit<LiveSession<TokenOwner>, 'kind'>): SessionView {
  return {
    token_id: session.ownerId,
    token_name: session.owner.tokenName,
    role: session.owner.role,
    created_at: timeText(session.createdAtMs),
    expires_at: timeText(session.expiresAtMs),
    idle_minutes: sessionIdleMs / minuteMs,
  }
}

/** A session that has begun; `secret` is for the cookie. */
export interface NewSession {
  readonly kind: 'session'
  readonly view: SessionView
  readonly secret: string
}

type Proof =
  | { readonly kind: 'token'; readonly tokenId: string }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'oidc'; readonly person: TokenOwner }

const codeInvalid = refuse(
  'access.sign_in_code_invalid',
  'This sign-in link has been used, has expired, or is incomplete. Get a new one with: turnpike console',
)

/**
 * Begins a session, always with a new secret. `replaced` is the secret that the browser has had before: that
 * session ends. The caller has checked the token; a code is checked and used up here.
 */
export function beginSession(
  context: Omit<OperationContext, 'actor'>,
  { proof, replaced }: { readonly proof: Proof; readonly replaced: string | undefined },
): Promise<NewSession | Refusal> {
  const nowMs = context.clock.now()
  return context.database.transact(async (transaction) => {
    const found = await findProven(transaction, proof, nowMs)
    if (found === undefined) return codeInvalid
    const { owner, ...whose } = found
    const replacedHash = replaced === undefined ? undefined : hashSessionSecret(replaced)
    if (replacedHash !== undefined) await operatorSessions.delete(transaction, replacedHash)
    const { secret, session } = await addSession(transaction, operatorSessions, { ...whose, nowMs })
    const { ownerId: subject } = whose
    const actor = { ...context, actor: subject }
    const detail = { by: proof.kind }
    await recordAction(transaction, actor, { action: 'session.create', subject, detail })
    return { kind: 'session', view: viewSession({ ...session, owner }), secret }
  })
}

/** Finds whose session it will be; undefined where the code or the token is not valid. */
async function findProven(transaction: Transaction, proof: Proof, nowMs: number) {
  if (proof.kind === 'oidc') return { ownerId: personId(proof.person), owner: proof.person }
  const tokenId = proof.kind === 'token' ? proof.tokenId : await useCode(transaction, proof, nowMs)
  const token = tokenId === undefined ? undefined : await findKey(transaction, tokenId)
  if (!isUsableToken(token, nowMs)) return undefined
  const owner = { tokenName: token.name, role: sessionRoleOf(token) }
  return { ownerId: token.id, owner, endsByMs: token.expiresAtMs }
}

async function useCode(
  transaction: Transaction,
  { code }: { readonly code: string },
  nowMs: number,
): Promise<string | undefined> {
  const codeHash = hashSessionSecret(code)
  return codeHash === undefined ? undefined : takeSignInCode(transaction, { codeHash, nowMs })
}

/** Of the operator who asks. */
export const operatorsOwn = ownSessions(operatorSessions, {
  end: 'session.end',
  endAll: 'session.end-all',
})

/** A code that begins a session once, soon. */
export interface SignInCode {
  readonly code: string
  readonly token_id: string
  readonly token_name: string
  readonly expires_at: string
}

/**
 * Makes a code for the oldest token with the role owner that is valid. Its session has that token's rights,
 * so only who may read and write the store itself calls this.
 */
export const createSignInCode = operation({ input: noInput }, (context): Promise<SignInCode> => {
  const { clock, database } = context
  return database.transact(async (transaction) => {
    const nowMs = clock.now()
    const tokens = await listKeys(transaction, { kind: 'admin', accountId: undefined })
    const token = tokens.find((one) => one.role === 'owner' && isUsableToken(one, nowMs))
    if (token === undefined)
      throw conflict(
        'There is no admin token with the role owner. Create one: turnpike admin-token create',
      )
    const code = makeSessionSecret()
    const expiresAtMs = nowMs + signInCodeLifeMs
    const row = { codeHash: hashSecret(code), tokenId: token.id, expiresAtMs }
    await insertSignInCode(transaction, row, nowMs)
    await recordAction(transaction, context, { action: 'sign-in-code.create', subject: token.id })
    return {
      code,
      token_id: token.id,
      token_name: token.name,
      expires_at: timeText(expiresAtMs),
    }
  })
})
