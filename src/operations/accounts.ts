/**
 * Accounts: made, listed, limited, suspended, credited. Each change and its line in
 * the operators' log are one transaction. Money moves through the ledger's own functions only.
 */
import { z } from 'zod'
import { InvariantError, type GatewayError } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { formatUsd, usdNumber, zeroPicos } from '../base/money.ts'
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
import { recordAction } from './action-store.ts'
import { conflict, invalid, notFound, parseInput, type OperationContext } from './context.ts'
import {
  accountName,
  accountReference,
  amountUsdMax,
  balanceUsd,
  entryReference,
  limitUsd,
  note,
  entryUsd,
  priceMultiplier,
  requestsPerMinute,
  windowMinutes,
} from './input.ts'
import { timeText } from './views.ts'

/** An account as operators see it. Holds are not in it: they live in the running gateway. */
export interface AccountView {
  readonly id: string
  readonly name: string
  readonly status: AccountStatus
  readonly balance_usd: number
  readonly limits: {
    /** Zero = no limit, here and for `rpm`. */
    readonly daily_usd: number
    readonly rpm: number
    readonly window_minutes: number
    /** What the account pays of the list price. */
    readonly price_multiplier: number
  }
  readonly created_at: string
}

const limitFields = {
  daily_usd: limitUsd.optional(),
  rpm: requestsPerMinute.optional(),
  window_minutes: windowMinutes.optional(),
  price_multiplier: priceMultiplier.optional(),
}

const createInput = z.strictObject({
  name: accountName,
  balance_usd: balanceUsd.optional(),
  ...limitFields,
})

/** The reference of the credit that `balance_usd` makes. */
const firstCreditReference = 'opening-balance'

const noLimits: AccountLimits = {
  dailyLimitPicos: zeroPicos,
  rpm: 0,
  windowMinutes: 1,
  priceMultiplierPpm: 1_000_000,
}

export function createAccount(context: OperationContext, input: unknown): Promise<AccountView> {
  const wanted = parseInput(createInput, input)
  const createdAtMs = context.clock.now()
  const account = {
    id: newId('acc', createdAtMs),
    name: wanted.name,
    status: 'active',
    ...noLimits,
    ...readLimits(wanted),
    createdAtMs,
  } as const
  return context.database.transact(async (transaction) => {
    const isNew = await insertAccount(transaction, account)
    if (!isNew) throw conflict(`There is an account named ${account.name} already.`)
    await recordAction(transaction, context, {
      action: 'account.create',
      subject: account.id,
      detail: { ...viewAccount({ ...account, balancePicos: zeroPicos }) },
    })
    const amountPicos = wanted.balance_usd ?? zeroPicos
    if (amountPicos > 0n) {
      const reference = firstCreditReference
      await book(context, transaction, { accountId: account.id, amountPicos, reference })
    }
    return viewAccount({ ...account, balancePicos: amountPicos })
  })
}

export async function listAccounts(context: OperationContext): Promise<readonly AccountView[]> {
  const accounts = await readAccounts(context.database)
  return accounts.map(viewAccount)
}

const oneInput = z.strictObject({ account: accountReference })

export async function showAccount(context: OperationContext, input: unknown): Promise<AccountView> {
  return viewAccount(await getAccount(context.database, parseInput(oneInput, input).account))
}

/** Suspending what is suspended, or resuming what is active, changes nothing and succeeds. */
export function setAccountStatus(
  context: OperationContext,
  status: AccountStatus,
  input: unknown,
): Promise<AccountView> {
  const { account: reference } = parseInput(oneInput, input)
  return context.database.transact(async (transaction) => {
    const account = await getAccount(transaction, reference)
    if (account.status === status) return viewAccount(account)
    await changeStatus(transaction, account.id, status)
    await recordAction(transaction, context, {
      action: status === 'suspended' ? 'account.suspend' : 'account.resume',
      subject: account.id,
    })
    return viewAccount({ ...account, status })
  })
}

const limitsInput = z.strictObject({ account: accountReference, ...limitFields })

/** Changes the limits that are named and leaves the others. */
export function limitAccount(context: OperationContext, input: unknown): Promise<AccountView> {
  const { account: reference, ...wanted } = parseInput(limitsInput, input)
  const limits = readLimits(wanted)
  if (Object.keys(limits).length === 0) throw invalid('name at least one limit to change')
  return context.database.transact(async (transaction) => {
    const account = await getAccount(transaction, reference)
    const changed = await changeLimits(transaction, account.id, limits)
    if (changed === undefined) throw new InvariantError('an account vanished while it was changed')
    const before = viewAccount(account).limits
    const after = viewAccount(changed).limits
    await recordAction(transaction, context, {
      action: 'account.limits',
      subject: account.id,
      detail: { before, after },
    })
    return viewAccount(changed)
  })
}

const creditInput = z.strictObject({
  account: accountReference,
  amount_usd: entryUsd,
  reference: entryReference,
  note,
})

export interface Credited {
  readonly account_id: string
  readonly reference: string
  readonly amount_usd: number
  readonly balance_usd: number
  /** True where this very credit had been booked before; nothing has changed then. */
  readonly repeated: boolean
}

export function creditAccount(context: OperationContext, input: unknown): Promise<Credited> {
  const wanted = parseInput(creditInput, input)
  return context.database.transact(async (transaction) => {
    const account = await getAccount(transaction, wanted.account)
    const result = await book(context, transaction, {
      accountId: account.id,
      amountPicos: wanted.amount_usd,
      reference: wanted.reference,
      ...(wanted.note !== undefined && { note: wanted.note }),
    })
    return {
      account_id: account.id,
      reference: wanted.reference,
      amount_usd: usdNumber(wanted.amount_usd),
      balance_usd: usdNumber(result.balancePicos),
      repeated: result.kind === 'repeated',
    }
  })
}

type Booked = Extract<CreditResult, { kind: 'booked' | 'repeated' }>

async function book(
  context: OperationContext,
  transaction: Transaction,
  wanted: Omit<CreditRequest, 'kind' | 'atMs'>,
): Promise<Booked> {
  const kind = wanted.amountPicos > 0n ? 'credit' : 'adjustment'
  const request: CreditRequest = { ...wanted, kind, atMs: context.clock.now() }
  const result = await credit(transaction, request)
  switch (result.kind) {
    case 'repeated':
      return result
    case 'booked':
      await recordAction(transaction, context, {
        action: 'account.credit',
        subject: wanted.accountId,
        detail: { amount_usd: formatUsd(wanted.amountPicos), reference: wanted.reference },
      })
      return result
    case 'conflict':
      throw conflict(
        `The reference ${wanted.reference} stands for ${describeOther(result.entry, request)} ` +
          'Nothing was booked; use a new reference.',
      )
    case 'invalid':
      throw invalidCredit(result.reason)
    case 'unknown_account':
      throw new InvariantError('an account vanished while it was credited')
  }
}

/** What is booked under the reference already, by what makes it another booking. */
function describeOther(entry: Entry, request: CreditRequest): string {
  const at = timeText(entry.createdAtMs)
  if (entry.amountPicos !== request.amountPicos)
    return `another booking of this account: ${formatUsd(entry.amountPicos)} USD on ${at}.`
  const before = entry.note === undefined ? 'without a note' : `with the note "${entry.note}"`
  const now = request.note === undefined ? 'none' : `the note "${request.note}"`
  return `the same amount ${before}, booked on ${at}; this one has ${now}.`
}

function invalidCredit(reason: Extract<CreditResult, { kind: 'invalid' }>['reason']): GatewayError {
  switch (reason) {
    case 'amount_sign':
      return invalid('amount_usd: must not be 0')
    case 'balance_out_of_range':
      return invalid(`amount_usd: the balance would pass ${amountUsdMax} USD or its negative`)
    case 'reference':
      return invalid('reference: must not begin with ex_, which stands for charges')
  }
}

/** By name, else by id; `operations.not_found` where there is neither. */
export async function getAccount(queryable: Queryable, reference: string): Promise<Account> {
  const account =
    (await findAccountByName(queryable, reference.normalize('NFC'))) ??
    (await findAccount(queryable, reference))
  if (account !== undefined) return account
  throw notFound(`There is no account ${reference}.`)
}

function readLimits(wanted: {
  readonly [Name in keyof typeof limitFields]?: z.output<(typeof limitFields)[Name]>
}): Partial<AccountLimits> {
  return {
    ...(wanted.daily_usd !== undefined && { dailyLimitPicos: wanted.daily_usd }),
    ...(wanted.rpm !== undefined && { rpm: wanted.rpm }),
    ...(wanted.window_minutes !== undefined && { windowMinutes: wanted.window_minutes }),
    ...(wanted.price_multiplier !== undefined && { priceMultiplierPpm: wanted.price_multiplier }),
  }
}

function viewAccount(account: Account): AccountView {
  return {
    id: account.id,
    name: account.name,
    status: account.status,
    balance_usd: usdNumber(account.balancePicos),
    limits: {
      daily_usd: usdNumber(account.dailyLimitPicos),
      rpm: account.rpm,
      window_minutes: account.windowMinutes,
      price_multiplier: account.priceMultiplierPpm / 1_000_000,
    },
    created_at: timeText(account.createdAtMs),
  }
}
