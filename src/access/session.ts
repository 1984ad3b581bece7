/**
 * A session: a random value in a cookie that has the rights of its owner for a time, an admin token or a
 * member. Invariant: a session is valid only while its owner is, which every request reads anew, so that
 * what ends a session or its owner on one gateway ends it on all of them.
 */
import { randomBytes } from 'node:crypto'
import { hourMs, minuteMs, type Clock } from '../base/clock.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import type { Database, Queryable, Transaction } from '../storage/database.ts'
import type { FailedSignIns } from './failed-sign-ins.ts'
import { hashSecret, operatorRoles, sessionRoleOf, type OperatorRole } from './key.ts'
import { findKey, type KeyRow } from './key-store.ts'
import { findMember, type Member } from './member-store.ts'
import type { SessionRow, SessionStore } from './session-store.ts'

/** However much it is used. */
const sessionLengthMs = 12 * hourMs
export const sessionIdleMs = 30 * minuteMs
/** The oldest sessions of an owner end beyond it. */
const sessionsPerOwnerMax = 20
export const signInCodeLifeMs = 5 * minuteMs
/** From the way to an OpenID Connect provider until the way back. */
export const oidcLifeMs = 15 * minuteMs
/** A use within it is not written. */
const noteIntervalMs = minuteMs

/** A session that may act now. */
export interface LiveSession<Owner> extends SessionRow {
  readonly kind: 'session'
  readonly owner: Owner
}

/** An admin token, or a person who signs in by OpenID Connect, as its sessions show it. */
export interface TokenOwner {
  readonly tokenName: string
  readonly role: OperatorRole
}

const secretForm = /^[A-Za-z0-9_-]{43}$/

/** Makes the value of a cookie or a link: 256 random bits. */
export function makeSessionSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Undefined for text that cannot be one. */
export function hashSessionSecret(presented: string): string | undefined {
  return secretForm.test(presented) ? hashSecret(presented) : undefined
}

/** Adds a session with a new secret; those that are over go, and the oldest ones beyond the most. */
export async function addSession(
  transaction: Transaction,
  store: SessionStore,
  {
    ownerId,
    nowMs,
    endsByMs,
  }: {
    readonly ownerId: string
    readonly nowMs: number
    /** The owner itself ends then. */
    readonly endsByMs?: number | undefined
  },
): Promise<{ readonly secret: string; readonly session: SessionRow }> {
  const secret = makeSessionSecret()
  const session = {
    idHash: hashSecret(secret),
    ownerId,
    createdAtMs: nowMs,
    lastUsedAtMs: nowMs,
    expiresAtMs: Math.min(nowMs + sessionLengthMs, endsByMs ?? Number.MAX_SAFE_INTEGER),
  }
  await store.deleteEnded(transaction, agesAt(nowMs))
  await store.insert(transaction, session)
  await store.deleteOldest(transaction, { ownerId, countMax: sessionsPerOwnerMax })
  return { secret, session }
}

/** Which sessions are over at this time. */
export function agesAt(nowMs: number) {
  return { nowMs, usedSinceMs: nowMs - sessionIdleMs }
}

/** Whether an admin token may act, itself or by its sessions. */
export function isUsableToken(key: KeyRow | undefined, nowMs: number): key is KeyRow {
  if (key?.kind !== 'admin' || key.revokedAtMs !== undefined) return false
  return key.expiresAtMs === undefined || key.expiresAtMs > nowMs
}

interface Caller {
  readonly address: string | undefined
  /** A person has caused the request, so the session is in use. */
  readonly isPerson: boolean
}

export const sessionEnded = refuse(
  'access.session_invalid',
  'You are not signed in, or your session has ended. Sign in again.',
)

/** Finds the owner of a session where it may act now. */
type FindOwner<Owner> = (
  queryable: Queryable,
  ownerId: string,
  nowMs: number,
) => Promise<Owner | undefined>

const personForm = new RegExp(`^oidc:(?<role>${operatorRoles.join('|')}):(?<tokenName>.+)$`)

/** Returns the owner of the sessions of a person by OpenID Connect; the role is that of the sign-in. */
export function personId({ tokenName, role }: TokenOwner): string {
  return `oidc:${role}:${tokenName}`
}

/** By an admin token, or by OpenID Connect; without its settings those sessions are over. */
export const findOperatorOwner =
  ({ hasOidc }: { readonly hasOidc: boolean }): FindOwner<TokenOwner> =>
  (queryable, id, nowMs) => {
    const { role, tokenName } = personForm.exec(id)?.groups ?? {}
    const known = operatorRoles.find((one) => one === role)
    if (known === undefined || tokenName === undefined) return findTokenOwner(queryable, id, nowMs)
    return Promise.resolve(hasOidc ? { tokenName, role: known } : undefined)
  }

const findTokenOwner: FindOwner<TokenOwner> = async (queryable, id, nowMs) => {
  const token = await findKey(queryable, id)
  if (!isUsableToken(token, nowMs)) return undefined
  return { tokenName: token.name, role: sessionRoleOf(token) }
}

export const findMemberOwner: FindOwner<Member> = (queryable, id) => findMember(queryable, id)

interface SessionParts<Owner> {
  readonly clock: Clock
  readonly database: Database
  readonly store: SessionStore
  readonly findOwner: FindOwner<Owner>
  readonly failures: FailedSignIns
  /** Called for each use. */
  readonly onUsed?: (ownerId: string, nowMs: number) => void
  /** Called where a use could not be written. */
  readonly onError: (error: unknown) => void
  /** Called for each request without a valid session, code or token. */
  readonly onFailed: (address: string | undefined) => void
}

export class Sessions<Owner> {
  readonly #parts: SessionParts<Owner>

  constructor(parts: SessionParts<Owner>) {
    this.#parts = parts
  }

  /** Finds the session of a cookie, or refuses. */
  async find(
    presented: string,
    { address, isPerson }: Caller,
  ): Promise<LiveSession<Owner> | Refusal> {
    const { clock, failures, onUsed } = this.#parts
    const nowMs = clock.now()
    const idHash = hashSessionSecret(presented)
    if (idHash === undefined) return this.refuse(sessionEnded, address)
    const session = await failures.lookUp(address, nowMs, () => this.#read(idHash, nowMs))
    if (session === undefined) return this.refuse(sessionEnded, address)
    onUsed?.(session.ownerId, nowMs)
    if (isPerson && nowMs - session.lastUsedAtMs >= noteIntervalMs)
      await this.#noteUse(idHash, nowMs)
    return session
  }

  /** Where the store cannot be written, such as on a full disk, its owner can still read. */
  async #noteUse(idHash: string, atMs: number): Promise<void> {
    const { database, store, onError } = this.#parts
    const write = database.transact((transaction) => store.noteUse(transaction, { idHash, atMs }))
    await write.catch(onError)
  }

  /** Counts a try to sign in that has no credential yet; a refusal where the address made too many. */
  countTry(address: string | undefined): Refusal | undefined {
    const { clock, failures } = this.#parts
    return failures.note(address, clock.now())
  }

  /** Counts a failed sign-in of the address, and returns the refusal that it gets. */
  refuse(refusal: Refusal, address: string | undefined): Refusal {
    const { clock, failures, onFailed } = this.#parts
    onFailed(address)
    return failures.note(address, clock.now()) ?? refusal
  }

  async #read(idHash: string, nowMs: number): Promise<LiveSession<Owner> | undefined> {
    const { database, store, findOwner } = this.#parts
    const row = await store.find(database, idHash)
    if (row === undefined || row.expiresAtMs <= nowMs) return undefined
    if (row.lastUsedAtMs <= nowMs - sessionIdleMs) return undefined
    const owner = await findOwner(database, row.ownerId, nowMs)
    return owner && { ...row, kind: 'session', owner }
  }
}
