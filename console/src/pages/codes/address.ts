/** The state of this page in its address. */
import { addressOf, text } from '../../search.ts'

export const readSearch = addressOf({
  /** The batch whose codes are shown. */
  batch: text,
})
