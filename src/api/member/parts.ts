/** What the member API needs of the gateway. */
import type { Member } from '../../access/member-store.ts'
import type { Sessions } from '../../access/session.ts'
import type { SignInMails } from '../../operations/members/sign-in-mails.ts'
import type { OperationContext } from '../../operations/operation.ts'
import type { OidcClient } from '../../operations/sessions/oidc.ts'
import type { HolderApiParts } from '../usage/holder-api.ts'
import type { OwnCookies } from './own-page.ts'

export interface MemberApiParts extends Omit<HolderApiParts, 'authenticate'> {
  /** The setting, without a slash at its end. */
  readonly publicUrl: string
  readonly cookies: OwnCookies
  readonly sessions: Sessions<Member>
  readonly operations: Omit<OperationContext, 'actor'>
  /** Undefined where no mail server is set. */
  readonly signInMails: SignInMails | undefined
  /** Undefined where no OpenID Connect provider is set. */
  readonly oidc: OidcClient | undefined
  readonly bodyTimeoutMs: number
  /** Resolves when this gateway works with all that is stored by now. */
  readonly catchUp: () => Promise<void>
  readonly onFault: (error: unknown) => void
}
