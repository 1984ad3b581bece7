/** Members as tests make them: invited by mail that goes nowhere, or into a list. */
import { memberSessions } from '../../src/access/session-store.ts'
import { addSession } from '../../src/access/session.ts'
import type { Mail } from '../../src/operations/alerts/mailer.ts'
import type { ReadyMailing } from '../../src/operations/members/mailing.ts'
import { inviteMember as invite } from '../../src/operations/members/members.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { MemberBrowser } from './member-browser.ts'

/** Takes every mail, into `mails`. */
export function mailingInto(mails: Mail[]): ReadyMailing {
  return {
    kind: 'ready',
    publicUrl: 'https://gateway.example',
    operatorName: 'Acme AI',
    send(mail) {
      mails.push(mail)
      return Promise.resolve({ kind: 'accepted' })
    },
  }
}

export async function inviteMember(
  context: OperationContext,
  input: { readonly account: string; readonly email: string; readonly role?: 'owner' | 'member' },
) {
  return valueOf(await invite({ ...context, mailing: mailingInto([]) }, input))
}

/** Signs the member in without a mail, at the gateway at `url`. */
export async function openMemberSession(
  { database, clock }: OperationContext,
  url: string,
  memberId: string,
): Promise<MemberBrowser> {
  const { secret } = await database.transact((transaction) =>
    addSession(transaction, memberSessions, { ownerId: memberId, nowMs: clock.now() }),
  )
  const browser = new MemberBrowser(url)
  browser.cookies.set('__Host-turnpike-member', secret)
  return browser
}
