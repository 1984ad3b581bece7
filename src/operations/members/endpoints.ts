/** Endpoints of the admin API about the members of accounts. */
import { endpoints, exampleNames } from '../endpoint.ts'
import { editMember, inviteMember, listMembers, removeMember } from './members.ts'

export const memberEndpoints = endpoints('members', {
  list: {
    route: 'GET /accounts/{account}/members',
    summary: 'List the members of an account, oldest first.',
    operation: listMembers,
  },
  invite: {
    route: 'POST /accounts/{account}/members',
    summary: 'Invite a person to an account by mail; repeating it mails the invitation again.',
    operation: inviteMember,
    status: 201,
    example: { email: 'ann@customer.example', role: 'owner' },
  },
  edit: {
    route: 'PATCH /members/{member}',
    summary: 'Change the role of a member.',
    operation: editMember,
    example: { member: exampleNames.member, role: 'member' },
  },
  remove: {
    route: 'DELETE /members/{member}',
    summary: 'Remove a member; the keys are revoked, or handed over to an owner.',
    operation: removeMember,
    example: { member: exampleNames.member, keys: 'revoke' },
  },
})
