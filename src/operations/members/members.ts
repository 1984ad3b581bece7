/**
 * Members of an account: invite, list, change, remove. Operators and owners share these operations; an owner
 * reaches the own account only, and leaves it an owner.
 */
import { z } from 'zod'
import { handOverKeys, listKeys } from '../../access/key-store.ts'
import {
  countInvited,
  findMember,
  insertMember,
  listMembers as readMembers,
  memberRoles,
  updateMember,
  type Member,
} from '../../access/member-store.ts'
import { memberSessions } from '../../access/session-store.ts'
import { dayMs, hourMs } from '../../base/clock.ts'
import { newId } from '../../base/id.ts'
import type { Account } from '../../ledger/account-store.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { recordAction } from '../actions.ts'
import { moment, pageForm, type Answer } from '../answer-forms.ts'
import { accountReference, searchWord } from '../input.ts'
import { revokeStoredKey } from '../keys/keys.ts'
import {
  conflict,
  notFound,
  operation,
  timeOrNull,
  timeText,
  type OperationContext,
} from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { reachesMember } from './acting-member.ts'
import { invitationMail, requireMailing } from './mails.ts'

/** An e-mail address, in lower case. */
export const memberEmail = z
  .string('must be an e-mail address such as ann@customer.example')
  .transform((text) => text.trim().toLowerCase())
  .refine(
    (text) => text.length <= 254 && z.regexes.html5Email.test(text),
    'must be an e-mail address such as ann@customer.example',
  )
  .meta({ format: 'email', maxLength: 254 })
  .describe('E-mail address.')

const memberRole = z
  .enum(memberRoles, `must be one of ${memberRoles.join(', ')}`)
  .describe('An owner runs the account, a member has own keys only.')

const memberForm = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  email: z.string(),
  role: z.enum(memberRoles),
  state: z.enum(['invited', 'active']).meta({ description: 'Active since the first sign-in.' }),
  created_at: moment,
  invited_at: moment.meta({ description: 'When the last invitation was mailed.' }),
  signed_in_at: moment.nullable().meta({ description: 'The last time; null = not yet.' }),
})

function viewMember(member: Member): Answer<typeof memberForm> {
  return {
    id: member.id,
    account_id: member.accountId,
    email: member.email,
    role: member.role,
    state: member.signedInAtMs === undefined ? 'invited' : 'active',
    created_at: timeText(member.createdAtMs),
    invited_at: timeText(member.invitedAtMs),
    signed_in_at: timeOrNull(member.signedInAtMs),
  }
}

/** Oldest first. */
export const listMembers = operation(
  {
    input: z.strictObject({ account: accountReference, ...pageFields }),
    answer: pageForm(memberForm),
  },
  async ({ database }, { account: reference, cursor = '', limit }) => {
    const { id } = await getAccount(database, reference)
    const rows = (await readMembers(database, id)).filter((one) => one.id > cursor)
    return pageOf(rows, { limit, cursorOf: (one) => one.id, view: viewMember })
  },
)

/** Of one account. */
const membersMax = 100
/** By owners of one account, within a day. */
const invitationsPerDayMax = 50

const invitedForm = memberForm.extend({
  mail_problem: z
    .string()
    .nullable()
    .meta({ description: 'Why the invitation could not be mailed; null = it was.' }),
})

/** The mail is sent when the member is stored; an invitation that did not arrive can be repeated. */
export const inviteMember = operation(
  {
    input: z.strictObject({
      account: accountReference,
      email: memberEmail,
      role: memberRole.default('owner'),
    }),
    answer: invitedForm,
  },
  async (context, { account: reference, email, role }) => {
    const mailing = requireMailing(context)
    const { account, member } = await context.database.transact(async (transaction) => {
      const found = await getAccount(transaction, reference)
      return {
        account: found,
        member: await addMember(context, transaction, found, { email, role }),
      }
    })
    if (mailing === undefined) return { ...viewMember(member), mail_problem: noMail }
    const mail = invitationMail(mailing, account.language, { account: account.name, email })
    const messageId = `${member.id}.${member.invitedAtMs}`
    const result = await mailing.send({ messageId, to: email, ...mail })
    const problem = result.kind === 'accepted' ? null : result.reason
    return { ...viewMember(member), mail_problem: problem }
  },
)

const noMail = 'this gateway sends no mail; tell the person to sign in on the account page'

async function addMember(
  context: OperationContext,
  transaction: Transaction,
  account: Account,
  { email, role }: Pick<Member, 'email' | 'role'>,
): Promise<Member> {
  const nowMs = context.clock.now()
  if (account.status === 'closed')
    throw conflict(`The account ${account.name} is closed and gets no members.`)
  const members = await readMembers(transaction, account.id)
  const known = members.find((one) => one.email === email)
  if (known === undefined && members.length >= membersMax)
    throw conflict(`The account has ${membersMax} members already. Remove one that is not needed.`)
  if (known !== undefined) requireRepeatable(context, known, { role, nowMs })
  if (context.member !== undefined) await requireInvitations(transaction, account.id, nowMs)
  const member: Member = known
    ? { ...known, invitedAtMs: nowMs }
    : newMember({ accountId: account.id, email, role }, nowMs)
  if (known === undefined) await insertMember(transaction, member)
  else await updateMember(transaction, member.id, { invitedAtMs: nowMs })
  await recordAction(transaction, context, {
    action: 'member.invite',
    subject: member.id,
    detail: { account_id: account.id, email, role },
  })
  return member
}

export function newMember(
  { accountId, email, role }: Pick<Member, 'accountId' | 'email' | 'role'>,
  nowMs: number,
): Member {
  const times = { createdAtMs: nowMs, invitedAtMs: nowMs, signedInAtMs: undefined }
  return { id: newId('mem', nowMs), accountId, email, role, ...times, removedAtMs: undefined }
}

/** An invitation that was not used yet may be mailed again; by an owner, once an hour. */
function requireRepeatable(
  { member: acting }: OperationContext,
  known: Member,
  { role, nowMs }: { readonly role: Member['role']; readonly nowMs: number },
): void {
  if (known.signedInAtMs !== undefined || known.role !== role)
    throw conflict(
      `${known.email} has the role ${known.role} in this account already. Change the role of ${known.id} instead.`,
    )
  if (acting !== undefined && nowMs - known.invitedAtMs < hourMs)
    throw conflict(`${known.email} was invited less than an hour ago. Try again later.`)
}

async function requireInvitations(
  queryable: Queryable,
  accountId: string,
  nowMs: number,
): Promise<void> {
  const invited = await countInvited(queryable, { accountId, sinceMs: nowMs - dayMs })
  if (invited >= invitationsPerDayMax)
    throw conflict(`${invitationsPerDayMax} people were invited within a day. Try again tomorrow.`)
}

const memberId = searchWord.describe('Id of the member, such as mem_…, as the list shows it.')

export const editMember = operation(
  { input: z.strictObject({ member: memberId, role: memberRole }), answer: memberForm },
  (context, { member: id, role }) =>
    context.database.transact(async (transaction) => {
      const member = await getMember(context, transaction, id)
      if (member.role === role) return viewMember(member)
      if (role !== 'owner') await requireOtherOwner(context, transaction, member)
      await updateMember(transaction, id, { role })
      await recordAction(transaction, context, {
        action: 'member.edit',
        subject: id,
        detail: { before: { role: member.role }, after: { role } },
      })
      return viewMember({ ...member, role })
    }),
)

const removedForm = memberForm.extend({
  keys_revoked: z.int(),
  keys_kept: z.int().meta({ description: 'They belong to an owner or to the account now.' }),
})

/** Ends the sessions too, so that the next request of the member is refused. */
export const removeMember = operation(
  {
    input: z.strictObject({
      member: memberId,
      keys: z
        .enum(['revoke', 'keep'], 'must be revoke or keep')
        .default('revoke')
        .describe("What becomes of the member's keys: `keep` hands them over to an owner."),
    }),
    answer: removedForm,
  },
  (context, { member: id, keys: choice }) =>
    context.database.transact(async (transaction) => {
      const member = await getMember(context, transaction, id)
      await requireOtherOwner(context, transaction, member)
      await updateMember(transaction, id, { removedAtMs: context.clock.now() })
      await memberSessions.deleteOf(transaction, id)
      const { accountId, email, role } = member
      const owned = await listKeys(transaction, { kind: 'client', accountId, memberId: id })
      const usable = owned.filter(({ revokedAtMs }) => revokedAtMs === undefined)
      if (choice === 'revoke')
        for (const key of usable) await revokeStoredKey(context, transaction, key)
      else
        await handOverKeys(transaction, {
          from: id,
          to: await findHeir(context, transaction, member),
        })
      await recordAction(transaction, context, {
        action: 'member.remove',
        subject: id,
        detail: { account_id: accountId, email, role, keys: choice, key_count: usable.length },
      })
      return {
        ...viewMember(member),
        keys_revoked: choice === 'revoke' ? usable.length : 0,
        keys_kept: choice === 'keep' ? usable.length : 0,
      }
    }),
)

/** Finds who gets the keys of a removed member: the owner who removes, else the oldest; undefined = none. */
async function findHeir(
  { member: acting }: OperationContext,
  queryable: Queryable,
  removed: Member,
): Promise<string | undefined> {
  const owners = (await readMembers(queryable, removed.accountId)).filter(
    ({ role }) => role === 'owner',
  )
  return (owners.find(({ id }) => id === acting?.id) ?? owners[0])?.id
}

async function getMember(
  context: OperationContext,
  queryable: Queryable,
  id: string,
): Promise<Member> {
  const member = await findMember(queryable, id)
  if (member !== undefined && reachesMember(context, member)) return member
  throw notFound(`There is no member with the id ${id}.`)
}

/** Only an operator may leave an account without an owner. */
async function requireOtherOwner(
  { member: acting }: OperationContext,
  queryable: Queryable,
  member: Member,
): Promise<void> {
  if (acting === undefined || member.role !== 'owner') return
  const owners = (await readMembers(queryable, member.accountId)).filter(
    ({ role }) => role === 'owner',
  )
  if (owners.length > 1) return
  throw conflict(
    `${member.email} is the last owner of the account. Make another member an owner first, or ask the operator.`,
  )
}
