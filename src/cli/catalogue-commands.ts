/** `turnpike apply`, `export` and `price …`: the catalogue as a file, and its prices. */
import { InvalidArgumentError, type Command } from 'commander'
import type {
  ApplyResult,
  CatalogueChange,
  FieldChange,
} from '../operations/catalogue/catalogue.ts'
import type { ImportedModel, ImportResult } from '../operations/prices/import.ts'
import type { PriceView } from '../operations/prices/versions.ts'
import { command, shown, type Answer } from './command.ts'
import { splitList } from './key-commands.ts'
import { formatTable } from './output.ts'

export function addCatalogueCommands(program: Command): void {
  program
    .command('apply')
    .description('make the catalogue equal to a file')
    .requiredOption('-f, --file <path>', 'the catalogue file (YAML); - reads standard input')
    .option('--dry-run', 'show the changes and make none')
    .addHelpText(
      'after',
      `
The catalogue is the vendors, models, prices and channels that the gateway serves.
What the file does not name is retired. A running gateway follows within a second.

Example:
  turnpike apply -f catalog.yaml --dry-run`,
    )
    .action(
      command(
        {
          file: ({ options }) => options['file'],
          store: ({ options }) => (options['dryRun'] === true ? 'preview' : 'create'),
        },
        async ({ call, options, text }) => {
          const { catalogueEndpoints } = await import('../operations/catalogue/endpoints.ts')
          return shown(
            await call(catalogueEndpoints.apply, { text, dry_run: options['dryRun'] }),
            showApplied,
          )
        },
      ),
    )
  program
    .command('export')
    .description('print the catalogue as a file for apply')
    .action(
      command({ store: 'existing' }, async ({ call }) => {
        const { catalogueEndpoints } = await import('../operations/catalogue/endpoints.ts')
        const { parse } = await import('yaml')
        return shown(await call(catalogueEndpoints.show, {}), ({ text }) => ({
          json: parse(text) as unknown,
          text,
        }))
      }),
    )
  addPriceCommands(program)
}

const appliedWords = {
  applied: 'Applied.',
  unchanged: 'Nothing changed: the catalogue is equal to the file.',
  would_apply: 'Dry run: nothing changed.',
} as const

function showApplied(result: ApplyResult): Answer {
  const changes = result.diff.flatMap(describeChange)
  const notes = result.notes.map((note) => `note: ${note}`)
  return { json: result, text: [...changes, ...notes, appliedWords[result.kind]].join('\n') }
}

const changeSigns = { add: '+', change: '~', retire: '-' } as const

function describeChange(change: CatalogueChange): readonly string[] {
  const head = `${changeSigns[change.action]} ${change.kind} ${change.name}`
  return [head, ...change.changes.map(describeField)]
}

function describeField({ field, from, to }: FieldChange): string {
  return `    ${field}: ${from ?? '–'} → ${to ?? '–'}`
}

function addPriceCommands(program: Command): void {
  const price = program
    .command('price')
    .description('list prices, or import them from a public list')
  price
    .command('list')
    .description('list all prices, past, current and future, in USD per million tokens')
    .action(
      command({ store: 'existing' }, async ({ callAll }) => {
        const { catalogueEndpoints } = await import('../operations/catalogue/endpoints.ts')
        return shown(await callAll(catalogueEndpoints.prices), showPrices)
      }),
    )
  price
    .command('import')
    .description('import prices from a list such as model_prices_and_context_window.json')
    .argument('<file>', 'the list (JSON); - reads standard input')
    .option('--map <model=name>', 'a model and its name in the list; may be repeated', addName, {})
    .option('--models <ids>', 'import only these models; separate with commas', splitList)
    .option('--valid-from <date>', 'day or time (UTC) from which the prices hold (default: now)')
    .option('--dry-run', 'show the changes and make none')
    .action(
      command(
        { file: ({ arguments: [path] }) => path, store: 'existing' },
        async ({ call, options, text }) => {
          const { catalogueEndpoints } = await import('../operations/catalogue/endpoints.ts')
          const input = {
            text,
            names: options['map'],
            models: options['models'],
            valid_from: options['validFrom'],
            dry_run: options['dryRun'],
          }
          return shown(await call(catalogueEndpoints.importPrices, input), showImport)
        },
      ),
    )
}

function addName(
  text: string,
  before: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const [, model, name] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (model === undefined || name === undefined)
    throw new InvalidArgumentError('Write MODEL=NAME, where NAME is the name in the list.')
  return { ...before, [model]: name }
}

const importWords = {
  applied: 'Imported.',
  unchanged: 'Nothing changed: these prices are in force already.',
  would_apply: 'Dry run: nothing changed.',
} as const

function showImport(result: ImportResult): Answer {
  const others = result.not_listed.map((model) => `note: ${model} is not in the list; it stays`)
  const verdict =
    result.models.length === 0
      ? 'Nothing changed: the list has no prices for these models.'
      : importWords[result.kind]
  const lines = [...result.models.flatMap(describeImport), ...others, verdict]
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
    'There are no prices. A catalogue sets them: turnpike apply -f catalog.yaml',
  )
  return { json: prices, text }
}

function describePrice(price: PriceView['price']): string {
  return Object.entries(price)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ')
}
