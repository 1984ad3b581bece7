/** `turnpike apply`, `export` and `price …`: the catalogue as a file, and its prices. */
import { parse } from 'yaml'
import type { ApplyResult } from '../../operations/catalogue/catalogue.ts'
import type { CatalogueChange, FieldChange } from '../../operations/catalogue/plan.ts'
import { catalogueEndpoints } from '../../operations/catalogue/endpoints.ts'
import type { ImportedModel, ImportResult } from '../../operations/prices/import.ts'
import { callRow, listRow, type CommandRow } from '../row.ts'

export const catalogueCommands: readonly CommandRow[] = [
  callRow(catalogueEndpoints.apply, {
    words: 'apply',
    // The file says it.
    without: ['revision'],
    hints: { text: { flags: '-f, --file <path>', isFile: true } },
    store: ({ dry_run: isDryRun }) => (isDryRun === true ? 'preview' : 'create'),
    help: `The catalogue is the vendors, models, prices and channels that the gateway serves.
What the file does not name is retired. A running gateway follows within a second.
A file that export has written has a revision: where others have since changed what the file would change, the
command says who changed what, and changes nothing without --force.

Example:
  turnpike apply -f catalog.yaml --dry-run`,
    show: appliedText,
  }),
  callRow(catalogueEndpoints.show, {
    words: 'export',
    text: 'print the catalogue as a file for apply',
    show: ({ text }) => text,
    json: ({ text }) => parse(text) as unknown,
  }),
  listRow(catalogueEndpoints.prices, {
    words: 'price list',
    empty: 'There are no prices. A catalogue sets them: turnpike apply -f catalog.yaml',
  }),
  callRow(catalogueEndpoints.importPrices, {
    words: 'price import',
    arguments: ['text'],
    hints: { text: { flags: '<file>', isFile: true } },
    show: importText,
  }),
]

const appliedWords = {
  applied: 'Applied.',
  unchanged: 'Nothing changed: the catalogue is equal to the file.',
  would_apply: 'Dry run: nothing changed.',
} as const

function appliedText(result: ApplyResult): string {
  const changes = result.diff.flatMap(describeChange)
  const notes = result.notes.map((note) => `note: ${note}`)
  return [...changes, ...notes, appliedWords[result.kind]].join('\n')
}

const changeSigns = { add: '+', change: '~', retire: '-' } as const

function describeChange(change: CatalogueChange): readonly string[] {
  const head = `${changeSigns[change.action]} ${change.kind} ${change.name}`
  return [head, ...change.changes.map(describeField)]
}

function describeField({ field, from, to }: FieldChange): string {
  return `    ${field}: ${from ?? '–'} → ${to ?? '–'}`
}

const importWords = {
  applied: 'Imported.',
  unchanged: 'Nothing changed: these prices are in force already.',
  would_apply: 'Dry run: nothing changed.',
} as const

function importText(result: ImportResult): string {
  const others = result.not_listed.map((model) => `note: ${model} is not in the list; it stays`)
  const verdict =
    result.models.length === 0
      ? 'Nothing changed: the list has no prices for these models.'
      : importWords[result.kind]
  return [...result.models.flatMap(describeImport), ...others, verdict].join('\n')
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
