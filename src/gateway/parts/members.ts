/** Opens what members need, such as the mails that sign them in; nothing without the setting `public_url`. */
import { OwnCookies } from '../../api/member/own-page.ts'
import type { MemberApiParts } from '../../api/member/parts.ts'
import { SignInMails } from '../../operations/members/sign-in-mails.ts'
import type { Callers } from './callers.ts'
import { openMemberOidc } from './oidc.ts'
import type { Opening } from './opening.ts'
import type { Operators } from './operators.ts'

interface Below {
  readonly callers: Callers
  readonly operators: Operators
  readonly catchUp: () => Promise<void>
}

export type OpenMembers = Omit<MemberApiParts, 'holderReads' | 'holderReader' | 'isStoreAvailable'>

export async function openMembers(
  opening: Opening,
  { callers, operators, catchUp }: Below,
): Promise<OpenMembers | undefined> {
  const { config, effects, onError, opened, telemetry } = opening
  const { publicUrl, bodyTimeoutMs } = config
  if (publicUrl === undefined) return undefined
  const { operations } = operators
  const { mailing } = operations
  const signInMails =
    mailing?.kind === 'ready' ? new SignInMails({ operations, mailing, onError }) : undefined
  opened.defer(() => signInMails?.close())
  return {
    clock: effects.clock,
    publicUrl,
    cookies: new OwnCookies(publicUrl),
    sessions: callers.memberSessions,
    operations,
    signInMails,
    oidc: await openMemberOidc(opening),
    bodyTimeoutMs,
    catchUp,
    onFault: (error) => telemetry.fault(error, 'api'),
  }
}
