/**
 * Accounts: create, change, suspend, close, credit. A change and its line in the operators' log are one
 * transaction. Only functions of the ledger move money.
 */
import { z } from 'zod'
import { InvariantError } from '../../base/errors.ts'
import { holdRules } from '../../base/hold-rule.ts'
import { newId } from '../../base/id.ts'
import { formatUsd, zeroPicos } from '../../base/money.ts'
import {
  changeLimits,
  changeProfile,
  changeStatus,
  findAccount,
  findAccountByExternalId,
  findAccountByName,
  insertAccount,
  type Account,
  type AccountLimits,
  type AccountProfile,
  type AccountStatus,
} from '../../ledger/account-store.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import { usd } from '../answer-forms.ts'
import { accountForm, accountStatuses, viewAccount, viewProfile } from './account-form.ts'
import { book } from './credit.ts'
import {
  accountName,
  accountNote,
  accountReference,
  balanceUsd,
  billTo,
  contact,
  creditLineUsd,
  entryReference,
  entryUsd,
  externalId,
  language,
  limitUsd,
  note,
  priceMultiplier,
  requestsPerMinute,
  tokensPerMinute,
  windowMinutes,
} from '../input.ts'
import {
  conflict,
  invalid,
  notFound,
  operation,
  roleInsufficient,
  type OperationContext,
} from '../operation.ts'

const limitFields = {
  credit_line_usd: creditLineUsd.optional(),
  holds: z
    .enum(holdRules)
    .nullable()
    .optional()
    .describe(
      'Amount that must be left for a request: its `likely` cost, or the `most` that it can cost; null = as the setting `holds` says.',
    ),
  daily_usd: limitUsd.optional().describe('Spending limit per day (UTC), in USD; 0 = no limit.'),
  monthly_usd: limitUsd
    .optional()
    .describe('Spending limit per calendar month (UTC), in USD; 0 = no limit.'),
  rpm: requestsPerMinute.optional(),
  window_minutes: windowMinutes.optional(),
  tpm: tokensPerMinute.optional(),
  price_multiplier: priceMultiplier.optional(),
}

const profileFields = {
  note: accountNote.optional(),
  contact: contact.optional(),
  language: language.optional(),
  alert_below_usd: limitUsd
    .optional()
    .describe('Alert when the balance is lower, in USD; 0 = never.'),
  external_id: externalId.optional(),
  bill_to: billTo.optional(),
}

/** The reference of the credit that `balance_usd` books. */
const firstCreditReference = 'opening-balance'

export const noLimits: AccountLimits = {
  creditLinePicos: zeroPicos,
  holds: undefined,
  dailyLimitPicos: zeroPicos,
  monthlyLimitPicos: zeroPicos,
  rpm: 0,
  windowMinutes: 1,
  tpm: 0,
  priceMultiplierPpm: 1_000_000,
}

const createInput = z.strictObject({
  name: accountName,
  balance_usd: balanceUsd.optional(),
  ...profileFields,
  ...limitFields,
})

export const createAccount = operation(
  { input: createInput, answer: accountForm },
  (context, { name, balance_usd: amountPicos = zeroPicos, ...given }) => {
    const createdAtMs = context.clock.now()
    const id = newId('acc', createdAtMs)
    const profile = readProfile(given)
    return context.database.transact(async (transaction) => {
      const account = { id, name, ...noLimits, ...readLimits(given), createdAtMs }
      const isNew = await insertAccount(transaction, account)
      if (!isNew) throw nameTaken(name)
      await requireFree(transaction, id, profile)
      await changeProfile(transaction, id, profile)
      const made = await getAccount(transaction, id)
      await recordAction(transaction, context, {
        action: 'account.create',
        subject: id,
        detail: { ...viewAccount(made) },
      })
      if (amountPicos > 0n) {
        const entry = { accountId: id, amountPicos, reference: firstCreditReference }
        await book(context, transaction, entry, { isConfirmed: true })
      }
      return viewAccount(await getAccount(transaction, id))
    })
  },
)

const changeInput = z.strictObject({
  account: accountReference,
  name: accountName.optional(),
  ...profileFields,
  status: z.enum(accountStatuses).optional(),
  ...limitFields,
})

/** Changes the fields that are given and keeps the others. */
export const changeAccount = operation(
  { input: changeInput, answer: accountForm },
  (context, { account: reference, status, name, ...given }) => {
    const limits = readLimits(given)
    const profile = { ...(name !== undefined && { name }), ...readProfile(given) }
    const counts = [limits, profile].map((changes) => Object.keys(changes).length)
    if (status === undefined && counts.every((count) => count === 0))
      throw invalid('Give at least one change.')
    return context.database.transact(async (transaction) => {
      const account = await getAccount(transaction, reference)
      await changeAccountProfile(context, transaction, { account, profile })
      await changeAccountLimits(context, transaction, { account, limits })
      if (status !== undefined) await changeAccountStatus(context, transaction, { account, status })
      return viewAccount(await getAccount(transaction, account.id))
    })
  },
)

/** Suspends, resumes, closes or reopens. Where the account has that status already, nothing changes. */
export async function changeAccountStatus(
  context: OperationContext,
  transaction: Transaction,
  { account, status }: { readonly account: Account; readonly status: AccountStatus },
): Promise<void> {
  if (account.status === status) return
  await changeStatus(transaction, account.id, { status, atMs: context.clock.now() })
  const verb = account.status === 'closed' ? 'reopen' : statusVerbs[status]
  await recordAction(transaction, context, {
    action: `account.${verb}`,
    subject: account.id,
    detail: { before: account.status, after: status },
  })
}

const statusVerbs = { active: 'resume', suspended: 'suspend', closed: 'close' } as const

async function changeAccountLimits(
  context: OperationContext,
  transaction: Transaction,
  change: { readonly account: Account; readonly limits: Partial<AccountLimits> },
): Promise<void> {
  const { account, limits } = change
  if (Object.keys(limits).length === 0) return
  const changed = await changeLimits(transaction, account.id, limits)
  if (changed === undefined) throw new InvariantError('account not found after its change')
  await recordAction(transaction, context, {
    action: 'account.limits',
    subject: account.id,
    detail: { before: viewAccount(account).limits, after: viewAccount(changed).limits },
  })
}

type Profile = Partial<AccountProfile> & { readonly name?: string }

export async function changeAccountProfile(
  context: OperationContext,
  transaction: Transaction,
  { account, profile }: { readonly account: Account; readonly profile: Profile },
): Promise<void> {
  if (Object.keys(profile).length === 0) return
  await requireFree(transaction, account.id, profile)
  await changeProfile(transaction, account.id, profile)
  const changed = { ...account, ...profile, name: profile.name ?? account.name }
  await recordAction(transaction, context, {
    action: 'account.edit',
    subject: account.id,
    detail: {
      before: { name: account.name, ...viewProfile(account) },
      after: { name: changed.name, ...viewProfile(changed) },
    },
  })
}

/** Refuses a name or an external id that another account has. */
async function requireFree(
  transaction: Transaction,
  accountId: string,
  { name, externalId: id }: Pick<Profile, 'name' | 'externalId'>,
): Promise<void> {
  const named = name === undefined ? undefined : await findAccountByName(transaction, name)
  if (named !== undefined && named.id !== accountId) throw nameTaken(named.name)
  const other = id === undefined ? undefined : await findAccountByExternalId(transaction, id)
  if (other !== undefined && other.id !== accountId)
    throw conflict(`The account ${other.name} has the external id ${id} already.`)
}

function nameTaken(name: string): Error {
  return conflict(`There is an account named ${name} already.`)
}

const creditInput = z.strictObject({
  account: accountReference,
  amount_usd: entryUsd,
  reference: entryReference,
  note: note.optional().describe('A text that is stored with the entry.'),
  /** Books an amount that is probably a mistake; see `book`. */
  confirm: z
    .boolean('must be true or false')
    .default(false)
    .describe('Book a negative or an unusually large amount without a question.'),
})

const creditForm = z.strictObject({
  account_id: z.string(),
  reference: z.string(),
  amount_usd: usd,
  balance_usd: usd,
  repeated: z.boolean().meta({ description: 'True where this credit was booked before.' }),
})

export const creditAccount = operation(
  { input: creditInput, answer: creditForm },
  (context, given) =>
    context.database.transact(async (transaction) => {
      const account = await getAccount(transaction, given.account)
      const { amount_usd: amountPicos, reference, confirm: isConfirmed } = given
      if (context.takesNothingBack === true && amountPicos < 0n)
        throw roleInsufficient('A token with the role credits may not take money back.')
      const result = await book(
        context,
        transaction,
        {
          accountId: account.id,
          amountPicos,
          reference,
          ...(given.note !== undefined && { note: given.note }),
        },
        { isConfirmed },
      )
      if (result.kind === 'booked' && account.status === 'closed' && amountPicos > 0n)
        throw conflict(
          `The account ${account.name} is closed and takes no credits. Nothing was booked. ` +
            'Reopen it first, with: turnpike account reopen NAME',
        )
      return {
        account_id: account.id,
        reference: given.reference,
        amount_usd: formatUsd(given.amount_usd),
        balance_usd: formatUsd(result.balancePicos),
        repeated: result.kind === 'repeated',
      }
    }),
)

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
    ...(given.credit_line_usd !== undefined && { creditLinePicos: given.credit_line_usd }),
    ...(given.holds !== undefined && { holds: given.holds ?? undefined }),
    ...(given.daily_usd !== undefined && { dailyLimitPicos: given.daily_usd }),
    ...(given.monthly_usd !== undefined && { monthlyLimitPicos: given.monthly_usd }),
    ...(given.rpm !== undefined && { rpm: given.rpm }),
    ...(given.window_minutes !== undefined && { windowMinutes: given.window_minutes }),
    ...(given.tpm !== undefined && { tpm: given.tpm }),
    ...(given.price_multiplier !== undefined && { priceMultiplierPpm: given.price_multiplier }),
  }
}

/** Undefined where the field is absent; an empty external id removes it. */
function readProfile(given: {
  readonly [Name in keyof typeof profileFields]?: z.output<(typeof profileFields)[Name]>
}) {
  const {
    note,
    contact: address,
    language: tongue,
    alert_below_usd: below,
    external_id: id,
    bill_to: payer,
  } = given
  return {
    ...(note !== undefined && { note }),
    ...(address !== undefined && { contact: address }),
    ...(tongue !== undefined && { language: tongue }),
    ...(below !== undefined && { alertBelowPicos: below }),
    ...(id !== undefined && { externalId: id === '' ? undefined : id }),
    ...(payer !== undefined && { billTo: payer }),
  }
}
