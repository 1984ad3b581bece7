/** Endpoints of reconciliation: a comparison, and the kept ones. */
import { endpoints, exampleNames, fileBodyBytesMax } from '../endpoint.ts'
import { reconcileChannel } from './reconcile.ts'
import { acceptRun, listKeptRuns } from './runs.ts'

export const reconciliationEndpoints = endpoints('reconciliations', {
  create: {
    route: 'POST /reconciliations',
    summary: "Compare the charges on a channel with the vendor's own counts.",
    operation: reconcileChannel,
    bodyBytesMax: fileBodyBytesMax,
    example: { channel: exampleNames.channel, from: '2026-01-01', to: '2026-01-31' },
  },
  list: {
    route: 'GET /reconciliations',
    summary: 'List the comparisons with files of a vendor, newest first.',
    operation: listKeptRuns,
    example: { channel: exampleNames.channel },
  },
  accept: {
    route: 'POST /reconciliations/{reconciliation}/accept',
    summary: 'Accept the result of a comparison, with a note.',
    operation: acceptRun,
    example: { note: 'The vendor rounds up to cents.' },
  },
})
