/** Commands on the store as a whole: audit, migrate, backup, restore, `store copy`, doctor, actions. */
import type { Command } from 'commander'
import { systemClock } from '../base/clock.ts'
import { describeConfig } from '../settings/read.ts'
import { storeEndpoints } from '../operations/store/endpoints.ts'
import type { ActionView } from '../operations/actions.ts'
import { restoreStore, type RestoredView } from '../operations/store/backup.ts'
import { diagnoseOutage, type Diagnosis } from '../operations/store/doctor.ts'
import type { Outcome } from '../operations/operation.ts'
import { copyStoreTo, type StoreCopyView } from '../operations/store/store-copy.ts'
import { parseStoreLocation } from '../storage/location.ts'
import type { Migrated } from '../storage/migrate.ts'
import {
  command,
  exitCodes,
  hostCommand,
  parseCount,
  plainCommand,
  shown,
  storeCommand,
  type Answer,
} from './command.ts'
import { formatFields, formatTable } from './output.ts'
import { addAuditCommands } from './audit-commands.ts'
import { withRun } from './run.ts'
import { sinceOf } from './since.ts'
import { readConfig, type Given } from './store-run.ts'

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('find problems in settings, store, catalogue and vendors')
    .action(plainCommand(async (given) => shown(await examine(given), showDiagnosis)))
}

export function addStoreCommands(program: Command): void {
  addAuditCommands(program)
  program
    .command('actions')
    .description('list what operators have done, newest first')
    .option('--account <account>', 'only on this account, its keys and tokens')
    .option('--action <action>', 'only this action, such as key.revoke, or its area, such as key')
    .option('--actor <actor>', 'only by this admin token (name or id), or such as cli:LOGIN')
    .option('--subject <subject>', 'only on this: the id or name of the changed thing')
    .option('--since <time>', 'a date, a time, or an age such as 30m or 2h')
    .option('--until <time>', 'a date (included) or a time')
    .option('--count <n>', 'show at most this many, 1 to 10000', parseCount, 100)
    .action(
      command({ store: 'existing' }, async ({ callAll, options }) => {
        const { account, action, actor, subject, since, until: to, count } = options
        const filter = { account, action, actor, subject, from: sinceOf(since), to }
        return shown(await callAll(storeEndpoints.actions, filter, Number(count)), (actions) =>
          showActions(actions, Object.values(filter).some(Boolean)),
        )
      }),
    )
  program
    .command('migrate')
    .description('create the store, or bring its schema up to date')
    .action(storeCommand('create', async ({ migrated }) => showMigrated(migrated)))
  addBackupCommands(program)
  addCopyCommand(program)
}

function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('copy the store (SQLite) to a new file on this machine, and check the copy')
    .argument('<file>', 'the new file; it must not exist. Gateways may run meanwhile')
    .action(
      command({ store: 'existing' }, async ({ backup, arguments: [file = ''] }) =>
        shown(await backup({ file }), (made) =>
          showCopy(
            made,
            {
              'taken at': made.taken_at,
              ...(!made.is_recorded && { recorded: 'no: the store could not be written' }),
            },
            'The backup does not hold the master key. Keep a copy of that file in another place.',
          ),
        ),
      ),
    )
  program
    .command('restore')
    .description("put a backup in the store's place")
    .argument('<file>', 'the backup. Where the store belongs there must be none')
    .action(
      hostCommand(async ({ arguments: [file = ''], options }) => {
        const location = parseStoreLocation(readConfig(options).store)
        return shown(await restoreStore({ file, location }), (restored) =>
          showCopy(restored, {}, 'Put the master key beside it before you start the gateway.'),
        )
      }),
    )
}

function addCopyCommand(program: Command): void {
  program
    .command('store')
    .description('move the store to another database')
    .command('copy')
    .description('copy a SQLite store to PostgreSQL; run it again to continue after a failure')
    .requiredOption('--from <store>', 'sqlite:PATH; no gateway may run on it')
    .requiredOption('--to <store>', 'postgres://user@host/db; the database must be empty')
    .action(
      hostCommand(async ({ options }) =>
        shown(
          await copyStoreTo({
            from: String(options['from']),
            to: String(options['to']),
            clock: systemClock,
          }),
          showStoreCopy,
        ),
      ),
    )
}

async function examine(given: Given): Promise<Outcome<Diagnosis>> {
  try {
    return await withRun(given, 'as_it_is', ({ call }) => call(storeEndpoints.doctor, {}))
  } catch (error) {
    const diagnosis = diagnoseOutage(error, describeConfig(readConfig(given.options)))
    if (diagnosis === undefined) throw error
    return { kind: 'done', value: diagnosis }
  }
}

function showDiagnosis({ ok, settings, findings }: Diagnosis): Answer {
  const table = formatTable(
    ['', 'area', 'finding'],
    findings.map(({ status, area, message }) => [status, area, message]),
    '',
  )
  const verdict = ok ? 'No problems found.' : 'There are problems. Solve them from top to bottom.'
  return {
    json: { ok, settings, findings },
    text: `${formatFields(settings)}\n\n${table}\n\n${verdict}`,
    exitCode: ok ? exitCodes.done : exitCodes.failed,
  }
}

function showActions(actions: readonly ActionView[], isFiltered: boolean): Answer {
  const text = formatTable(
    ['at', 'actor', 'action', 'subject', 'detail'],
    actions.map(({ at, actor, actor_name: name, action, subject, detail }) => [
      at,
      name === null ? actor : `${name} (${actor})`,
      action,
      subject,
      JSON.stringify(detail),
    ]),
    isFiltered ? 'No action fits these options.' : 'No actions yet.',
  )
  return { json: actions, text }
}

function showMigrated(migrated: Migrated | undefined): Answer {
  const { version, applied } = migrated ?? { version: 0, applied: [] }
  const text =
    applied.length === 0
      ? `The store is up to date: schema version ${version}.`
      : `Applied ${applied.join(', ')}. The store has schema version ${version}.`
  return { json: migrated, text }
}

function showCopy(
  view: RestoredView,
  more: Readonly<Record<string, string>>,
  note: string,
): Answer {
  const { audit, last_entry, file, schema_version } = view
  const fields = formatFields({
    file,
    ...more,
    'schema version': schema_version,
    'last entry': last_entry === null ? null : `${last_entry.sequence} at ${last_entry.at}`,
    accounts: audit.counts.accounts,
    entries: audit.counts.entries,
    'ledger audit': audit.clean ? 'passed' : `failed: ${audit.counts.differences} differences`,
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

function showStoreCopy(copied: StoreCopyView): Answer {
  const table = formatTable(
    ['table', 'rows'],
    copied.tables.map(({ table: name, rows }) => [name, String(rows)]),
    '',
  )
  const advice =
    'The copy is complete, and both stores pass the ledger audit. Set TURNPIKE_STORE to the new store, and ' +
    'TURNPIKE_MASTER_KEY or TURNPIKE_MASTER_KEY_FILE to the master key of the old one. Then start the gateways.'
  return { json: copied, text: `${table}\n\n${advice}` }
}
