/**
 * Mails links that sign in, or make an account for an address without one. The work begins when the answer
 * has been given, which is the same for every address, so that neither the answer nor its time says whether
 * an address exists. Bounded: in mails of an address and of its domain by the store, in work by this process.
 */
import { listMembersByEmail } from '../../access/member-store.ts'
import { hashSecret } from '../../access/key.ts'
import { makeSessionSecret } from '../../access/session.ts'
import { countSignInLinks, insertSignInLink } from '../../access/sign-in-link-store.ts'
import { minuteMs } from '../../base/clock.ts'
import { newId } from '../../base/id.ts'
import type { Language } from '../../base/languages.ts'
import { findAccount } from '../../ledger/account-store.ts'
import type { OperationContext } from '../operation.ts'
import type { ReadyMailing } from './mailing.ts'
import { linkMail } from './mails.ts'
import { domainOf } from './sign-up-rule.ts'

export const signInLinkLifeMs = 15 * minuteMs

/** Mails within the life of a link. */
const mailsPerAddressMax = 5
const mailsPerDomainMax = 200
/** Of all who sign up. */
const signUpMailsMax = 500
/** At once; more wait. */
const workMax = 4
/** What comes beyond it is dropped: its sender can ask again. */
const waitingMax = 1_000

export interface Asked {
  readonly email: string
  /** Of the value that the asking browser keeps. */
  readonly browserHash: string
  /** Undefined where only a member gets a mail. */
  readonly signUp?: {
    readonly language: Language
    /** Of the top-up code that the new account redeems. */
    readonly invitationHash: string | undefined
  }
}

interface SignInMailsParts {
  readonly operations: Pick<OperationContext, 'clock' | 'database'>
  readonly mailing: ReadyMailing
  /** Called where a mail could not be sent. */
  readonly onError: (error: unknown) => void
}

export class SignInMails {
  readonly #parts: SignInMailsParts
  readonly #waiting: Asked[] = []
  readonly #running = new Set<Promise<void>>()

  constructor(parts: SignInMailsParts) {
    this.#parts = parts
  }

  /** Returns at once, whatever becomes of it. */
  ask(asked: Asked): void {
    if (this.#waiting.length >= waitingMax) return
    this.#waiting.push(asked)
    this.#begin()
  }

  /** Drops what waits; resolves when nothing runs. */
  async close(): Promise<void> {
    this.#waiting.length = 0
    await Promise.all(this.#running)
  }

  #begin(): void {
    if (this.#running.size >= workMax) return
    const asked = this.#waiting.shift()
    if (asked === undefined) return
    const work = this.#send(asked)
      .catch((error: unknown) => this.#parts.onError(error))
      .finally(() => {
        this.#running.delete(work)
        this.#begin()
      })
    this.#running.add(work)
  }

  async #send(asked: Asked): Promise<void> {
    const { mailing } = this.#parts
    const made = await this.#makeLink(asked)
    if (made === undefined) return
    const { messageId, ...link } = made
    const mail = linkMail(mailing, link)
    const result = await mailing.send({ messageId, to: asked.email, ...mail })
    if (result.kind === 'failed')
      throw new Error(`A link to sign in could not be mailed: ${result.reason}`)
  }

  /** Undefined for an address that may get no mail, and for one that got enough. */
  async #makeLink({ email, browserHash, signUp }: Asked) {
    const { clock, database } = this.#parts.operations
    const [first] = await listMembersByEmail(database, email)
    if (first === undefined && signUp === undefined) return undefined
    const account = first && (await findAccount(database, first.accountId))
    const language: Language = account?.language ?? signUp?.language ?? 'en'
    const code = makeSessionSecret()
    const nowMs = clock.now()
    const isSignUp = first === undefined
    const link = {
      codeHash: hashSecret(code),
      browserHash,
      email,
      domain: domainOf(email),
      expiresAtMs: nowMs + signInLinkLifeMs,
      isSignUp,
      invitationHash: isSignUp ? signUp?.invitationHash : undefined,
    }
    const isMade = await database.transact(async (transaction) => {
      const count = await countSignInLinks(transaction, { ...link, nowMs })
      if (count.ofEmail >= mailsPerAddressMax || count.ofDomain >= mailsPerDomainMax) return false
      if (isSignUp && count.ofSignUps >= signUpMailsMax) return false
      await insertSignInLink(transaction, link, nowMs)
      return true
    })
    return isMade ? { code, language, isSignUp, messageId: newId('evt', nowMs) } : undefined
  }
}
