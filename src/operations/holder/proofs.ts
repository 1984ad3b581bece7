/** The signed heads of an account for its holder, and the public keys. Keep them: see docs/verify.md. */
import { z } from 'zod'
import { listHeads } from '../../ledger/proof/seal-store.ts'
import { listSigningKeys } from '../../ledger/proof/signing-keys.ts'
import { pageForm } from '../answer-forms.ts'
import { pageFields, pageOf, readSequence } from '../paging.ts'
import { headForm, keyForm, viewHead, viewKey } from '../reports/proof-form.ts'
import { holderRead } from './holder-read.ts'

const proofsForm = pageForm(headForm).extend({
  account_id: z.string(),
  keys: z.array(keyForm).meta({ description: 'All of the gateway, the oldest first.' }),
})

/** Newest first. */
export const holderProofs = holderRead(
  { input: z.strictObject(pageFields), answer: proofsForm },
  async ({ snapshot, account, input: { cursor, limit } }) => {
    const beforePlace = readSequence(cursor)
    const page = { accountId: account.id, beforePlace, countMax: limit + 1 }
    const heads = await listHeads(snapshot, page)
    const keys = await listSigningKeys(snapshot)
    return {
      account_id: account.id,
      ...pageOf(heads, { limit, cursorOf: ({ place }) => String(place), view: viewHead }),
      keys: keys.map(viewKey),
    }
  },
)
