/**
 * The member API as rows of data, below `/account/v1`: what a person who signs in for an account can do. The
 * rows are those of the admin API with the least role of a member; `docs/members.md` has the table.
 */
import { z } from 'zod'
import type { MemberRole } from '../../access/member-store.ts'
import { redeemCode, topUpCode } from '../codes/redeem.ts'
import { endpoints, exampleNames, rowOf, type Endpoint, type SessionCall } from '../endpoint.ts'
import { createClientKey, editKey, listAccountKeys, revokeKey, rotateKey } from '../keys/keys.ts'
import { beginCheckout } from '../payments/checkout.ts'
import { accountName, language } from '../input.ts'
import { noInput } from '../operation.ts'
import { endedForm } from '../sessions/own-sessions.ts'
import { begunForm, membersOwn, memberSessionForm } from './member-sessions.ts'
import { editMember, inviteMember, listMembers, memberEmail, removeMember } from './members.ts'
import { changeOwnAccount, listActivity, showOwnAccount } from './own-account.ts'

export interface MemberEndpoint extends Omit<Endpoint, 'role'> {
  /** The least role that may call it. */
  readonly role: MemberRole
  /** The field of its input that is the id of the member's account. */
  readonly accountField?: string
}

function forMembers(
  endpoint: Endpoint,
  role: MemberRole,
  accountField?: 'account' | 'accountId',
): MemberEndpoint {
  if (accountField === undefined) return { ...endpoint, role }
  // The value is that of the session; what a request says about it is refused.
  const fixed = { ...endpoint.fixed, [accountField]: '' }
  return { ...endpoint, role, accountField, fixed }
}

const written = endpoints('own', {
  listKeys: {
    route: 'GET /keys',
    summary: 'List the keys, oldest first: a member the own ones, an owner all.',
    operation: listAccountKeys,
    fixed: { kind: 'client' },
  },
  createKey: {
    route: 'POST /keys',
    summary: 'Create a key; its secret is shown once.',
    operation: createClientKey,
    repeats: 'secret',
    status: 201,
    example: { name: 'laptop' },
  },
  editKey: {
    route: 'PATCH /keys/{id}',
    summary: 'Change a key; what you leave out stays. Null removes a restriction, 0 a limit.',
    operation: editKey,
    example: { id: exampleNames.key, name: 'build' },
  },
  rotateKey: {
    route: 'POST /keys/{id}/rotate',
    summary: 'Give a key a new secret, shown once; the old one is refused from now on.',
    operation: rotateKey,
    repeats: 'secret',
    example: { id: exampleNames.key },
  },
  revokeKey: {
    route: 'DELETE /keys/{id}',
    summary: 'Revoke a key; its next request is refused.',
    operation: revokeKey,
    fixed: { kind: 'client' },
    example: { id: exampleNames.key },
  },
  listMembers: {
    route: 'GET /members',
    summary: 'List the members, oldest first.',
    operation: listMembers,
  },
  inviteMember: {
    route: 'POST /members',
    summary: 'Invite a person by mail; repeating it an hour later mails the invitation again.',
    operation: inviteMember,
    status: 201,
    example: { email: 'ann@customer.example', role: 'member' },
  },
  editMember: {
    route: 'PATCH /members/{member}',
    summary: 'Change the role of a member.',
    operation: editMember,
    example: { member: exampleNames.member, role: 'owner' },
  },
  removeMember: {
    route: 'DELETE /members/{member}',
    summary: 'Remove a member; the keys are revoked, or handed over to you.',
    operation: removeMember,
    example: { member: exampleNames.member, keys: 'keep' },
  },
  showAccount: {
    route: 'GET /details',
    summary: 'Show what the account sets itself.',
    operation: showOwnAccount,
  },
  changeAccount: {
    route: 'PATCH /details',
    summary: 'Change the mail about a low balance, the language of mails, or what receipts name.',
    operation: changeOwnAccount,
    example: { alert_below_usd: '5' },
  },
  activity: {
    route: 'GET /activity',
    summary: 'List who did what, newest first.',
    operation: listActivity,
  },
  redeemCode: {
    route: 'POST /codes',
    summary: 'Redeem a top-up code.',
    operation: redeemCode,
    example: { code: 'tc_exampleofacode' },
  },
  beginCheckout: {
    route: 'POST /checkout',
    summary: 'Begin a payment; the answer has the page where it is paid.',
    operation: beginCheckout,
    example: { amount_usd: '25' },
  },
  listSessions: {
    route: 'GET /sessions',
    summary: 'List your sessions, newest first; 20 at most.',
    operation: membersOwn.list,
  },
  endSessions: {
    route: 'DELETE /sessions',
    summary: 'Sign out everywhere: end all your sessions.',
    operation: membersOwn.endAll,
  },
})

export const ownEndpoints: readonly MemberEndpoint[] = [
  forMembers(written.listKeys, 'member', 'account'),
  forMembers(written.createKey, 'member', 'account'),
  forMembers(written.editKey, 'owner'),
  forMembers(written.rotateKey, 'owner'),
  forMembers(written.revokeKey, 'member'),
  forMembers(written.listMembers, 'owner', 'account'),
  forMembers(written.inviteMember, 'owner', 'account'),
  forMembers(written.editMember, 'owner'),
  forMembers(written.removeMember, 'owner'),
  forMembers(written.showAccount, 'owner', 'account'),
  forMembers(written.changeAccount, 'owner', 'account'),
  forMembers(written.activity, 'owner', 'account'),
  forMembers(written.redeemCode, 'owner', 'accountId'),
  forMembers(written.beginCheckout, 'owner', 'accountId'),
  forMembers(written.listSessions, 'member'),
  forMembers(written.endSessions, 'member'),
]

const secret = z.string().max(300, 'must have at most 300 characters')

const linkAskedForm = z.strictObject({ email: z.string(), minutes: z.int() })

/** Calls that set, read or remove a cookie. */
export const ownCalls = {
  signIn: rowOf('own.sign_in', {
    route: 'POST /sign-in',
    summary: 'Ask for a link by mail; the answer is the same for every address.',
    session: 'begins',
    input: z.strictObject({ email: memberEmail }),
    answer: linkAskedForm,
    example: { email: 'ann@customer.example' },
  }),
  signUp: rowOf('own.sign_up', {
    route: 'POST /sign-up',
    summary: 'Ask for an account by mail; the answer is the same for every address.',
    session: 'begins',
    input: z.strictObject({
      email: memberEmail,
      code: topUpCode.optional(),
      language: language.default('en'),
    }),
    answer: linkAskedForm,
    example: { email: 'ann@customer.example' },
  }),
  oidc: rowOf('own.oidc', {
    route: 'POST /oidc',
    summary: 'Begin to sign in by OpenID Connect: answers the address of the provider.',
    session: 'begins',
    input: noInput,
    answer: z.strictObject({ url: z.string() }),
  }),
  begin: rowOf('own.session.begin', {
    route: 'POST /session',
    summary:
      'Sign in with the code of a link or what a provider answered, or make the account of a link; sets the cookie.',
    session: 'begins',
    input: z.strictObject({
      code: secret.optional(),
      oidc: z.string().max(6_000, 'must have at most 6000 characters').optional(),
      account: secret.optional(),
      name: accountName.optional(),
      language: language.default('en'),
    }),
    answer: begunForm,
    example: { code: 'exampleofacode' },
  }),
  show: rowOf('own.session.show', {
    route: 'GET /session',
    summary: 'Show the session of this browser; 204 where there is none.',
    session: 'exists',
    input: noInput,
    answer: memberSessionForm,
  }),
  end: rowOf('own.session.end', {
    route: 'DELETE /session',
    summary: 'Sign this browser out; removes the cookie.',
    session: 'exists',
    input: noInput,
    answer: endedForm,
  }),
} satisfies Record<string, SessionCall>
