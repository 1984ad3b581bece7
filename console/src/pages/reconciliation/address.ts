/** The state of this page in its address. The files are not in it: they stay in the browser. */
import { addressOf, text, type AddressOf } from '../../search.ts'
import { rangeFields } from '../../ui/range.ts'

export const readSearch = addressOf({
  channel: text,
  /** The run in the sheet. */
  open: text,
  ...rangeFields,
})

export type ReconciliationSearch = AddressOf<typeof readSearch>
