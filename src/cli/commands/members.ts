/** `turnpike member …`: the people who sign in for an account. */
import { memberEndpoints } from '../../operations/members/endpoints.ts'
import { callRow, listRow, type CommandRow } from '../row.ts'

export const memberCommands: readonly CommandRow[] = [
  callRow(memberEndpoints.invite, {
    words: 'member invite',
    arguments: ['account', 'email'],
    help: `Example:
  turnpike member invite acme ann@customer.example --role member`,
    show: ({ id, email, mail_problem: problem }) =>
      problem === null
        ? `${email} is invited. The id is ${id}.`
        : `${email} is a member, but the invitation could not be mailed: ${problem}. Repeat the command to try again. The id is ${id}.`,
  }),
  listRow(memberEndpoints.list, {
    words: 'member list',
    empty: 'There are no members.',
    columns: ['id', 'email', 'role', 'state', 'created_at', 'signed_in_at'],
  }),
  callRow(memberEndpoints.edit, {
    words: 'member edit',
    show: ({ email, role }) => `${email} has the role ${role}.`,
  }),
  callRow(memberEndpoints.remove, {
    words: 'member remove',
    show: ({ email, keys_revoked: revoked, keys_kept: kept }) =>
      `${email} is removed. Keys revoked: ${revoked}, handed over: ${kept}.`,
  }),
]
