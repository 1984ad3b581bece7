/** Endpoints of the store as a whole: ledger audit, operator actions, doctor, backup. */
import { z } from 'zod'
import { recentActions } from './action-list.ts'
import { listNodes, nodeStates } from './nodes.ts'
import { settingSources } from '../../settings/in-force.ts'
import { showSettings } from './settings.ts'
import { listAuditRuns, runAudit, showAuditRun } from './audit-runs.ts'
import { auditResults, auditScopes } from './audit-store.ts'
import { diagnose } from './doctor.ts'
import { showVersion } from './version.ts'
import { listBackups } from './backup-list.ts'
import { downloadBackup } from './backup-download.ts'
import { endpoints, rowOf, exampleNames, type FileEndpoint } from '../endpoint.ts'
import { moment, pageOf } from '../answer-forms.ts'

export const auditRun = z.strictObject({
  id: z.string(),
  at: moment,
  duration_ms: z.int(),
  actor: z.string().meta({ description: '`gateway:NAME` where a gateway ran it on schedule.' }),
  scope: z.enum(auditScopes).meta({ description: '`recent`: rows since the checkpoints.' }),
  result: z.enum(auditResults),
  clean: z.boolean(),
  exchanges_from: moment.nullable().meta({ description: 'Null = all exchanges were audited.' }),
  counts: z.strictObject({
    accounts: z.int(),
    entries: z.int(),
    exchanges: z.int(),
    charges: z.int(),
    differences: z.int(),
  }),
  error: z.string().nullable().meta({ description: 'Why it could not run.' }),
})

const auditInFull = auditRun.extend({
  differences: z.array(
    z.strictObject({
      invariant: z.string(),
      kind: z.string(),
      account_id: z.string(),
      row: z.string(),
      message: z.string(),
    }),
  ),
})

export const action = z.strictObject({
  at: moment,
  sequence: z.int(),
  actor: z.string(),
  actor_name: z.string().nullable().meta({ description: 'Of the token; null for a command.' }),
  action: z.string(),
  subject: z.string(),
  detail: z.record(z.string(), z.unknown()),
})

const diagnosis = z.strictObject({
  ok: z.boolean(),
  settings: z.record(z.string(), z.string()).meta({
    description: 'Settings of the gateway that examined, without secrets.',
  }),
  findings: z.array(
    z.strictObject({
      area: z.enum(['store', 'ledger', 'proxies', 'catalogue', 'vendors', 'access']),
      status: z.enum(['ok', 'advice', 'problem']),
      message: z.string(),
    }),
  ),
})

const setting = z.strictObject({
  name: z.string(),
  group: z.string().meta({ description: 'The subject that it belongs to.' }),
  value: z.string().nullable().meta({ description: '`***` for a secret; null = not set.' }),
  source: z.enum(settingSources),
  place: z.string().nullable().meta({ description: 'The file, with the line.' }),
  default: z.string().nullable().meta({ description: 'As text, or in words; null = none.' }),
  meaning: z.string().meta({ description: 'Markdown.' }),
})

const nodes = z.strictObject({
  at: moment.meta({ description: "The store's time; every age counts from here." }),
  nodes: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      region: z.string(),
      version: z.string(),
      commit: z.string().nullable(),
      state: z.enum(nodeStates).meta({
        description: 'missing: without a heartbeat and without a goodbye; stopped: ended cleanly.',
      }),
      started_at: moment,
      seen_at: moment.meta({ description: 'Its last heartbeat.' }),
      age_ms: z.number(),
      stopped_at: moment.nullable(),
    }),
  ),
  unclean_stops: z
    .array(z.strictObject({ node: z.string(), from: moment, to: moment.nullable() }))
    .meta({ description: 'Of the last 30 days, oldest first.' }),
})

const backup = z.strictObject({
  at: moment,
  actor: z.string(),
  actor_name: z.string().nullable(),
  file: z.string().nullable().meta({
    description: 'On the host of the gateway; null where it was sent to another machine.',
  }),
  bytes: z.int(),
  sha256: z.string().meta({ description: 'Of the file, as base64.' }),
  audit: z.enum(['passed', 'failed']),
})

const version = z.strictObject({
  version: z.string(),
  commit: z.string().nullable().meta({ description: 'Null = not known.' }),
  date: z.string().nullable().meta({ description: 'Day of the commit.' }),
  node: z.string().meta({ description: 'Version of Node.' }),
  schema_version: z.int().meta({ description: 'Number of the newest migration of the store.' }),
})

export const storeEndpoints = endpoints('audits', {
  audit: {
    id: 'audits.create',
    route: 'POST /audits',
    summary: 'Recompute all balances and figures; report every difference.',
    operation: runAudit,
    answer: auditInFull.extend({
      is_recorded: z
        .boolean()
        .meta({ description: 'False where the store could not be written: no list shows it.' }),
    }),
  },
  audits: {
    id: 'audits.list',
    route: 'GET /audits',
    summary: 'List audits, those of the gateways too, newest first.',
    operation: listAuditRuns,
    answer: pageOf(auditRun),
  },
  showAudit: {
    id: 'audits.show',
    route: 'GET /audits/{id}',
    summary: 'Show one audit with its differences.',
    operation: showAuditRun,
    answer: auditInFull,
    example: { id: exampleNames.audit },
  },
  actions: {
    id: 'actions.list',
    route: 'GET /actions',
    summary: 'List what operators have done, newest first.',
    operation: recentActions,
    answer: pageOf(action),
    example: { account: exampleNames.account, action: 'account' },
  },
  settings: {
    id: 'settings.show',
    route: 'GET /settings',
    summary: 'Show the settings in force, without secrets, and where each was given.',
    operation: showSettings,
    answer: z.strictObject({ settings: z.array(setting).readonly() }),
  },
  nodes: {
    id: 'nodes.list',
    route: 'GET /nodes',
    summary: 'List the gateways of the store: version, state, unclean stops.',
    operation: listNodes,
    answer: nodes,
  },
  backups: {
    id: 'backups.list',
    route: 'GET /backups',
    summary: 'List the recorded backups (SQLite), newest first.',
    operation: listBackups,
    answer: pageOf(backup),
  },
  doctor: {
    id: 'doctor.run',
    route: 'POST /doctor',
    summary: 'Find problems in settings, store, catalogue and vendors.',
    operation: diagnose,
    answer: diagnosis,
  },
  version: {
    id: 'version.show',
    route: 'GET /version',
    summary: 'Show version and commit of the gateway, and the schema of its store.',
    operation: showVersion,
    answer: version,
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
