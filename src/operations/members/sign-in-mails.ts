/**
 * Mails links that sign in. The work begins when the answer has been given, which is the same for every
 * address, so that neither the answer nor its time says whether an address exists. Bounded: in mails of an
 * address and of its domain by the store, in work by this process.
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

export const signInLinkLifeMs = 15 * minuteMs

/** Mails within the life of a link. */
const mailsPerAddressMax = 5
const mailsPerDomainMax = 200
/** At once; more wait. */
const workMax = 4
/** What comes beyond it is dropped: its sender can ask again. */
const waitingMax = 1_000

interface Asked {
  readonly email: string
  /** Of the value that the asking browser keeps. */
  readonly browserHash: string
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
    const { code, language, messageId } = made
    const mail = linkMail(mailing, language, code)
    const result = await mailing.send({ messageId, to: asked.email, ...mail })
    if (result.kind === 'failed')
      throw new Error(`A link to sign in could not be mailed: ${result.reason}`)
  }

  /** Undefined for an address without a member, and for one that got enough mails. */
  async #makeLink({ email, browserHash }: Asked) {
    const { clock, database } = this.#parts.operations
    const [first] = await listMembersByEmail(database, email)
    if (first === undefined) return undefined
    const account = await findAccount(database, first.accountId)
    const language: Language = account?.language ?? 'en'
    const code = makeSessionSecret()
    const domain = email.slice(email.lastIndexOf('@') + 1)
    const nowMs = clock.now()
    const isMade = await database.transact(async (transaction) => {
      const { ofEmail, ofDomain } = await countSignInLinks(transaction, { email, domain, nowMs })
      if (ofEmail >= mailsPerAddressMax || ofDomain >= mailsPerDomainMax) return false
      const expiresAtMs = nowMs + signInLinkLifeMs
      const link = { codeHash: hashSecret(code), browserHash, email, domain, expiresAtMs }
      await insertSignInLink(transaction, link, nowMs)
      return true
    })
    return isMade ? { code, language, messageId: newId('evt', nowMs) } : undefined
  }
}
