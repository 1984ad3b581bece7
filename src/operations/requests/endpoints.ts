/** Endpoints of the request log and of refunds. */
import { refundRequest } from './refunds.ts'
import { listRequests, showRequest } from './requests.ts'
import { endpoints, exampleNames } from '../endpoint.ts'

export const requestEndpoints = endpoints('requests', {
  refund: {
    route: 'POST /requests/{request}/refund',
    summary: 'Give back the charge of a request, or a part of it, once.',
    operation: refundRequest,
    repeats: 'money',
    status: 201,
    example: { reason: 'wrong language' },
  },
  list: {
    route: 'GET /requests',
    summary: 'List requests, the newest first.',
    operation: listRequests,
    example: { account: exampleNames.account, status: '4xx', limit: 20 },
  },
  show: {
    route: 'GET /requests/{request}',
    summary: "Show one request, by its id or the vendor's.",
    operation: showRequest,
  },
})
