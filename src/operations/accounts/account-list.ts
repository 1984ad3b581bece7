/**
 * Accounts with their amounts, as an operator looks at them: balance, holds, spend of 30 days. One page costs
 * the same number of queries whatever its length.
 */
import { z } from 'zod'
import { dayMs, utcDay } from '../../base/clock.ts'
import { addPicos, formatUsd, zeroPicos, type Picos } from '../../base/money.ts'
import {
  accountSorts,
  availablePicos,
  listAccounts as readAccounts,
  sortOrders,
  type Account,
  type AccountSort,
  type ListedAccount,
} from '../../ledger/account-store.ts'
import { readSpendByDay } from '../../ledger/usage.ts'
import { accountForm, accountStatuses, viewAccount } from './account-form.ts'
import { getAccount } from './accounts.ts'
import { pageForm, usd, type Answer } from '../answer-forms.ts'
import { accountReference, externalId, namePart } from '../input.ts'
import { operation, type OperationContext } from '../operation.ts'
import { orderedKey, pageFields, pageOf, readOrderedKey } from '../paging.ts'

const spendDays = 30
/** A month may be one day longer. */
const readDays = spendDays + 1

const day = z.iso.date()

/** An account with its amounts. */
const listedForm = accountForm.extend({
  held_usd: usd.nullable().meta({
    description: 'What running requests reserve; null where no gateway answers.',
  }),
  available_usd: usd.nullable().meta({ description: 'Balance less holds.' }),
  spend: z
    .strictObject({
      from: day,
      to: day,
      today_usd: usd,
      month_usd: usd.meta({ description: 'Of the current calendar month (UTC).' }),
      total_usd: usd.meta({ description: 'Of all days from `from` to `to`.' }),
      by_day_usd: z.array(usd).readonly().meta({
        description: 'One amount for each day, oldest first.',
      }),
    })
    .meta({ description: 'Charges less refunds of the last 30 days (UTC), by day of the charge.' }),
})

export type ListedAccountView = Answer<typeof listedForm>

const listInput = z.strictObject({
  status: z.enum(accountStatuses).optional().describe('Only accounts with this status.'),
  name_contains: namePart.optional().describe('Only accounts whose name contains this.'),
  external_id: externalId.optional().describe('Only the account with this external id.'),
  low: z
    .boolean('must be true or false')
    .optional()
    .describe(
      'Only active accounts without money, below their threshold, or with less than two days of spend.',
    ),
  sort: z.enum(accountSorts).default('name').describe('What the list is sorted by.'),
  order: z.enum(sortOrders).optional().describe('Direction; without it asc by name, else desc.'),
  ...pageFields,
})

/** By name where `sort` is absent. Accounts with equal values follow by id. */
export const listAccounts = operation(
  { input: listInput, answer: pageForm(listedForm) },
  async (context, { cursor, limit, sort, ...given }) => {
    // The smallest name first, but the largest amount.
    const { order = sort === 'name' ? 'asc' : 'desc', ...filter } = given
    const listOrder = { sort, order, keyLength: keyLengths[sort] }
    const nowMs = context.clock.now()
    const days = lastDays(nowMs, spendDays)
    const found = await readAccounts(context.database, {
      status: filter.status,
      nameContains: filter.name_contains,
      externalId: filter.external_id,
      ...(filter.low === true && { lowSinceDay: days.at(-2) }),
      sort,
      order,
      spendPeriod: { fromDay: days[0] ?? '', toDay: days.at(-1) ?? '' },
      after: readOrderedKey(cursor, listOrder),
      countMax: limit + 1,
    })
    const amounts = await readAmounts(context, found.slice(0, limit), nowMs)
    return pageOf(found, {
      limit,
      cursorOf: ({ key }: ListedAccount) => orderedKey(listOrder, key),
      view: (account) => viewWith(account, amounts),
    })
  },
)

export const showAccount = operation(
  { input: z.strictObject({ account: accountReference }), answer: listedForm },
  async (context, { account: reference }) => {
    const account = await getAccount(context.database, reference)
    return viewWith(account, await readAmounts(context, [account], context.clock.now()))
  },
)

/** Returns the last days up to today (UTC), oldest first. */
function lastDays(nowMs: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => utcDay(nowMs - (count - 1 - index) * dayMs))
}

interface AccountAmounts {
  /** Oldest first, today is the last. */
  readonly days: readonly string[]
  readonly spend: Awaited<ReturnType<typeof readSpendByDay>>
  /** Undefined where no gateway answers. */
  readonly held: ReadonlyMap<string, Picos> | undefined
}

async function readAmounts(
  { database, readHeld }: OperationContext,
  accounts: readonly Account[],
  nowMs: number,
): Promise<AccountAmounts> {
  const accountIds = accounts.map(({ id }) => id)
  const days = lastDays(nowMs, readDays)
  return {
    days,
    spend: await readSpendByDay(database, {
      accountIds,
      from: days[0] ?? '',
      to: days.at(-1) ?? '',
    }),
    held: await readHeld?.(accountIds),
  }
}

function viewWith(account: Account, { days, spend, held }: AccountAmounts): ListedAccountView {
  const spent = spend.get(account.id)
  const amountOf = (day: string): Picos => spent?.get(day) ?? zeroPicos
  const today = days.at(-1) ?? ''
  const shown = days.slice(-spendDays)
  const ofMonth = days.filter((day) => day.startsWith(today.slice(0, 'YYYY-MM'.length)))
  const heldPicos = held === undefined ? undefined : (held.get(account.id) ?? zeroPicos)
  return {
    ...viewAccount(account),
    held_usd: heldPicos === undefined ? null : formatUsd(heldPicos),
    available_usd: heldPicos === undefined ? null : formatUsd(availablePicos(account, heldPicos)),
    spend: {
      from: shown[0] ?? '',
      to: today,
      today_usd: formatUsd(amountOf(today)),
      month_usd: formatUsd(ofMonth.map(amountOf).reduce(addPicos, zeroPicos)),
      total_usd: formatUsd(shown.map(amountOf).reduce(addPicos, zeroPicos)),
      by_day_usd: shown.map((day) => formatUsd(amountOf(day))),
    },
  }
}

/** A name; or amounts, then an id. */
const keyLengths: Readonly<Record<AccountSort, number>> = { name: 1, balance: 2, spend: 3 }
