/** Endpoints of the store as a whole: ledger audit, operator actions, doctor, backup. */
import { recentActions } from './action-list.ts'
import { listNodes } from './nodes.ts'
import { readSigningKeys, rotateSigningKey } from './signing-keys.ts'
import { showSettings } from './settings.ts'
import { listAuditRuns, runAudit, showAuditRun } from './audit-runs.ts'
import { diagnose } from './doctor.ts'
import { showVersion } from './version.ts'
import { listBackups } from './backup-list.ts'
import { downloadBackup } from './backup-download.ts'
import { endpoints, rowOf, exampleNames, type FileEndpoint } from '../endpoint.ts'

export const storeEndpoints = endpoints('audits', {
  audit: {
    id: 'audits.create',
    route: 'POST /audits',
    summary: 'Recompute all balances and figures; report every difference.',
    operation: runAudit,
  },
  audits: {
    id: 'audits.list',
    route: 'GET /audits',
    summary: 'List audits, those of the gateways too, newest first.',
    operation: listAuditRuns,
  },
  showAudit: {
    id: 'audits.show',
    route: 'GET /audits/{id}',
    summary: 'Show one audit with its differences.',
    operation: showAuditRun,
    example: { id: exampleNames.audit },
  },
  actions: {
    id: 'actions.list',
    route: 'GET /actions',
    summary: 'List what operators have done, newest first.',
    operation: recentActions,
    isExported: true,
    example: { account: exampleNames.account, action: 'account' },
  },
  settings: {
    id: 'settings.show',
    route: 'GET /settings',
    summary: 'Show the settings in force, without secrets, and where each was given.',
    operation: showSettings,
  },
  nodes: {
    id: 'nodes.list',
    route: 'GET /nodes',
    summary: 'List the gateways of the store: version, state, unclean stops.',
    operation: listNodes,
  },
  backups: {
    id: 'backups.list',
    route: 'GET /backups',
    summary: 'List the recorded backups (SQLite), newest first.',
    operation: listBackups,
  },
  doctor: {
    id: 'doctor.run',
    route: 'POST /doctor',
    summary: 'Find problems in settings, store, catalogue and vendors.',
    operation: diagnose,
  },
  signingKeys: {
    id: 'signing-keys.list',
    route: 'GET /signing-keys',
    summary: 'List the public keys that sign the books, oldest first.',
    operation: readSigningKeys,
  },
  rotateSigningKey: {
    id: 'signing-keys.create',
    route: 'POST /signing-keys',
    summary: 'Make a new key that signs the books; the present one signs it.',
    operation: rotateSigningKey,
    role: 'owner',
    status: 201,
  },
  version: {
    id: 'version.show',
    route: 'GET /version',
    summary: 'Show version and commit of the gateway, and the schema of its store.',
    operation: showVersion,
  },
})

export const storeFiles = {
  backup: rowOf('backup.download', {
    route: 'GET /backup',
    summary: 'Download a checked copy of the store (SQLite), with everything that is in it.',
    role: 'owner',
    file: downloadBackup,
    contentType: 'application/vnd.sqlite3',
  }) satisfies FileEndpoint,
}
