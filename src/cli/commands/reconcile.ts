/** `turnpike channel reconcile`: the gateway's counts on a channel beside the vendor's own. */
import { channelEndpoints } from '../../operations/channels/endpoints.ts'
import type { Reconciliation } from '../../operations/reconcile/reconcile.ts'
import type { Comparison, ModelVerdict } from '../../operations/reconcile/vendor-comparison.ts'
import { tableOf, type Column } from '../columns.ts'
import { callRow } from '../row.ts'

export const reconcileCommand = callRow(channelEndpoints.reconcile, {
  words: 'channel reconcile',
  arguments: ['channel'],
  help: `The command ends with 1 where the vendor counted something that the gateway cannot explain.

Example:
  turnpike channel reconcile alpha-main --from 2027-01-01 --to 2027-01-31 --vendor-file usage.csv cost.csv`,
  show: reconciliationText,
  hasFailed: ({ comparison }) => comparison !== null && !isExplained(comparison),
})

const modelColumns: readonly Column<Reconciliation['models'][number]>[] = [
  ['channel', ({ channel }) => channel || null],
  'model',
  ['charged', 'charged_requests'],
  ['tokens', 'charged_tokens'],
  ['USD', 'charged_usd'],
  ['estimated', 'estimated_requests'],
  ['capped', 'capped_requests'],
  'not_charged_usd',
  ['uncharged', 'uncharged_requests'],
  'other_attempts',
  ['cost USD', 'operator_cost_usd'],
  'checks',
  'check_tokens',
  'check_usd',
]

const costColumns: readonly Column<Comparison['costs'][number]>[] = [
  ['model', ({ model }) => model ?? 'no model'],
  ['vendor bills USD', 'vendor_usd'],
  'charged_usd',
  'own_cost_usd',
  'difference_usd',
]

function reconciliationText(reconciliation: Reconciliation): string {
  const { comparison, explained_from, models, unclean_stops } = reconciliation
  const rows = tableOf(models, modelColumns, 'No requests on this channel in this period.')
  const notes = unclean_stops.map(({ node, from, to }) => {
    const window = to === null ? `after ${from}` : `between ${from} and ${to}`
    return (
      `${node} stopped uncleanly ${window}: what it served then is not recorded, ` +
      'and can explain what the vendor counted more.'
    )
  })
  if (explained_from !== null)
    notes.push(`From ${explained_from} on only: earlier exchanges are no longer kept.`)
  const compared = comparison === null ? [] : [comparisonText(comparison)]
  return [rows, ...notes, ...compared].join('\n\n')
}

function isExplained({ verdicts, unknown_models: strangers }: Comparison): boolean {
  return strangers.length === 0 && verdicts.every(({ verdict }) => verdict !== 'unexplained')
}

/** Returns the model, with the vendor's names for it where several are compared together. */
function titleOf({ model, models, vendor_models }: ModelVerdict): string {
  const isPlain = models.length === 1 && vendor_models.length <= 1
  return isPlain ? model : `${model} (at the vendor: ${vendor_models.join(' + ')})`
}

function verdictText(one: ModelVerdict): string {
  const title = titleOf(one)
  if (one.verdict === 'unexplained') return `${title}: NOT explained: ${one.reasons.join('; ')}`
  const beyond = `${one.difference_usd} USD more than charged`
  return one.verdict === 'explained'
    ? `${title}: explained: ${beyond}; known cost and estimates explain up to ${one.explained_up_to_usd} USD`
    : `${title}: possible: ${beyond}; known cost and estimates explain up to ${one.explained_up_to_usd} USD, ` +
        `answers without counts up to ${one.possible_up_to_usd} USD`
}

function comparisonText(comparison: Comparison): string {
  const { figures, verdicts, unknown_models, costs } = comparison
  const table = tableOf(
    figures,
    ['model', 'figure', 'vendor', ['here', 'ours'], 'difference'],
    unknown_models.length === 0
      ? 'There are no counts to compare.'
      : 'The vendor counted none of the models of this gateway.',
  )
  const lines = verdicts.map((one) => {
    const lost =
      one.not_charged_usd === '0'
        ? ''
        : `; ${one.not_charged_usd} USD was not charged, because its counts were implausible`
    return verdictText(one) + lost
  })
  const strangers = unknown_models.map(
    (model) =>
      `${model}: NOT explained: the vendor counted it, and the gateway has no request for it`,
  )
  const costTable = tableOf(costs, costColumns)
  const parts = [table, [...lines, ...strangers].join('\n'), costTable, notes(comparison)]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Says what of the vendor's files was not compared. */
function notes({ fields_not_compared, rows_outside_period, has_more_pages }: Comparison): string {
  return [
    ...(fields_not_compared.length === 0
      ? []
      : [`Not compared: ${fields_not_compared.join(', ')}.`]),
    ...(rows_outside_period === 0
      ? []
      : [`${rows_outside_period} rows are of days outside the period, and are not counted.`]),
    ...(has_more_pages
      ? ['A page says that more pages follow, and the next one is not given: add it.']
      : []),
  ].join('\n')
}
