/** `turnpike channel reconcile`: the gateway's counts on a channel beside the vendor's own. */
import type { Command } from 'commander'
import { channelEndpoints } from '../operations/channels/endpoints.ts'
import type { Reconciliation } from '../operations/reconcile/reconcile.ts'
import type { Comparison, ModelVerdict } from '../operations/reconcile/vendor-comparison.ts'
import { command, exitCodes, shown, type Answer } from './command.ts'
import { formatTable } from './output.ts'

export function addReconcileCommand(channel: Command): void {
  channel
    .command('reconcile')
    .description("compare charges on a channel with the vendor's own counts")
    .argument('<channel>', 'name of the channel, or all')
    .requiredOption('--from <date>', 'first day (UTC), or a time such as 2027-01-31T12:00:00Z')
    .requiredOption('--to <date>', 'last day (UTC, included), or a time')
    .option(
      '--vendor-file <file...>',
      "the vendor's exports, CSV files or pages of its API; - reads standard input",
    )
    .addHelpText(
      'after',
      `
The command ends with 1 where the vendor counted something that the gateway cannot explain.

Example:
  turnpike channel reconcile alpha-main --from 2027-01-01 --to 2027-01-31 --vendor-file usage.csv cost.csv`,
    )
    .action(
      command(
        { file: ({ options }) => options['vendorFile'], store: 'existing' },
        async ({ call, arguments: [name], options, texts }) =>
          shown(
            await call(channelEndpoints.reconcile, {
              channel: name,
              from: options['from'],
              to: options['to'],
              vendor_counts: texts.length === 0 ? undefined : texts,
            }),
            show,
          ),
      ),
    )
}

function show(reconciliation: Reconciliation): Answer {
  const { comparison, explained_from, models, unclean_stops } = reconciliation
  const rows = formatTable(
    ['channel', 'model', 'charged', 'tokens', 'USD', 'estimated', 'capped'].concat([
      'not charged USD',
      'uncharged',
      'other attempts',
      'cost USD',
      'checks',
      'check tokens',
      'check USD',
    ]),
    models.map((row) => [
      row.channel === '' ? null : row.channel,
      row.model,
      row.charged_requests,
      counts(row.charged_tokens),
      row.charged_usd,
      row.estimated_requests,
      row.capped_requests,
      row.not_charged_usd,
      row.uncharged_requests,
      row.other_attempts,
      row.operator_cost_usd,
      row.checks,
      counts(row.check_tokens),
      row.check_usd,
    ]),
    'No requests on this channel in this period.',
  )
  const notes = unclean_stops.map(({ node, from, to }) => {
    const window = to === null ? `after ${from}` : `between ${from} and ${to}`
    return (
      `${node} stopped uncleanly ${window}: what it served then is not recorded, ` +
      'and can explain what the vendor counted more.'
    )
  })
  if (explained_from !== null)
    notes.push(`From ${explained_from} on only: earlier exchanges are no longer kept.`)
  const table = [rows, ...notes].join('\n\n')
  if (comparison === null) return { json: reconciliation, text: table }
  const agrees = comparison.verdicts.every(({ verdict }) => verdict !== 'unexplained')
  const isWhole = agrees && comparison.unknown_models.length === 0
  return {
    json: reconciliation,
    text: `${table}\n\n${comparisonText(comparison)}`,
    exitCode: isWhole ? exitCodes.done : exitCodes.failed,
  }
}

function counts(tokens: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(tokens)
    .map(([name, count]) => `${name} ${count ?? 0}`)
    .join(', ')
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
  const table = formatTable(
    ['model', 'figure', 'vendor', 'here', 'difference'],
    figures.map((row) => [row.model, row.figure, row.vendor, row.ours, row.difference]),
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
  const costTable = formatTable(
    ['model', 'vendor bills USD', 'charged USD', 'own cost USD', 'difference USD'],
    costs.map((row) => [
      row.model ?? 'no model',
      row.vendor_usd,
      row.charged_usd,
      row.own_cost_usd,
      row.difference_usd,
    ]),
    '',
  )
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
