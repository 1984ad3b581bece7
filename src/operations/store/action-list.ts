/** The operators' log as operators read it: filtered, page by page, newest first. */
import { z } from 'zod'
import { listKeys } from '../../access/key-store.ts'
import { findAccountByName } from '../../ledger/account-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { actionForm, listActions, type ActionView } from '../actions.ts'
import { pageForm } from '../answer-forms.ts'
import { accountReference, fromTime, untilTime, searchWord } from '../input.ts'
import { operation } from '../operation.ts'
import { pageFields, pageOf, readSequence } from '../paging.ts'

const actionWord = /^[a-z_-]{1,40}(\.[a-z_-]{1,40})?$/

const actionsInput = z.strictObject({
  account: accountReference
    .optional()
    .describe('Only on this account, its keys and tokens, by name or id.'),
  action: z
    .string('must be text')
    .regex(actionWord, 'must be an action such as key.revoke, or an area such as key')
    .optional()
    .describe('Only this action, such as `key.revoke`, or its area, such as `key`.'),
  actor: searchWord
    .optional()
    .describe('Only by this admin token (name or id), or by such as `cli:LOGIN`.'),
  subject: searchWord.optional().describe('Only on this: the id or name of the changed thing.'),
  from: fromTime.optional(),
  to: untilTime.optional(),
  ...pageFields,
})

/** Returns what operators have done, newest first. */
export const recentActions = operation(
  { input: actionsInput, answer: pageForm(actionForm) },
  async ({ database }, { cursor, limit, ...filter }) => {
    const actions = await listActions(database, {
      before: readSequence(cursor),
      action: filter.action,
      actor: filter.actor,
      subjects: await subjectsOf(database, filter),
      fromMs: filter.from,
      toMs: filter.to,
      countMax: limit + 1,
    })
    const cursorOf = ({ sequence }: ActionView): string => String(sequence)
    return pageOf(actions, { limit, cursorOf, view: (action) => action })
  },
)

interface About {
  readonly subject?: string | undefined
  readonly account?: string | undefined
}

/** Undefined = everything. An account has its keys and tokens as subjects, too. */
async function subjectsOf(
  queryable: Queryable,
  { subject, account: reference }: About,
): Promise<readonly string[] | undefined> {
  const wanted = subject === undefined ? undefined : await idsOf(queryable, subject)
  if (reference === undefined) return wanted
  const { id: accountId } = await getAccount(queryable, reference)
  const keys = await listKeys(queryable, { kind: 'client', accountId })
  const tokens = await listKeys(queryable, { kind: 'reader', accountId })
  const subjects = [accountId, ...[...keys, ...tokens].map(({ id }) => id)]
  return wanted === undefined ? subjects : subjects.filter((one) => wanted.includes(one))
}

/** The subject as it is given, and the account of this name: the log has accounts by their ids. */
async function idsOf(queryable: Queryable, subject: string): Promise<readonly string[]> {
  const account = await findAccountByName(queryable, subject.normalize('NFC'))
  return account === undefined ? [subject] : [subject, account.id]
}
