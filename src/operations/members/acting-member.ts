/**
 * What a member may reach: keys and members of the own account, and without the role owner the own keys only.
 * Operations that operators and members share ask here; for an operator every answer is yes.
 */
import type { Member } from '../../access/member-store.ts'
import { countMemberKeys, type KeyRow } from '../../access/key-store.ts'
import type { KeyLimits } from '../../base/key-limits.ts'
import { formatUsd } from '../../base/money.ts'
import type { Account } from '../../ledger/account-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { conflict, invalidFields, type OperationContext } from '../operation.ts'

type Acting = Pick<OperationContext, 'member'>

export function reachesKey({ member }: Acting, key: KeyRow): boolean {
  if (member === undefined) return true
  if (key.kind !== 'client' || key.accountId !== member.accountId) return false
  return member.role === 'owner' || key.memberId === member.id
}

export function reachesMember({ member: acting }: Acting, member: Member): boolean {
  return acting === undefined || acting.accountId === member.accountId
}

/** Undefined where all keys of the account may be seen. */
export function ownKeysOnly({ member }: Acting): string | undefined {
  return member?.role === 'member' ? member.id : undefined
}

/** Keys of an account that its members may have at once. */
const memberKeysMax = 20

/** Refuses a member's further key where there are enough. */
export async function requireKeyRoom(
  { member, clock }: Acting & Pick<OperationContext, 'clock'>,
  queryable: Queryable,
): Promise<void> {
  if (member === undefined) return
  const { accountId } = member
  if ((await countMemberKeys(queryable, { accountId, nowMs: clock.now() })) < memberKeysMax) return
  throw conflict(
    `The members of this account have ${memberKeysMax} keys already. Revoke one that is not needed.`,
  )
}

/** Refuses limits of a member's key that are wider than those of the account. */
export function requireNarrower({ member }: Acting, account: Account, limits: KeyLimits): void {
  if (member === undefined) return
  const usd = [
    ['daily_usd', limits.dailyPicos, account.dailyLimitPicos],
    ['monthly_usd', limits.monthlyPicos, account.monthlyLimitPicos],
  ] as const
  const counts = [
    ['rpm', limits.rpm, account.rpm],
    ['tpm', limits.tpm, account.tpm],
  ] as const
  const wider = [
    ...usd
      .filter(([, own, most]) => most > 0n && own > most)
      .map(([field, , most]) => [field, formatUsd(most)] as const),
    ...counts
      .filter(([, own, most]) => most > 0 && own > most)
      .map(([field, , most]) => [field, String(most)] as const),
  ]
  if (wider.length === 0) return
  throw invalidFields(
    wider.map(([field, most]) => ({
      field,
      message: `must not be more than ${most}, the limit of the account`,
    })),
  )
}
