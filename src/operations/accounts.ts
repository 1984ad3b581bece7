/**
 * Accounts: create, list, limit, suspend, credit. A change and its line in the operators' log are one
 * transaction. Only functions of the ledger move money.
 */
import { z } from 'zod'
import { InvariantError } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { formatUsd, zeroPicos } from '../base/money.ts'
import {
  changeLimits,
  changeStatus,
  findAccount,
  findAccountByName,
  insertAccount,
  listAccounts as readAccounts,
  type Account,
  type AccountLimits,
  type AccountStatus,
} from '../ledger/account-store.ts'
import { credit, type CreditRequest, type CreditResult, type Entry } from '../ledger/entry-store.ts'
import type { Queryable, Transaction } from '../storage/database.ts'
import { recordAction } from './actions.ts'
import {
  accountName,
  accountReference,
  amountUsdMax,
  balanceUsd,
  entryReference,
  entryUsd,
  limitUsd,
  note,
  priceMultiplier,
  requestsPerMinute,
  windowMinutes,
} from './input.ts'
import {
  conflict,
  invalid,
  invalidField,
  notFound,
  operation,
  timeText,
  type OperationContext,
} from './operation.ts'
import { pageFields, pageOf, type Page } from './paging.ts'

const limitFields = {
  daily_usd: limitUsd.optional(),
  rpm: requestsPerMinute.optional(),
  window_minutes: windowMinutes.optional(),
  price_multiplier: priceMultiplier.optional(),
}

/** The reference of the credit that `balance_usd` books. */
const firstCreditReference = 'opening-balance'

const noLimits: AccountLimits = {
  dailyLimitPicos: zeroPicos,
  rpm: 0,
  windowMinutes: 1,
  priceMultiplierPpm: 1_000_000,
}

export const createAccount = operation(
  z.strictObject({ name: accountName, balance_usd: balanceUsd.optional(), ...limitFields }),
  (context, { name, balance_usd: amountPicos = zeroPicos, ...limits }): Promise<AccountView> => {
    const createdAtMs = context.clock.now()
    const account = {
      id: newId('acc', createdAtMs),
      name,
      status: 'active',
      ...noLimits,
      ...readLimits(limits),
      createdAtMs,
    } as const
    return context.database.transact(async (transaction) => {
      const isNew = await insertAccount(transaction, account)
      if (!isNew) throw conflict(`There is an account named ${name} already.`)
      await recordAction(transaction, context, {
        action: 'account.create',
        subject: account.id,
        detail: { ...viewAccount({ ...account, balancePicos: zeroPicos }) },
      })
      if (amountPicos > 0n) {
        const reference = firstCreditReference
        await book(context, transaction, { accountId: account.id, amountPicos, reference })
      }
      return viewAccount({ ...account, balancePicos: amountPicos })
    })
  },
)

/** Ordered by name. */
export const listAccounts = operation(
  z.strictObject(pageFields),
  async ({ database }, { cursor, limit }): Promise<Page<AccountView>> => {
    const rows = await readAccounts(database, { afterName: cursor ?? '', countMax: limit + 1 })
    return pageOf(rows, { limit, cursorOf: ({ name }) => name, view: viewAccount })
  },
)

export const showAccount = operation(
  z.strictObject({ account: accountReference }),
  async ({ database }, { account }) => viewAccount(await getAccount(database, account)),
)

/** Suspends or resumes. Where the account has that status already, nothing changes. */
export const setAccountStatus = operation(
  z.strictObject({ account: accountReference, status: z.enum(['active', 'suspended']) }),
  (context, { account: reference, status }): Promise<AccountView> =>
    context.database.transact(async (transaction) => {
      const account = await getAccount(transaction, reference)
      if (account.status === status) return viewAccount(account)
      await changeAccountStatus(context, transaction, { account, status })
      return viewAccount({ ...account, status })
    }),
)

export async function changeAccountStatus(
  context: OperationContext,
  transaction: Transaction,
  { account, status }: { readonly account: Account; readonly status: AccountStatus },
): Promise<void> {
  await changeStatus(transaction, account.id, status)
  await recordAction(transaction, context, {
    action: status === 'suspended' ? 'account.suspend' : 'account.resume',
    subject: account.id,
  })
}

/** Changes the limits that are given and keeps the others. */
export const limitAccount = operation(
  z.strictObject({ account: accountReference, ...limitFields }),
  (context, { account: reference, ...given }): Promise<AccountView> => {
    const limits = readLimits(given)
    if (Object.keys(limits).length === 0) throw invalid('Give at least one limit to change.')
    return context.database.transact(async (transaction) => {
      const account = await getAccount(transaction, reference)
      const changed = await changeLimits(transaction, account.id, limits)
      if (changed === undefined) throw new InvariantError('account not found after its change')
      await recordAction(transaction, context, {
        action: 'account.limits',
        subject: account.id,
        detail: { before: viewAccount(account).limits, after: viewAccount(changed).limits },
      })
      return viewAccount(changed)
    })
  },
)

export interface Credited {
  readonly account_id: string
  readonly reference: string
  readonly amount_usd: string
  readonly balance_usd: string
  /** True where the same credit is booked already. Then nothing has changed. */
  readonly repeated: boolean
}

export const creditAccount = operation(
  z.strictObject({
    account: accountReference,
    amount_usd: entryUsd,
    reference: entryReference,
    note,
  }),
  (context, given): Promise<Credited> =>
    context.database.transact(async (transaction) => {
      const account = await getAccount(transaction, given.account)
      const result = await book(context, transaction, {
        accountId: account.id,
        amountPicos: given.amount_usd,
        reference: given.reference,
        ...(given.note !== undefined && { note: given.note }),
      })
      return {
        account_id: account.id,
        reference: given.reference,
        amount_usd: formatUsd(given.amount_usd),
        balance_usd: formatUsd(result.balancePicos),
        repeated: result.kind === 'repeated',
      }
    }),
)

type Booked = Extract<CreditResult, { kind: 'booked' | 'repeated' }>

async function book(
  context: OperationContext,
  transaction: Transaction,
  entry: Omit<CreditRequest, 'kind' | 'atMs'>,
): Promise<Booked> {
  const kind = entry.amountPicos > 0n ? 'credit' : 'adjustment'
  const request: CreditRequest = { ...entry, kind, atMs: context.clock.now() }
  const result = await credit(transaction, request)
  switch (result.kind) {
    case 'repeated':
      return result
    case 'booked':
      await recordAction(transaction, context, {
        action: 'account.credit',
        subject: entry.accountId,
        detail: { amount_usd: formatUsd(entry.amountPicos), reference: entry.reference },
      })
      return result
    case 'conflict':
      throw conflict(
        `The reference ${entry.reference} is in use for ${describeOther(result.entry, request)} ` +
          'Nothing was booked. Use a new reference.',
      )
    case 'invalid':
      throw invalidCredit(result.reason)
    case 'unknown_account':
      throw new InvariantError('account not found while it was credited')
  }
}

/** Describes the entry that has the reference, by its difference to the request. */
function describeOther(entry: Entry, request: CreditRequest): string {
  const at = timeText(entry.createdAtMs)
  if (entry.amountPicos !== request.amountPicos)
    return `another entry of this account: ${formatUsd(entry.amountPicos)} USD on ${at}.`
  const before = entry.note === undefined ? 'without a note' : `with the note "${entry.note}"`
  const now = request.note === undefined ? 'no note' : `the note "${request.note}"`
  return `the same amount ${before}, booked on ${at}; this request has ${now}.`
}

function invalidCredit(reason: Extract<CreditResult, { kind: 'invalid' }>['reason']): Error {
  switch (reason) {
    case 'amount_sign':
      return invalidField('amount_usd', 'must not be 0')
    case 'balance_out_of_range':
      return invalidField(
        'amount_usd',
        `the balance must stay between -${amountUsdMax} and ${amountUsdMax} USD`,
      )
    case 'reference':
      return invalidField('reference', 'must not begin with ex_, the prefix of charges')
  }
}

/** Finds an account by name, else by id. Throws `operations.not_found` where there is neither. */
export async function getAccount(queryable: Queryable, reference: string): Promise<Account> {
  const account =
    (await findAccountByName(queryable, reference.normalize('NFC'))) ??
    (await findAccount(queryable, reference))
  if (account !== undefined) return account
  throw notFound(`There is no account ${reference}. List them with: turnpike account list`)
}

function readLimits(given: {
  readonly [Name in keyof typeof limitFields]?: z.output<(typeof limitFields)[Name]>
}): Partial<AccountLimits> {
  return {
    ...(given.daily_usd !== undefined && { dailyLimitPicos: given.daily_usd }),
    ...(given.rpm !== undefined && { rpm: given.rpm }),
    ...(given.window_minutes !== undefined && { windowMinutes: given.window_minutes }),
    ...(given.price_multiplier !== undefined && { priceMultiplierPpm: given.price_multiplier }),
  }
}

/** An account as operators see it. Holds are not in it: the running gateway keeps them. */
export type AccountView = Readonly<ReturnType<typeof viewAccount>>

function viewAccount(account: Account) {
  return {
    id: account.id,
    name: account.name,
    status: account.status,
    balance_usd: formatUsd(account.balancePicos),
    limits: {
      /** 0 = no limit, here and for `rpm`. */
      daily_usd: formatUsd(account.dailyLimitPicos),
      rpm: account.rpm,
      window_minutes: account.windowMinutes,
      /** Factor on the list price. */
      price_multiplier: account.priceMultiplierPpm / 1_000_000,
    },
    created_at: timeText(account.createdAtMs),
  }
}
