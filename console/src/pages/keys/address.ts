/** The state of the list of keys in its address. No secret is in it: a head is seven characters at most. */
import { addressOf, oneOf, text, type AddressOf } from '../../search.ts'
import { listFields } from '../../ui/list/address.ts'

export const kinds = ['client', 'reader', 'admin'] as const
export const states = ['active', 'expired', 'revoked'] as const

export const readSearch = addressOf({
  /** How a secret begins; else a part of a name. */
  q: text,
  /** Id of one key, which is shown alone. */
  key: text,
  /** Name or id. */
  account: text,
  kind: oneOf(kinds),
  state: oneOf(states),
  ...listFields(['created', 'last_used', 'spend']),
})

export type ListSearch = AddressOf<typeof readSearch>
