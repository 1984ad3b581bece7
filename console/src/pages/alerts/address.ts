/** The state of this page in its address. */
import { addressOf, oneOf, text, type AddressOf } from '../../search.ts'

export const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const

export const readSearch = addressOf({
  tab: oneOf(['firing', 'targets', 'deliveries']),
  /** The target whose deliveries are shown. */
  target: text,
  state: oneOf(deliveryStates),
  /** The row in the sheet. */
  open: text,
})

export type PageSearch = AddressOf<typeof readSearch>
