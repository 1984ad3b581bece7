/** The state of this page in its address. */
import { addressOf, oneOf, text, type AddressOf } from '../../search.ts'
import { rangeFields } from '../../ui/range.ts'

export const readSearch = addressOf({
  tab: oneOf(['books', 'actions']),
  /** The audit in the sheet. */
  audit: text,
  /** The action in the sheet. */
  open: text,
  action: text,
  actor: text,
  subject: text,
  sessions: oneOf(['shown']),
  ...rangeFields,
})

export type PageSearch = AddressOf<typeof readSearch>
