/** The state of this page in its address. */
import { addressOf, oneOf, text } from '../../search.ts'

export const readSearch = addressOf({
  tab: oneOf(['in-force', 'gateways', 'backups', 'access', 'doctor']),
  /** Words to find a setting by. */
  q: text,
  /** The row in the sheet. */
  open: text,
})
