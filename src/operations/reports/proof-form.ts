/**
 * The forms of what proves the books: signed heads, keys, places of lines in the chain. See docs/verify.md.
 */
import { z } from 'zod'
import { formatUsd } from '../../base/money.ts'
import type { SealedHead } from '../../ledger/proof/seal-store.ts'
import type { StatementProof } from '../../ledger/proof/statement-proof.ts'
import type { PublicSigningKey } from '../../ledger/proof/signing-keys.ts'
import { count, moment, usd, type Answer } from '../answer-forms.ts'
import { timeText } from '../operation.ts'

export const headForm = z.strictObject({
  hour: moment.meta({ description: 'The end of the sealed hour.' }),
  count: count.meta({ description: 'The lines of the account up to it.' }),
  sum: usd.meta({ description: 'Of these lines.' }),
  hash: z.string().meta({ description: 'Of the last of them, SHA-256 as hex.' }),
  key: z.string().meta({ description: 'The id of the key that signed it.' }),
  signature: z.string().meta({ description: 'Ed25519 as hex.' }),
})

export const keyForm = z.strictObject({
  id: z.string(),
  public_key: z.string().meta({ description: 'Ed25519, 32 bytes as hex.' }),
  created_at: moment,
  signed_by: z.string().nullable().meta({ description: 'The key before it; null = none.' }),
  signature: z.string().nullable().meta({ description: 'By that key, as hex.' }),
})

export const lineProofForm = z.strictObject({
  place: count.meta({ description: 'In the chain of the account, from 1.' }),
  hash: z.string(),
  bill_hash: z.string().meta({ description: 'Of the text of the bill; empty = it has none.' }),
  bill: z.string().nullable().meta({ description: 'Its text; null where it is no longer kept.' }),
})

export const statementProofForm = z.strictObject({
  heads: z
    .array(headForm)
    .meta({ description: 'Those of the hours of its lines, in their order.' }),
  gaps: z.array(z.strictObject({ place: count, leaf: z.string() })).meta({
    description: 'Lines of these hours that are not in the statement, as their hashes.',
  }),
  keys: z.array(keyForm),
})

export function viewHead(head: SealedHead): Answer<typeof headForm> {
  return {
    hour: timeText(head.hourMs),
    count: head.place,
    sum: formatUsd(head.sumPicos),
    hash: head.hash,
    key: head.keyId,
    signature: head.signature,
  }
}

export function viewKey(key: PublicSigningKey): Answer<typeof keyForm> {
  return {
    id: key.id,
    public_key: key.publicKey,
    created_at: timeText(key.createdAtMs),
    signed_by: key.signedBy ?? null,
    signature: key.signature ?? null,
  }
}

export function viewStatementProof(
  { heads, gaps }: StatementProof,
  keys: readonly PublicSigningKey[],
): Answer<typeof statementProofForm> {
  return { heads: heads.map(viewHead), gaps, keys: keys.map(viewKey) }
}
