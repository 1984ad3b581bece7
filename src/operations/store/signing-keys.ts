/** The keys that sign the books, as operators see and change them. The private part stays in the store. */
import { z } from 'zod'
import { invariant } from '../../base/errors.ts'
import { listSigningKeys, makeSigningKey } from '../../ledger/proof/signing-keys.ts'
import { recordAction } from '../actions.ts'
import { noInput, operation } from '../operation.ts'
import { keyForm, viewKey } from '../reports/proof-form.ts'

/** Lists the oldest first. */
export const readSigningKeys = operation(
  { input: noInput, answer: z.strictObject({ items: z.array(keyForm) }) },
  async ({ database }) => ({ items: (await listSigningKeys(database)).map(viewKey) }),
)

/** Makes a key that signs from the next sealed hour on. The present one signs it. */
export const rotateSigningKey = operation({ input: noInput, answer: keyForm }, (context) =>
  context.database.transact(async (transaction) => {
    const given = { masterKey: context.masterKey(), nowMs: context.clock.now() }
    const { keyId } = await makeSigningKey(transaction, given)
    await recordAction(transaction, context, { action: 'signing-key.create', subject: keyId })
    const made = (await listSigningKeys(transaction)).find(({ id }) => id === keyId)
    invariant(made !== undefined, 'a key that was made is listed')
    return viewKey(made)
  }),
)
