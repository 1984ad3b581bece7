/** `turnpike apply` and `export`: the catalogue as a file. */
import type { Command } from 'commander'
import type { ApplyResult, CatalogueChange, Mistake } from '../operations/catalogue.ts'
import { onExistingStore, withStoreIfThere } from './existing-store.ts'
import { describeField, readText } from './files.ts'
import { addPriceCommands } from './price-commands.ts'
import { answering, CommandFailure, withStore, type Answer } from './shell.ts'

export function addCatalogueCommands(program: Command): void {
  program
    .command('apply')
    .description('make vendors, models, prices and channels what a file says')
    .requiredOption('-f, --file <path>', 'the catalogue; - reads standard input')
    .option('--dry-run', 'show what would change and change nothing')
    .action(
      answering(async (given) => {
        const { applyCatalogue } = await import('../operations/catalogue.ts')
        const text = await readText(String(given.options['file']))
        const dryRun = given.options['dryRun'] === true
        const open = dryRun ? withStoreIfThere : withStore
        return open(given, async (context) =>
          showApplied(await applyCatalogue(context, text, { dryRun })),
        )
      }),
    )
  program
    .command('export')
    .description('the catalogue in force, as a file for apply')
    .action(
      onExistingStore(async (context) => {
        const { exportCatalogue } = await import('../operations/catalogue.ts')
        const { parse } = await import('yaml')
        const text = await exportCatalogue(context)
        return { json: parse(text) as unknown, text }
      }),
    )
  addPriceCommands(program)
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
