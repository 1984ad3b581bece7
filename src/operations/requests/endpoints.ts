/** Endpoints of the request log and of refunds. */
import { countRequests } from './histogram.ts'
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
    isExported: true,
    example: { account: exampleNames.account, status: '4xx', limit: 20 },
  },
  // Before the row of one request, whose path it fits too.
  histogram: {
    route: 'GET /requests/histogram',
    summary: 'Count the requests of a period by time and outcome.',
    operation: countRequests,
    example: { account: exampleNames.account, from: '2026-01-01', to: '2026-01-31' },
  },
  show: {
    route: 'GET /requests/{request}',
    summary: "Show one request, by its id or the vendor's.",
    operation: showRequest,
  },
})
