/** `turnpike channel reconcile`: what the vendor of a channel bills, beside what the gateway expects. */
import { channelEndpoints } from '../../operations/channels/endpoints.ts'
import type { Reconciliation } from '../../operations/reconcile/reconcile.ts'
import { textOf } from '../columns.ts'
import { callRow } from '../row.ts'

export const reconcileCommand = callRow(channelEndpoints.reconcile, {
  words: 'channel reconcile',
  arguments: ['channel'],
  help: `Example:
  turnpike channel reconcile alpha-main --from 2027-01-01 --to 2027-01-31 --vendor-file usage.csv cost.csv`,
  show: reconciliationText,
})

/** The counts of all models are one table. */
function reconciliationText(reconciliation: Reconciliation): string {
  const counts = reconciliation.models.flatMap(({ model, counts: figures }) =>
    figures.map((figure) => ({ model, ...figure })),
  )
  const models = reconciliation.models.map(({ counts: _counts, ...model }) => model)
  return `${textOf({ ...reconciliation, models, counts })}\n\n${resultText(reconciliation)}`
}

function resultText({ vendor_usd, expected_usd, difference_usd }: Reconciliation): string {
  return vendor_usd === null || difference_usd === null
    ? `expected ${centsOf(expected_usd)}; no file names what the vendor bills`
    : `vendor bills ${centsOf(vendor_usd)}, expected ${centsOf(expected_usd)}, ${centsOf(difference_usd)} unexplained`
}

/** Writes at least the cents of an exact amount. */
function centsOf(usd: string): string {
  const [whole = '', decimals = ''] = usd.split('.')
  return `${whole}.${decimals.padEnd(2, '0')}`
}
