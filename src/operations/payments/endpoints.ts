/** Endpoints of payments. */
import { endpoints, fileBodyBytesMax } from '../endpoint.ts'
import { comparePayments } from './compare.ts'

export const paymentEndpoints = endpoints('payments', {
  compare: {
    route: 'POST /payments/compare',
    summary:
      'Compare an export of Stripe with the ledger: which payments are missing, which differ.',
    operation: comparePayments,
    bodyBytesMax: fileBodyBytesMax,
    example: {
      text: 'payment_intent_id,reporting_category,currency,gross\npi_example,charge,usd,25.00\n',
    },
  },
})
