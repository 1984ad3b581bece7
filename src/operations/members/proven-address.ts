/** Lets in the member whose address an OpenID Connect provider has verified, as a link by mail would. */
import { hashSecret } from '../../access/key.ts'
import { listMembersByEmail } from '../../access/member-store.ts'
import { makeSessionSecret, oidcLifeMs } from '../../access/session.ts'
import { insertSignInLink } from '../../access/sign-in-link-store.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { OperationContext } from '../operation.ts'
import type { Claims } from '../sessions/oidc.ts'
import { memberEmail } from './members.ts'

/** Returns the code of a link for the browser in which the person has returned. */
export async function codeOfAddress(
  { clock, database }: Pick<OperationContext, 'clock' | 'database'>,
  claims: Claims,
  browser: string,
): Promise<{ readonly kind: 'code'; readonly code: string } | Refusal> {
  const { data: email } = memberEmail.safeParse(claims['email'])
  if (email === undefined || claims['email_verified'] !== true) return notVerified
  const code = makeSessionSecret()
  const [codeHash, browserHash] = [hashSecret(code), hashSecret(browser)]
  const nowMs = clock.now()
  return database.transact(async (transaction) => {
    const [member] = await listMembersByEmail(transaction, email)
    if (member === undefined) return refuse('access.oidc_refused', noMember(email))
    // It is no mail: without a domain the bound of mails does not count it.
    const link = { codeHash, browserHash, email, domain: '', expiresAtMs: nowMs + oidcLifeMs }
    const only = { isSignUp: false, invitationHash: undefined }
    await insertSignInLink(transaction, { ...link, ...only }, nowMs)
    return { kind: 'code', code }
  })
}

const notVerified = refuse(
  'access.oidc_refused',
  'The provider has not verified an e-mail address of yours. Verify it there, then sign in again.',
)

function noMember(email: string): string {
  return `No account here has a member with the address ${email}. Ask for an invitation to it.`
}
