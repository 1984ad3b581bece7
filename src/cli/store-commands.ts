/** `turnpike store copy`: from one engine to the other. */
import type { Command } from 'commander'
import { systemClock } from '../base/clock.ts'
import { copyStoreTo } from '../operations/store-copy.ts'
import { answering, type Given } from './shell.ts'
import { formatTable } from './table.ts'

export function addStoreCommands(program: Command): void {
  program
    .command('store')
    .description('the store as a whole')
    .command('copy')
    .description(
      'move from SQLite to an empty database on PostgreSQL; goes on where it was broken off',
    )
    .requiredOption('--from <store>', 'sqlite:PATH, with no gateway running on it')
    .requiredOption('--to <store>', 'postgres://…, an empty database')
    .action(
      answering(async ({ options }) => {
        const copied = await copyStoreTo({
          from: textOf(options, 'from'),
          to: textOf(options, 'to'),
          clock: systemClock,
        })
        const table = formatTable(
          ['table', 'rows'],
          copied.tables.map(({ table, rows }) => [table, String(rows)]),
          '',
        )
        const verdict =
          'The books agree on both sides. Set TURNPIKE_STORE to the new store, and TURNPIKE_MASTER_KEY ' +
          'or TURNPIKE_MASTER_KEY_FILE to the master key of the old one, then start the gateways.'
        return { json: copied, text: `${table}\n\n${verdict}` }
      }),
    )
}

function textOf(options: Given['options'], name: string): string {
  const value = options[name]
  return typeof value === 'string' ? value : ''
}
