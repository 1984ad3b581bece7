/** Endpoints of top-up codes. */
import { endpoints, exampleNames } from '../endpoint.ts'
import { createCodes, readBatches, readCodes, revokeCode } from './codes.ts'

export const codeEndpoints = endpoints('codes', {
  list: {
    route: 'GET /codes',
    summary: 'List the batches of top-up codes, newest first.',
    operation: readBatches,
    isExported: true,
  },
  create: {
    route: 'POST /codes',
    summary: 'Make a batch of top-up codes; they are shown once.',
    operation: createCodes,
    repeats: 'secret',
    status: 201,
    example: { amount_usd: '25', count: 3, expires: '2099-12-31', note: 'spring fair' },
  },
  show: {
    route: 'GET /codes/{id}',
    summary: 'List the codes of a batch: how each begins, its state, and who has redeemed it.',
    operation: readCodes,
    isExported: true,
    example: { id: exampleNames.batch },
  },
  revoke: {
    route: 'DELETE /codes/{id}',
    summary: 'Revoke the codes of a batch that are not redeemed, or one code.',
    operation: revokeCode,
    example: { id: exampleNames.batch },
  },
})
