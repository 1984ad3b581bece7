/** `turnpike channel reconcile`: what the vendor of a channel bills, beside what the gateway expects. */
import { channelEndpoints } from '../../operations/channels/endpoints.ts'
import type { Reconciliation } from '../../operations/reconcile/reconcile.ts'
import { tableOf, type Column } from '../columns.ts'
import { callRow } from '../row.ts'

export const reconcileCommand = callRow(channelEndpoints.reconcile, {
  words: 'channel reconcile',
  arguments: ['channel'],
  help: `Example:
  turnpike channel reconcile alpha-main --from 2027-01-01 --to 2027-01-31 --vendor-file usage.csv cost.csv`,
  show: reconciliationText,
})

type Model = Reconciliation['models'][number]

const modelColumns: readonly Column<Model>[] = [
  ['model', titleOf],
  'charged_usd',
  ['vendor bills USD', 'vendor_usd'],
  'expected_usd',
  'difference_usd',
]

type Count = Model['counts'][number] & { readonly model: string }

const countColumns: readonly Column<Count>[] = [
  'model',
  'figure',
  'vendor',
  'expected',
  ['difference', ({ vendor, expected }) => (vendor === null ? null : vendor - expected)],
]

function reconciliationText(reconciliation: Reconciliation): string {
  const { models } = reconciliation
  const counts = models.flatMap((row) =>
    row.counts.map((count) => ({ ...count, model: titleOf(row) })),
  )
  const parts = [
    tableOf(counts, countColumns),
    tableOf(models, modelColumns, 'No requests on this channel in this period.'),
    notes(reconciliation).join('\n'),
    resultText(reconciliation),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Returns the model, with the vendor's names for it where they are several or other ones. */
function titleOf({ model, models, vendor_models }: Model): string {
  if (model === null) return 'no model'
  const isPlain = models.length <= 1 && vendor_models.length <= 1
  return isPlain ? model : `${model} (at the vendor: ${vendor_models.join(' + ')})`
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

/** Says what is not in these sums. */
function notes(reconciliation: Reconciliation): readonly string[] {
  const { explained_from, unclean_stops, fields_not_compared, rows_outside_period } = reconciliation
  const lines = unclean_stops.map(({ node, from, to }) => {
    const window = to === null ? `after ${from}` : `between ${from} and ${to}`
    return `${node} stopped uncleanly ${window}: what it served then is not recorded.`
  })
  if (explained_from !== null)
    lines.push(`From ${explained_from} on only: earlier exchanges are no longer kept.`)
  if (fields_not_compared.length > 0) lines.push(`Not compared: ${fields_not_compared.join(', ')}.`)
  if (rows_outside_period > 0)
    lines.push(`${rows_outside_period} rows are of days outside the period, and are not counted.`)
  if (reconciliation.has_more_pages)
    lines.push('A page says that more pages follow, and the next one is not given: add it.')
  return lines
}
