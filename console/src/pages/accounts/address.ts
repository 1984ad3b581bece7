/** The state of the list of accounts and of one account in their addresses. */
import { addressOf, day, flag, oneOf, text, type AddressOf } from '../../search.ts'
import { listFields } from '../../ui/list/address.ts'
import { dayPresets } from '../../ui/range.ts'

export const readListSearch = addressOf({
  /** A part of the name. */
  q: text,
  /** A status; or `low`, for accounts whose balance needs attention. */
  status: oneOf(['active', 'low', 'suspended', 'closed']),
  /** Opens the form of a new account once. */
  new: flag,
  ...listFields(['name', 'balance', 'spend']),
})
export type ListSearch = AddressOf<typeof readListSearch>

export const readAccountSearch = addressOf({
  tab: oneOf(['keys', 'requests', 'statement', 'alerts', 'activity', 'details']),
  /** The period of charts and statement: a word, or days (UTC), both included. */
  range: oneOf(dayPresets),
  from: day,
  to: day,
})
