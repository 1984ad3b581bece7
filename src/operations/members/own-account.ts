/**
 * What an owner sees and sets of the own account beside its figures: the address and the threshold of the
 * mail about a low balance, what receipts name, and who did what. Nothing of the operator's side is shown.
 */
import { z } from 'zod'
import { listKeys } from '../../access/key-store.ts'
import { listMemberIds } from '../../access/member-store.ts'
import { invariant } from '../../base/errors.ts'
import { languages } from '../../base/languages.ts'
import { formatUsd } from '../../base/money.ts'
import type { Account } from '../../ledger/account-store.ts'
import { changeAccountProfile, getAccount } from '../accounts/accounts.ts'
import { listAccountActions } from '../actions.ts'
import { moment, pageForm, usd, type Answer } from '../answer-forms.ts'
import { accountReference, billTo, contact, language, limitUsd } from '../input.ts'
import { invalid, operation } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'

const ownAccountForm = z.strictObject({
  name: z.string(),
  contact: z.string(),
  language: z.enum(languages),
  alert_below_usd: usd,
  bill_to: z.string(),
})

function viewOwn(account: Account): Answer<typeof ownAccountForm> {
  return {
    name: account.name,
    contact: account.contact,
    language: account.language,
    alert_below_usd: formatUsd(account.alertBelowPicos),
    bill_to: account.billTo,
  }
}

export const showOwnAccount = operation(
  { input: z.strictObject({ account: accountReference }), answer: ownAccountForm },
  async ({ database }, { account }) => viewOwn(await getAccount(database, account)),
)

export const changeOwnAccount = operation(
  {
    input: z.strictObject({
      account: accountReference,
      contact: contact.optional(),
      language: language.optional(),
      alert_below_usd: limitUsd.optional(),
      bill_to: billTo.optional(),
    }),
    answer: ownAccountForm,
  },
  (context, { account: reference, ...given }) =>
    context.database.transact(async (transaction) => {
      const profile = {
        ...(given.contact !== undefined && { contact: given.contact }),
        ...(given.language !== undefined && { language: given.language }),
        ...(given.alert_below_usd !== undefined && { alertBelowPicos: given.alert_below_usd }),
        ...(given.bill_to !== undefined && { billTo: given.bill_to }),
      }
      if (Object.keys(profile).length === 0) throw invalid('Give at least one change.')
      const account = await getAccount(transaction, reference)
      await changeAccountProfile(context, transaction, { account, profile })
      return viewOwn({ ...account, ...profile })
    }),
)

const activityForm = z.strictObject({
  at: moment,
  sequence: z.int(),
  by: z.enum(['member', 'operator']),
  email: z.string().nullable().meta({ description: 'Of the member who did it.' }),
  action: z.string(),
  subject: z.string().meta({ description: 'Id of the account, the key or the member.' }),
  subject_name: z
    .string()
    .nullable()
    .meta({ description: 'Name of the key, address of the member.' }),
})

/** Keys whose changes by operators the activity shows. */
const keysMax = 1_000

/** What members of the account did, and operators to the account, its keys and its members; newest first. */
export const listActivity = operation(
  {
    input: z.strictObject({ account: accountReference, ...pageFields }),
    answer: pageForm(activityForm),
  },
  async ({ database }, { account: reference, cursor, limit }) => {
    const { id: accountId } = await getAccount(database, reference)
    const memberIds = await listMemberIds(database, accountId)
    const keys = await listKeys(
      database,
      { kind: 'client', accountId },
      { afterId: '', countMax: keysMax },
    )
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor)
    if (!Number.isSafeInteger(before)) throw invalid('cursor: must be the next_cursor of a page')
    const rows = await listAccountActions(database, {
      memberIds,
      subjects: [accountId, ...memberIds, ...keys.map(({ id }) => id)],
      before,
      countMax: limit + 1,
    })
    return pageOf(rows, {
      limit,
      cursorOf: ({ sequence }) => String(sequence),
      view: ({ at, sequence, actor, actor_name: email, action, subject, subject_name: name }) => {
        const isMember = memberIds.includes(actor)
        invariant(isMember || !actor.startsWith('mem_'), 'members act for their own account only')
        return {
          at,
          sequence,
          by: isMember ? ('member' as const) : ('operator' as const),
          email: isMember ? email : null,
          action,
          subject,
          subject_name: name,
        }
      },
    })
  },
)
