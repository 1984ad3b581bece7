/** Endpoint of refunds. */
import { z } from 'zod'
import { refundRequest } from './refunds.ts'
import { endpoints } from '../endpoint.ts'
import { moment, usd } from '../answer-forms.ts'

const refunded = z.strictObject({
  request_id: z.string(),
  account_id: z.string(),
  account: z.string().meta({ description: 'Name of the account.' }),
  charge_usd: usd,
  amount_usd: usd,
  reason: z.string().nullable(),
  refunded_at: moment,
  balance_usd: usd,
  repeated: z.boolean().meta({ description: 'True where this refund was booked before.' }),
})

export const refundEndpoints = endpoints('requests', {
  refund: {
    route: 'POST /requests/{request}/refund',
    summary: 'Give back the charge of a request, or a part of it, once.',
    operation: refundRequest,
    answer: refunded,
    repeats: 'money',
    status: 201,
    example: { reason: 'wrong language' },
  },
})
