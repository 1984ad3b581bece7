/** `turnpike channel reconcile`: the gateway's counts on a channel beside the vendor's own. */
import type { Command } from 'commander'
import { reconcileChannel, type Reconciliation } from '../operations/reconcile.ts'
import type { Comparison, ModelVerdict } from '../operations/vendor-comparison.ts'
import { demandingStore } from './existing-store.ts'
import { readText } from './files.ts'
import { answering, exitCodes, withStore, type Answer } from './shell.ts'
import { formatTable } from './table.ts'

export function addReconcileCommand(channel: Command): void {
  channel
    .command('reconcile')
    .description('what was charged on a channel, beside what its vendor counted')
    .argument('<name>', 'a channel, or all')
    .requiredOption('--from <date>', 'first day or moment, UTC')
    .requiredOption('--to <date>', 'last day, or a moment, UTC')
    .option('--vendor-file <file>', "the vendor's counts, CSV or JSON; - reads standard input")
    .action(
      demandingStore(
        answering(async (given) => {
          const {
            arguments: [channel],
            options: { from, to, vendorFile },
          } = given
          const vendor_counts =
            typeof vendorFile === 'string' ? await readText(vendorFile) : undefined
          const input = { channel, from, to, vendor_counts }
          return withStore(given, async (context) => show(await reconcileChannel(context, input)))
        }),
      ),
    )
}

function show(reconciliation: Reconciliation): Answer {
  const { comparison, explained_from, models } = reconciliation
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
    'Nothing went over this channel in the period.',
  )
  const table =
    explained_from === null
      ? rows
      : `${rows}\n\nOnly from ${explained_from} on: exchanges before it are no longer kept.`
  if (comparison === null) return { json: reconciliation, text: table }
  const agrees = comparison.verdicts.every(({ verdict }) => verdict !== 'unexplained')
  const isWhole = agrees && comparison.unknown_models.length === 0
  return {
    json: reconciliation,
    text: `${table}\n\n${compared(comparison)}`,
    exitCode: isWhole ? exitCodes.done : exitCodes.failed,
  }
}

function counts(tokens: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(tokens)
    .map(([name, count]) => `${name} ${count ?? 0}`)
    .join(', ')
}

/** With what the vendor calls it, where several are judged together. */
function titled({ model, models, vendor_models }: ModelVerdict): string {
  const isPlain = models.length === 1 && vendor_models.length <= 1
  return isPlain ? model : `${model} (${vendor_models.join(' + ')} with the vendor)`
}

function judged(one: ModelVerdict): string {
  const title = titled(one)
  if (one.verdict === 'unexplained') return `${title}: NOT explained: ${one.reasons.join('; ')}`
  const beyond = `${one.difference_usd} USD beyond the charges`
  return one.verdict === 'explained'
    ? `${title}: explained: ${beyond}, ${one.explained_up_to_usd} USD of cost and estimates`
    : `${title}: possible: ${beyond}, ${one.explained_up_to_usd} USD of cost and estimates; ` +
        `answers whose counts never came can be the rest (up to ${one.possible_up_to_usd} USD)`
}

function compared({ figures, verdicts, unknown_models }: Comparison): string {
  const table = formatTable(
    ['model', 'figure', 'vendor', 'here', 'difference'],
    figures.map((row) => [row.model, row.figure, row.vendor, row.ours, row.difference]),
    unknown_models.length === 0
      ? 'There is nothing to compare.'
      : 'Nothing that the vendor counted went through here.',
  )
  const lines = verdicts.map((one) => {
    const lost =
      one.not_charged_usd === '0'
        ? ''
        : `; ${one.not_charged_usd} USD of what it counted was not charged, being implausible`
    return judged(one) + lost
  })
  const strangers = unknown_models.map(
    (model) =>
      `${model}: NOT explained: the vendor counted it, and nothing of it went through here`,
  )
  return [table, '', ...lines, ...strangers].join('\n')
}
