/**
 * The operators' log as operators read it: filtered, page by page, newest first. With an account, a key or a
 * channel it is the activity of that one.
 */
import { z } from 'zod'
import { listKeys } from '../../access/key-store.ts'
import { findAccountByName } from '../../ledger/account-store.ts'
import { isObject } from '../../base/object.ts'
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
  key: searchWord.optional().describe('Only on this key or token, by id.'),
  channel: searchWord
    .optional()
    .describe('Only on this channel, its changes by files of the whole catalogue too.'),
  sessions: z
    .boolean('must be true or false')
    .default(false)
    .describe('With sign-ins and sign-outs, which are left out otherwise.'),
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
      channel: filter.channel,
      hidesSessions: !filter.sessions && filter.action === undefined,
      fromMs: filter.from,
      toMs: filter.to,
      countMax: limit + 1,
    })
    const cursorOf = ({ sequence }: ActionView): string => String(sequence)
    const { channel } = filter
    const view = (action: ActionView): ActionView =>
      channel === undefined ? action : aboutChannel(action, channel)
    return pageOf(actions, { limit, cursorOf, view })
  },
)

/** Of a file, only what it changes of the channel. */
function aboutChannel(action: ActionView, channel: string): ActionView {
  const { diff, ...detail } = action.detail
  if (!Array.isArray(diff)) return action
  const own = diff.filter(
    (one: unknown) => isObject(one) && one['kind'] === 'channel' && one['name'] === channel,
  )
  return { ...action, detail: { ...detail, diff: own } }
}

interface About {
  readonly key?: string | undefined
  readonly subject?: string | undefined
  readonly account?: string | undefined
}

/** Undefined = everything. An account has its keys and tokens as subjects, too. */
async function subjectsOf(
  queryable: Queryable,
  { key, subject, account: reference }: About,
): Promise<readonly string[] | undefined> {
  const own = key === undefined ? undefined : [key]
  const wanted = subject === undefined ? own : await idsOf(queryable, subject)
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
