/**
 * Sign-up: a person without an account makes one, and is its first owner. Asking says nothing about the
 * address. Only the link that was mailed to it makes the account, in the transaction that uses the link up.
 */
import { insertMember, type Member } from '../../access/member-store.ts'
import type { SignInLink } from '../../access/sign-in-link-store.ts'
import { invariant } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Language } from '../../base/languages.ts'
import { changeProfile, insertAccount } from '../../ledger/account-store.ts'
import type { Transaction } from '../../storage/database.ts'
import { viewAccount } from '../accounts/account-form.ts'
import { getAccount, noLimits } from '../accounts/accounts.ts'
import { recordAction } from '../actions.ts'
import { checkCode, redeem } from '../codes/redeem.ts'
import { attempt, invalidField, type OperationContext, type Outcome } from '../operation.ts'
import { newMember } from './members.ts'
import { domainOf, type SignUpRule } from './sign-up-rule.ts'

type Context = Omit<OperationContext, 'actor'>

/** Refuses whom the rule keeps out; returns the hash of the code, where one is given. */
export function checkSignUp(
  context: Context,
  { mode, domains }: SignUpRule,
  { email, code }: { readonly email: string; readonly code?: string | undefined },
): Promise<Outcome<string | undefined>> {
  return attempt(async () => {
    if (domains?.includes(domainOf(email)) === false)
      throw invalidField('email', `must be an address at ${domains.join(' or ')}`)
    if (code === undefined && mode === 'invite') throw invalidField('code', 'is missing')
    return code === undefined ? undefined : checkCode(context, code)
  })
}

/** Makes the account of a link and its first owner; undefined where the rule does not allow it any more. */
export async function signUp(
  context: Context,
  transaction: Transaction,
  { email, isSignUp, invitationHash: secretHash }: SignInLink,
  { name, language }: { readonly name?: string | undefined; readonly language: Language },
): Promise<Member | undefined> {
  const mode = context.signUp?.mode
  const isAllowed = mode === 'open' || (mode === 'invite' && secretHash !== undefined)
  if (!isSignUp || !isAllowed) return undefined
  if (name === undefined) throw invalidField('name', 'is missing')
  const nowMs = context.clock.now()
  const accountId = newId('acc', nowMs)
  const member = newMember({ accountId, email, role: 'owner' }, nowMs)
  const account = { ...noLimits, id: accountId, name, createdAtMs: nowMs }
  // To refuse a name that is taken would tell, try by try, who the other customers are: it gets an end.
  const isNew =
    (await insertAccount(transaction, account)) ||
    (await insertAccount(transaction, { ...account, name: longer(name, accountId) }))
  invariant(isNew, 'a name with the end of a new id is free')
  await changeProfile(transaction, accountId, { contact: email, language })
  await insertMember(transaction, member)
  const acting = { ...context, actor: member.id }
  await recordAction(transaction, acting, {
    action: 'account.sign-up',
    subject: accountId,
    detail: { ...viewAccount(await getAccount(transaction, accountId)) },
  })
  if (secretHash !== undefined) await redeem(acting, transaction, { accountId, secretHash })
  return member
}

/** At most 64 characters, as every name. */
function longer(name: string, id: string): string {
  return `${name.slice(0, 57).toWellFormed()} ${id.slice(-6)}`
}
