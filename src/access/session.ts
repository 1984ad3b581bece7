/**
 * A session: a random value in a cookie that has the rights of one admin token for a time. Invariant:
 * a session is valid only while its token is, which every request reads anew, so that what ends a session or
 * a token on one gateway ends it on all of them.
 */
import { randomBytes } from 'node:crypto'
import { hourMs, minuteMs, type Clock } from '../base/clock.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import type { Database } from '../storage/database.ts'
import type { FailedSignIns } from './failed-sign-ins.ts'
import { hashSecret, sessionRoleOf, type OperatorRole } from './key.ts'
import { findKey, type KeyRow } from './key-store.ts'
import type { KeyUses } from './key-uses.ts'
import { findSessionRow, noteSessionUse, type SessionRow } from './session-store.ts'

/** However much it is used. */
export const sessionLengthMs = 12 * hourMs
export const sessionIdleMs = 30 * minuteMs
/** The oldest sessions of a token end beyond it. */
export const sessionsPerTokenMax = 20
export const signInCodeLifeMs = 5 * minuteMs
/** A use within it is not written. */
const noteIntervalMs = minuteMs

/** A session that may act now. */
export interface LiveSession extends SessionRow {
  readonly kind: 'session'
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

const sessionEnded = refuse(
  'access.session_invalid',
  'You are not signed in, or your session has ended. Sign in again.',
)

interface SessionParts {
  readonly clock: Clock
  readonly database: Database
  readonly failures: FailedSignIns
  readonly uses: Pick<KeyUses, 'note'>
  /** Called where a use could not be written. */
  readonly onError: (error: unknown) => void
  /** Called for each request without a valid session, code or token. */
  readonly onFailed: (failed: {
    readonly kind: 'admin'
    readonly address: string | undefined
  }) => void
}

export class Sessions {
  readonly #parts: SessionParts

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Finds the session of a cookie, or refuses. */
  async find(presented: string, { address, isPerson }: Caller): Promise<LiveSession | Refusal> {
    const { clock, failures, uses } = this.#parts
    const nowMs = clock.now()
    const idHash = hashSessionSecret(presented)
    if (idHash === undefined) return this.refuse(sessionEnded, address)
    const session = await failures.lookUp(address, nowMs, () => this.#read(idHash, nowMs))
    if (session === undefined) return this.refuse(sessionEnded, address)
    uses.note(session.tokenId, nowMs)
    if (isPerson && nowMs - session.lastUsedAtMs >= noteIntervalMs)
      await this.#noteUse(idHash, nowMs)
    return session
  }

  /** Where the store cannot be written, such as on a full disk, an operator can still read. */
  async #noteUse(idHash: string, atMs: number): Promise<void> {
    const { database, onError } = this.#parts
    const write = database.transact((transaction) => noteSessionUse(transaction, { idHash, atMs }))
    await write.catch(onError)
  }

  /** Counts a failed sign-in of the address, and returns the refusal that it gets. */
  refuse(refusal: Refusal, address: string | undefined): Refusal {
    const { clock, failures, onFailed } = this.#parts
    onFailed({ kind: 'admin', address })
    return failures.note(address, clock.now()) ?? refusal
  }

  async #read(idHash: string, nowMs: number): Promise<LiveSession | undefined> {
    const { database } = this.#parts
    const row = await findSessionRow(database, idHash)
    if (row === undefined || row.expiresAtMs <= nowMs) return undefined
    if (row.lastUsedAtMs <= nowMs - sessionIdleMs) return undefined
    const token = await findKey(database, row.tokenId)
    if (!isUsableToken(token, nowMs)) return undefined
    return { ...row, kind: 'session', tokenName: token.name, role: sessionRoleOf(token) }
  }
}
