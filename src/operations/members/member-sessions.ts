/**
 * Sessions of members: begun by a link that was mailed or made for an address that a provider has verified,
 * listed and ended by the member. A link works once, in
 * the browser that asked for it. Where an address belongs to several accounts, the member chooses one.
 */
import { z } from 'zod'
import {
  listMembersByEmail,
  memberRoles,
  updateMember,
  type Member,
} from '../../access/member-store.ts'
import {
  addSession,
  hashSessionSecret,
  sessionIdleMs,
  type LiveSession,
} from '../../access/session.ts'
import { memberSessions } from '../../access/session-store.ts'
import { findSignInLink, takeSignInLink } from '../../access/sign-in-link-store.ts'
import { minuteMs } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { Language } from '../../base/languages.ts'
import { findAccount } from '../../ledger/account-store.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { accountStatuses } from '../accounts/account-form.ts'
import { recordAction } from '../actions.ts'
import { moment, type Answer } from '../answer-forms.ts'
import {
  attempt,
  invalidField,
  timeText,
  type OperationContext,
  type OperationRefusal,
} from '../operation.ts'
import { ownSessions } from '../sessions/own-sessions.ts'
import { signUp } from './sign-up.ts'

export const memberSessionForm = z.strictObject({
  member_id: z.string(),
  email: z.string(),
  role: z.enum(memberRoles),
  account: z.strictObject({ id: z.string(), name: z.string(), status: z.enum(accountStatuses) }),
  created_at: moment,
  expires_at: moment.meta({ description: 'The session ends then, however much it is used.' }),
  idle_minutes: z.int().meta({ description: 'It ends after so long without use by a person.' }),
})

const choiceForm = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: z.enum(memberRoles),
})

/** `session` is null where the member has to choose one of `accounts`, with `code`. */
export const begunForm = z.strictObject({
  session: memberSessionForm.nullable(),
  code: z.string().nullable(),
  accounts: z.array(choiceForm),
})

export async function viewMemberSession(
  queryable: Queryable,
  { owner, createdAtMs, expiresAtMs }: Omit<LiveSession<Member>, 'kind'>,
): Promise<Answer<typeof memberSessionForm>> {
  const account = await findAccount(queryable, owner.accountId)
  return {
    member_id: owner.id,
    email: owner.email,
    role: owner.role,
    account: {
      id: owner.accountId,
      name: account?.name ?? '',
      status: account?.status ?? 'closed',
    },
    created_at: timeText(createdAtMs),
    expires_at: timeText(expiresAtMs),
    idle_minutes: sessionIdleMs / minuteMs,
  }
}

const linkInvalid = refuse(
  'access.sign_in_link_invalid',
  'This link has been used, has expired, is not the newest one, or was asked for in another browser. Ask for a new one.',
)

/** What a browser presents to sign in. */
interface Presented {
  readonly code: string
  /** What it has kept since it asked for the link. */
  readonly browser: string | undefined
  /** The id of the chosen account. */
  readonly account?: string | undefined
  /** Of the account that a link to sign up makes. */
  readonly name?: string | undefined
  /** Of the page. */
  readonly language: Language
  /** The secret of the session that it has had. */
  readonly replaced: string | undefined
}

interface Begun {
  readonly view: Answer<typeof begunForm>
  /** For the cookie; undefined where the member has to choose. */
  readonly secret: string | undefined
}

/** Begins a session, always with a new secret. The link stays good until an account is chosen. */
export async function beginMemberSession(
  context: Omit<OperationContext, 'actor'>,
  presented: Presented,
): Promise<Begun | Refusal | OperationRefusal> {
  const codeHash = hashSessionSecret(presented.code)
  const browserHash =
    presented.browser === undefined ? undefined : hashSessionSecret(presented.browser)
  if (codeHash === undefined || browserHash === undefined) return linkInvalid
  const link = { codeHash, browserHash, nowMs: context.clock.now() }
  const outcome = await attempt(() =>
    context.database.transact(async (transaction) => {
      const found = await findSignInLink(transaction, link)
      if (found === undefined) return linkInvalid
      const members = await listMembersByEmail(transaction, found.email)
      const first = members[0] ?? (await signUp(context, transaction, found, presented))
      if (first === undefined) return linkInvalid
      const { account } = presented
      if (account === undefined && members.length > 1)
        return {
          view: {
            session: null,
            code: presented.code,
            accounts: await choicesOf(transaction, members),
          },
        }
      const member =
        account === undefined ? first : members.find(({ accountId }) => accountId === account)
      if (member === undefined)
        throw invalidField('account', 'must be the id of one of the accounts in the answer')
      await takeSignInLink(transaction, link)
      return begin(context, transaction, member, presented.replaced)
    }),
  )
  if (outcome.kind === 'refusal') return outcome
  return 'kind' in outcome.value ? outcome.value : { secret: undefined, ...outcome.value }
}

async function begin(
  context: Omit<OperationContext, 'actor'>,
  transaction: Transaction,
  member: Member,
  replaced: string | undefined,
) {
  const nowMs = context.clock.now()
  const replacedHash = replaced === undefined ? undefined : hashSessionSecret(replaced)
  if (replacedHash !== undefined) await memberSessions.delete(transaction, replacedHash)
  const added = await addSession(transaction, memberSessions, { ownerId: member.id, nowMs })
  await updateMember(transaction, member.id, { signedInAtMs: nowMs })
  const actor = { ...context, actor: member.id }
  await recordAction(transaction, actor, { action: 'member.sign-in', subject: member.id })
  const session = await viewMemberSession(transaction, { ...added.session, owner: member })
  return { view: { session, code: null, accounts: [] }, secret: added.secret }
}

async function choicesOf(queryable: Queryable, members: readonly Member[]) {
  const choices: Answer<typeof choiceForm>[] = []
  for (const { accountId: id, role } of members)
    choices.push({ id, name: (await findAccount(queryable, id))?.name ?? '', role })
  return choices
}

/** Of the member who asks. */
export const membersOwn = ownSessions(memberSessions, {
  end: 'member.sign-out',
  endAll: 'member.sign-out-all',
})
