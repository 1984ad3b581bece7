/**
 * What the holder of an account may ask for: one read of the holder's own account. The caller is known by
 * a read-only token, so the account is given by its id and never by a name. Nothing of the operator's side
 * leaves this room: no channel, no own cost, no other account. Amounts are JSON numbers, as in `/v1/usage`.
 */
import type { z } from 'zod'
import { listKeys } from '../../access/key-store.ts'
import { findAccount, type Account } from '../../ledger/account-store.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Answer } from '../answer-forms.ts'
import { ownKeysOnly } from '../members/acting-member.ts'
import {
  notFound,
  operation,
  type AnsweringOperation,
  type OperationContext,
} from '../operation.ts'

export interface HolderQuestion<Input> {
  readonly snapshot: Queryable
  readonly account: Account
  /** Wall time. */
  readonly nowMs: number
  /** The tax that credits include, in thousandths of a percent. */
  readonly taxThousandths: number
  readonly input: Input
  /** The member whose keys alone may be seen; undefined = all keys of the account. */
  readonly ownerOfKeys: string | undefined
}

/** Makes an operation that reads one account in one snapshot. */
export function holderRead<Shape extends z.ZodObject, Form extends z.ZodType>(
  forms: { readonly input: Shape; readonly answer: Form },
  read: (question: HolderQuestion<z.output<Shape>>) => Promise<Answer<Form>>,
): AnsweringOperation<Answer<Form>, Shape, [accountId: string]> {
  return operation(forms, (context: OperationContext, input: z.output<Shape>, accountId: string) =>
    context.database.snapshot(async (snapshot) => {
      const { clock, taxThousandths = 0 } = context
      const account = await getHolder(snapshot, accountId)
      const ownerOfKeys = ownKeysOnly(context)
      return read({ snapshot, account, nowMs: clock.now(), taxThousandths, input, ownerOfKeys })
    }),
  )
}

/** Returns the keys that a member has or had. */
export async function idsOfOwnKeys(
  snapshot: Queryable,
  owner: { readonly accountId: string; readonly memberId: string },
): Promise<ReadonlySet<string>> {
  const keys = await listKeys(snapshot, { kind: 'client', ...owner })
  return new Set(keys.map(({ id }) => id))
}

/** Refuses where the account is gone. */
export async function getHolder(snapshot: Queryable, accountId: string): Promise<Account> {
  const account = await findAccount(snapshot, accountId)
  if (account === undefined) throw notFound('This account no longer exists.')
  return account
}
