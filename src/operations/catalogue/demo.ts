/**
 * The demo of the first start, and its end: with its catalogue go the account and the keys that the first
 * start made and printed. They are found in the operators' log, so an operator's own account of that name
 * is never touched.
 */
import { findKey, type KeyRow } from '../../access/key-store.ts'
import { findAccount, type Account } from '../../ledger/account-store.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { changeAccountStatus } from '../accounts/accounts.ts'
import { listActionsBy } from '../actions.ts'
import { revokeStoredKey } from '../keys/keys.ts'
import type { OperationContext } from '../operation.ts'

/** Who acts on the first start, in the operators' log. */
export const firstStartActor = 'start'

/** Returns the port of the simulated vendors where every channel points at them. */
export function demoPort(urls: readonly string[]): number | undefined {
  const ports = urls.map(
    (url) => /^http:\/\/127\.0\.0\.1:(\d+)\/(alpha|beta)-(main|reserve)$/.exec(url)?.[1],
  )
  const [first] = ports
  return first !== undefined && ports.every((port) => port === first) ? Number(first) : undefined
}

/** Account and keys of the demo that are still valid. */
export interface DemoAccess {
  readonly accounts: readonly Account[]
  readonly keys: readonly KeyRow[]
}

export const noDemoAccess: DemoAccess = { accounts: [], keys: [] }

export async function findDemoAccess(queryable: Queryable): Promise<DemoAccess> {
  const accounts: Account[] = []
  const keys: KeyRow[] = []
  for (const { action, subject } of await listActionsBy(queryable, firstStartActor)) {
    if (action === 'account.create') {
      const account = await findAccount(queryable, subject)
      if (account?.status === 'active') accounts.push(account)
    } else if (action === 'key.create') {
      const key = await findKey(queryable, subject)
      if (key?.accountId !== undefined && key.revokedAtMs === undefined) keys.push(key)
    }
  }
  return { accounts, keys }
}

/** Suspends the accounts and revokes the keys. */
export async function retireDemoAccess(
  context: OperationContext,
  transaction: Transaction,
  { accounts, keys }: DemoAccess,
): Promise<void> {
  for (const account of accounts)
    await changeAccountStatus(context, transaction, { account, status: 'suspended' })
  for (const key of keys) await revokeStoredKey(context, transaction, key)
}
