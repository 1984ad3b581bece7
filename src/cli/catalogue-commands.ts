/** `turnpike apply`, `export`, `channel …`: the catalogue and the operator's hand on channels. */
import type { Command } from 'commander'
import type { ApplyResult, CatalogueChange, Mistake } from '../operations/catalogue.ts'
import {
  checkChannel,
  listChannels,
  switchChannel,
  type ChannelCheck,
  type ChannelView,
} from '../operations/channels.ts'
import { withCheck } from './check.ts'
import { describeField, readText } from './files.ts'
import { addPriceCommands } from './price-commands.ts'
import { CommandFailure, exitCodes, onStore, type Answer } from './shell.ts'
import { formatFields, formatTable } from './table.ts'

export function addCatalogueCommands(program: Command): void {
  program
    .command('apply')
    .description('make vendors, models, prices and channels what a file says')
    .requiredOption('-f, --file <path>', 'the catalogue; - reads standard input', readText)
    .option('--dry-run', 'show what would change and change nothing')
    .action(
      onStore(async (context, { options }) => {
        const { applyCatalogue } = await import('../operations/catalogue.ts')
        const dryRun = options['dryRun'] === true
        return showApplied(await applyCatalogue(context, String(options['file']), { dryRun }))
      }),
    )
  program
    .command('export')
    .description('the catalogue in force, as a file for apply')
    .action(
      onStore(async (context) => {
        const { exportCatalogue } = await import('../operations/catalogue.ts')
        const { parse } = await import('yaml')
        const text = await exportCatalogue(context)
        return { json: parse(text) as unknown, text }
      }),
    )
  addChannelCommands(program)
  addPriceCommands(program)
}

function addChannelCommands(program: Command): void {
  const channel = program.command('channel').description('ways to a vendor')
  channel
    .command('list')
    .description('all channels of the catalogue')
    .action(onStore(async (context) => showChannels(await listChannels(context))))
  for (const [word, override] of [
    ['off', 'disabled'],
    ['on', 'enabled'],
  ] as const) {
    channel
      .command(word)
      .description(word === 'off' ? 'use it no more, until told otherwise' : 'use it again')
      .argument('<name>')
      .action(
        onStore(async (context, { arguments: [name] }) => {
          const view = await switchChannel(context, override, { channel: name })
          return { json: view, text: `Channel ${view.name} is ${word}.` }
        }),
      )
  }
  channel
    .command('check')
    .description('send a real, tiny request for each of its models')
    .argument('<name>')
    .action(
      onStore((context, { arguments: [name] }, config) =>
        withCheck(config, async (run) =>
          showCheck(await checkChannel(context, { channel: name }, run)),
        ),
      ),
    )
}

const appliedWords = {
  applied: 'Applied.',
  unchanged: 'The store already says so; nothing changed.',
  would_apply: 'Nothing was changed: this is what apply would do.',
} as const

function showApplied(result: ApplyResult): Answer {
  if (result.kind === 'mistakes') throw mistakesError(result.list)
  const changes = result.diff.flatMap(describeChange)
  const notes = result.notes.map((note) => `note: ${note}`)
  return { json: result, text: [...changes, ...notes, appliedWords[result.kind]].join('\n') }
}

function mistakesError(list: readonly Mistake[]): CommandFailure {
  const lines = list.map(
    ({ line, column, path, message }) =>
      `line ${line}, column ${column}: ${path === '' ? '' : `${path}: `}${message}`,
  )
  return new CommandFailure({
    code: 'operations.invalid',
    message: `nothing was applied, because the file has mistakes:\n${lines.join('\n')}`,
    details: { mistakes: list },
  })
}

const changeSigns = { add: '+', change: '~', retire: '-' } as const

function describeChange(change: CatalogueChange): readonly string[] {
  const head = `${changeSigns[change.action]} ${change.kind} ${change.name}`
  return [head, ...change.changes.map(describeField)]
}

function showChannels(channels: readonly ChannelView[]): Answer {
  const text = formatTable(
    ['name', 'vendor', 'rank', 'weight', 'state', 'check', 'models', 'url', 'credential'],
    channels.map((channel) => [
      channel.name,
      channel.vendor,
      channel.rank,
      channel.weight,
      channel.enabled ? 'on' : 'off',
      channel.check,
      Object.keys(channel.models),
      channel.url,
      channel.credential,
    ]),
    'There are no channels. Run: turnpike apply -f catalog.yaml',
  )
  return { json: channels, text }
}

function showCheck(check: ChannelCheck): Answer {
  const table = formatTable(
    ['model', 'result', 'status', 'ms'],
    check.models.map((model) => [model.model, model.outcome, model.status, model.duration_ms]),
    '',
  )
  const head = formatFields({
    channel: check.channel,
    result: check.ok ? 'ok' : 'failed',
    ...(check.reason !== null && { reason: check.reason }),
  })
  return {
    json: check,
    text: table === '' ? head : `${head}\n\n${table}`,
    exitCode: check.ok ? exitCodes.done : exitCodes.failed,
  }
}
