/** Commands on the store as a whole: audit, actions, backup, restore, doctor, facts about gateways. */
import type { Outcome } from '../../operations/operation.ts'
import type { AuditDone } from '../../operations/store/audit-forms.ts'
import { restoreStore, type RestoredView } from '../../operations/store/backup.ts'
import { diagnoseOutage, type Diagnosis } from '../../operations/store/doctor.ts'
import { storeEndpoints } from '../../operations/store/endpoints.ts'
import { copyStoreTo } from '../../operations/store/store-copy.ts'
import { describeConfig } from '../../settings/read.ts'
import { parseStoreLocation } from '../../storage/location.ts'
import type { Migrated } from '../../storage/migrate.ts'
import { textOf } from '../columns.ts'
import { exitCodes, hostWork, shown, storeWork, type Answer } from '../command.ts'
import { callRow, listRow, plainRow, type CommandRow } from '../row.ts'
import { withRun } from '../run.ts'
import { periodHints } from '../since.ts'
import { readConfig, type Given } from '../store-run.ts'

const hundred = { flags: '--count <n>', fallback: '100' }

export const doctorCommand = plainRow({
  words: 'doctor',
  text: 'find problems in settings, store, catalogue and vendors',
  work: async (given) => shown(await examine(given), showDiagnosis),
})

export const storeCommands: readonly CommandRow[] = [
  callRow(storeEndpoints.audit, {
    words: 'audit',
    show: doneText,
    hasFailed: ({ clean }) => !clean,
  }),
  listRow(storeEndpoints.audits, {
    words: 'audit list',
    count: hundred,
    empty: 'No audits yet.',
  }),
  callRow(storeEndpoints.showAudit, { words: 'audit show' }),
  listRow(storeEndpoints.actions, {
    words: 'actions',
    count: hundred,
    hints: periodHints,
    columns: [
      'at',
      ['actor', ({ actor, actor_name: name }) => (name === null ? actor : `${name} (${actor})`)],
      'action',
      [
        'subject',
        ({ subject, subject_name: name }) => (name === null ? subject : `${name} (${subject})`),
      ],
      'detail',
    ],
    empty: 'No actions yet.',
    noneFits: 'No action fits these options.',
  }),
  plainRow({
    words: 'migrate',
    text: 'create the store, or bring its schema up to date',
    work: storeWork('create', async ({ migrated }) => showMigrated(migrated)),
  }),
  plainRow({
    words: 'backup',
    text: 'copy the store (SQLite) to a new file on this machine, and check the copy',
    more: { '<file>': 'the new file; it must not exist. Gateways may run meanwhile' },
    work: (given) =>
      withRun(given, 'existing', async ({ backup, arguments: [file = ''] }) =>
        shown(await backup({ file }), (made) =>
          showCopy(
            made,
            'The backup does not hold the master key. Keep a copy of that file in another place.',
          ),
        ),
      ),
  }),
  plainRow({
    words: 'restore',
    text: "put a backup in the store's place",
    more: { '<file>': 'the backup. Where the store belongs there must be none' },
    work: hostWork(async ({ arguments: [file = ''], options }) => {
      const location = parseStoreLocation(readConfig(options).store)
      return shown(await restoreStore({ file, location }), (restored) =>
        showCopy(restored, 'Put the master key beside it before you start the gateway.'),
      )
    }),
  }),
  plainRow({
    words: 'store copy',
    text: 'copy a SQLite store to PostgreSQL; after a failure run it again',
    more: {
      '--from <store>': { text: 'sqlite:PATH; no gateway may run on it', isRequired: true },
      '--to <store>': {
        text: 'postgres://user@host/db; the database must be empty',
        isRequired: true,
      },
    },
    work: hostWork(async ({ options: { from, to } }) =>
      shown(await copyStoreTo({ from: String(from), to: String(to) }), (copied) => ({
        json: copied,
        text: `${textOf(copied)}\n\n${copyAdvice}`,
      })),
    ),
  }),
  callRow(storeEndpoints.signingKeys, { words: 'signing-key list', json: ({ items }) => items }),
  callRow(storeEndpoints.rotateSigningKey, {
    words: 'signing-key rotate',
    show: ({ id, signed_by: former }) =>
      former === null
        ? `Key ${id} signs the books from now on. No former key signed it: tell account holders its id.`
        : `Key ${id} signs the books from now on. Key ${former} signed it.`,
  }),
  callRow(storeEndpoints.settings, { words: 'settings', json: ({ settings }) => settings }),
  callRow(storeEndpoints.nodes, { words: 'nodes' }),
  listRow(storeEndpoints.backups, {
    words: 'backups',
    count: hundred,
    columns: [
      'at',
      ['by', ({ actor, actor_name: name }) => name ?? actor],
      'file',
      'bytes',
      'audit',
      'sha256',
    ],
    empty: 'No backup is recorded. Make one with: turnpike backup FILE',
  }),
]

async function examine(given: Given): Promise<Outcome<Diagnosis>> {
  try {
    return await withRun(given, 'as_it_is', ({ call }) => call(storeEndpoints.doctor, {}))
  } catch (error) {
    const diagnosis = diagnoseOutage(error, describeConfig(readConfig(given.options)))
    if (diagnosis === undefined) throw error
    return { kind: 'done', value: diagnosis }
  }
}

function showDiagnosis(diagnosis: Diagnosis): Answer {
  const { ok } = diagnosis
  const verdict = ok ? 'No problems found.' : 'There are problems. Solve them from top to bottom.'
  return {
    json: diagnosis,
    text: `${textOf(diagnosis)}\n\n${verdict}`,
    exitCode: ok ? exitCodes.done : exitCodes.failed,
  }
}

function doneText(audit: AuditDone): string {
  const { clean, counts } = audit
  const verdict = clean ? 'passed.' : `failed: ${counts.differences} differences.`
  return `${textOf(audit)}\n\nLedger audit ${verdict}`
}

function showMigrated(migrated: Migrated | undefined): Answer {
  const { version, applied } = migrated ?? { version: 0, applied: [] }
  const text =
    applied.length === 0
      ? `The store is up to date: schema version ${version}.`
      : `Applied ${applied.join(', ')}. The store has schema version ${version}.`
  return { json: migrated, text }
}

/** Shows a backup that was just made, or a store that was put in its place. */
function showCopy(view: RestoredView, note: string): Answer {
  const { clean } = view.audit
  return {
    json: view,
    text: `${textOf(view)}\n\n${note}`,
    exitCode: clean ? exitCodes.done : exitCodes.failed,
  }
}

const copyAdvice =
  'The copy is complete, and both stores pass the ledger audit. Set TURNPIKE_STORE to the new store, and ' +
  'TURNPIKE_MASTER_KEY or TURNPIKE_MASTER_KEY_FILE to the master key of the old one. Then start the gateways.'
