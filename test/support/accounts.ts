/** Accounts for tests, made through the same operations that an operator uses. */
import type { OperationContext } from '../../src/operations/operation.ts'
import { createAccount, createClientKey, createReaderToken } from './operations.ts'

export interface TestAccount {
  readonly id: string
  readonly name: string
  /** `cr_…` */
  readonly key: string
  /** `ro_…` */
  readonly token: string
}

export interface AccountOptions {
  /** Decimal USD; 10 by default. */
  readonly balance_usd?: string
  readonly daily_usd?: string
  readonly monthly_usd?: string
  readonly holds?: 'likely' | 'most'
  readonly rpm?: number
  readonly window_minutes?: number
  readonly price_multiplier?: string | number
}

let accountCount = 0

/** Makes an account with a key and a read-only token. */
export async function makeAccount(
  context: OperationContext,
  options: AccountOptions,
): Promise<TestAccount> {
  const name = `account-${++accountCount}`
  const account = await createAccount(context, { name, balance_usd: '10', ...options })
  const key = await createClientKey(context, { account: name, name: 'test' })
  const token = await createReaderToken(context, { account: name, name: 'test' })
  return { id: account.id, name, key: key.secret, token: token.secret }
}
