/** `turnpike price …`: prices in force and to come, and taking them over from the community's list. */
import { InvalidArgumentError, type Command } from 'commander'
import { listPrices, type PriceView } from '../operations/prices.ts'
import type { ImportedModel, ImportResult } from '../operations/prices/import.ts'
import { onExistingStore, withExistingStore } from './existing-store.ts'
import { describeField, readText } from './files.ts'
import { answering, CommandFailure, type Answer } from './shell.ts'
import { formatTable } from './table.ts'

export function addPriceCommands(program: Command): void {
  const price = program.command('price').description('prices')
  price
    .command('list')
    .description('all prices, in USD per million tokens: past, in force, and later ones')
    .action(onExistingStore(async (context) => showPrices(await listPrices(context))))
  price
    .command('import')
    .description('take the prices of a list such as model_prices_and_context_window.json')
    .argument('<file>', 'the list; - reads standard input')
    .option('--map <ours=theirs>', 'a model and its name in the list; may be repeated', addName, {})
    .option('--models <ids>', 'only these models, separated by commas', splitList)
    .option('--valid-from <date>', 'the day or moment (UTC) from which they hold; now by default')
    .option('--dry-run', 'show what would change and change nothing')
    .action(
      answering(async (given) => {
        const { importPrices } = await import('../operations/prices/import.ts')
        const {
          arguments: [path = ''],
          options,
        } = given
        const input = {
          text: await readText(path),
          names: options['map'],
          models: options['models'],
          valid_from: options['validFrom'],
        }
        const dryRun = options['dryRun'] === true
        return withExistingStore(given, async (context) =>
          showImport(await importPrices(context, input, { dryRun })),
        )
      }),
    )
}

function addName(
  text: string,
  before: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const [, ours, theirs] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (ours === undefined || theirs === undefined)
    throw new InvalidArgumentError('It must be MODEL=NAME-IN-THE-LIST.')
  return { ...before, [ours]: theirs }
}

function splitList(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}

const importWords = {
  applied: 'Imported.',
  unchanged: 'These prices are in force already; nothing changed.',
  would_apply: 'Nothing was changed: this is what the import would do.',
} as const

const nothingListed = 'The file has prices for none of these models; nothing changed.'

function showImport(result: ImportResult): Answer {
  if (result.kind === 'mistakes')
    throw new CommandFailure({
      code: 'operations.invalid',
      message: `nothing was imported, because there are prices that cannot be taken:\n${result.list.join('\n')}`,
      details: { mistakes: result.list },
    })
  const others = result.not_listed.map((model) => `note: ${model} is not in the list; it stays`)
  const word = result.models.length === 0 ? nothingListed : importWords[result.kind]
  const lines = [...result.models.flatMap(describeImport), ...others, word]
  return { json: result, text: lines.join('\n') }
}

function describeImport(model: ImportedModel): readonly string[] {
  const { unpriced, notes, changes } = model
  const name = model.listed_as === model.model ? model.model : `${model.model} (${model.listed_as})`
  const from = model.valid_from === null ? '' : ` from ${model.valid_from}`
  const head = changes.length === 0 ? `= ${name}` : `~ ${name}${from}`
  return [
    head,
    ...changes.map(describeField),
    ...notes.map((note) => `    note: ${note}`),
    ...unpriced.map(({ field, value }) => `    not priced: ${field} ${value}`),
  ]
}

function showPrices(prices: readonly PriceView[]): Answer {
  const text = formatTable(
    ['model', 'vendor', 'from', 'state', 'USD per million tokens'],
    prices.map(({ model, vendor, valid_from, state, price }) => [
      model,
      vendor,
      valid_from,
      state,
      describePrice(price),
    ]),
    'There are no prices. They come with the models: turnpike apply -f catalog.yaml',
  )
  return { json: prices, text }
}

function describePrice(price: PriceView['price']): string {
  return Object.entries(price)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ')
}
