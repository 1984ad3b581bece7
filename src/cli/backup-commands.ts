/** `turnpike backup` and `restore`: the store into a file, and a file back to where the store is to be. */
import type { Command } from 'commander'
import { backupStore, restoreStore, type RestoredView } from '../operations/backup.ts'
import { parseStoreLocation } from '../storage/location.ts'
import { onExistingStore } from './existing-store.ts'
import { answering, exitCodes, readConfig, type Answer } from './shell.ts'
import { formatFields } from './table.ts'

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('copy the store to a new file, while gateways run, and check the copy')
    .argument('<file>')
    .action(
      onExistingStore(async (context, { arguments: [file] }) => {
        const backup = await backupStore(context, { file })
        const note =
          'The master key is not in it: keep a copy of that file, in another place than the backups.'
        return show(backup, { 'taken at': backup.taken_at }, note)
      }),
    )
  program
    .command('restore')
    .description('put a backup where the settings say the store is; there must be none')
    .argument('<file>')
    .action(
      answering(async ({ arguments: [file = ''], options }) => {
        const location = parseStoreLocation(readConfig(options).store)
        const restored = await restoreStore({ file, location })
        return show(restored, {}, 'Put the master key beside it before the gateway starts.')
      }),
    )
}

function show(view: RestoredView, more: Readonly<Record<string, string>>, note: string): Answer {
  const { audit, last_entry, file, schema_version } = view
  const fields = formatFields({
    file,
    ...more,
    'schema version': schema_version,
    'last entry': last_entry === null ? null : `${last_entry.sequence} at ${last_entry.at}`,
    accounts: audit.counts.accounts,
    entries: audit.counts.entries,
    'books agree': audit.clean ? 'yes' : `no: ${audit.counts.differences} differences`,
  })
  const differences = audit.differences.map(
    ({ invariant, row, message }) => `${invariant} (${row}) ${message}`,
  )
  return {
    json: view,
    text: [fields, ...differences, note].join('\n'),
    exitCode: audit.clean ? exitCodes.done : exitCodes.failed,
  }
}
