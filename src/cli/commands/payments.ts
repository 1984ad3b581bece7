/** `turnpike payment …`: payments of account holders. */
import { paymentEndpoints } from '../../operations/payments/endpoints.ts'
import { callRow, type CommandRow } from '../row.ts'

export const paymentCommands: readonly CommandRow[] = [
  callRow(paymentEndpoints.compare, {
    words: 'payment compare',
    arguments: ['text'],
    hints: { text: { flags: '<file>', isFile: true } },
    hasFailed: ({ payments, equal }) => equal < payments,
    help: `The file is the itemized balance report of Stripe as CSV, with the columns payment_intent_id,
reporting_category, currency and gross. The command ends with 1 where a payment is missing or differs.`,
  }),
]
