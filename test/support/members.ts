/** Members as tests make them: invited by mail that goes nowhere, or into a list. */
import type { Mail } from '../../src/operations/alerts/mailer.ts'
import type { Mailing } from '../../src/operations/members/mailing.ts'
import { inviteMember as invite } from '../../src/operations/members/members.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'

/** Takes every mail, into `mails`. */
export function mailingInto(mails: Mail[]): Mailing {
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
