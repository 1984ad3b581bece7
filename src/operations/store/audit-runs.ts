/**
 * Audits as operators run and read them. Each leaves a row: its findings, or why it could not run. The
 * result does not depend on the row: a store that cannot be written can still be audited.
 */
import { z } from 'zod'
import { GatewayError } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Database } from '../../storage/database.ts'
import { readActorNames, type ActorNames } from '../actions.ts'
import { pageForm } from '../answer-forms.ts'
import { noInput, notFound, operation, refusalOf, timeText } from '../operation.ts'
import { pageFields, pageOf, readSequence } from '../paging.ts'
import { auditLedger } from './audit.ts'
import {
  auditDoneForm,
  auditForm,
  auditInFullForm,
  type AuditRunView,
  type AuditView,
} from './audit-forms.ts'
import { findAudit, insertAudit, listAudits, type AuditRun } from './audit-store.ts'

/** Audits everything. Gateways may run meanwhile. */
export const runAudit = operation({ input: noInput, answer: auditDoneForm }, async (context) => {
  const { clock, actor, auditInBackground = () => auditLedger(context) } = context
  const startedMs = clock.monotonic()
  const begun = { scope: 'full', actor, startedAtMs: clock.now() } as const
  const ended = () => ({ ...begun, durationMs: clock.monotonic() - startedMs })
  let audit: AuditView
  try {
    audit = await auditInBackground()
  } catch (error) {
    // A refused audit has not begun.
    if (refusalOf(error) === undefined) await tryRecord(context, { ...ended(), error })
    throw error
  }
  const run = runOf({ ...ended(), audit })
  const isRecorded = await trySave(context, run)
  // The answer describes more differences than the row keeps.
  const names = await readActorNames(context.database)
  return { ...viewRun(run, names), differences: audit.differences, is_recorded: isRecorded }
})

/** Lists audits, the newest first. */
export const listAuditRuns = operation(
  { input: z.strictObject(pageFields), answer: pageForm(auditForm) },
  async ({ database }, { cursor, limit }) => {
    const rows = await listAudits(database, {
      beforeSequence: readSequence(cursor),
      countMax: limit + 1,
    })
    const names = await readActorNames(database)
    return pageOf(rows, {
      limit,
      cursorOf: ({ sequence }) => String(sequence),
      view: (run) => viewRun(run, names),
    })
  },
)

const auditId = z
  .string('must be the id of an audit')
  .min(1, 'must be the id of an audit')
  .describe('As turnpike audit list shows it.')

/** Shows one audit with its differences. */
export const showAuditRun = operation(
  { input: z.strictObject({ id: auditId }), answer: auditInFullForm },
  async ({ database }, { id }) => {
    const run = await findAudit(database, id)
    if (run === undefined)
      throw notFound(
        `There is no audit ${id}. turnpike audit list shows those of the last 90 days.`,
      )
    return { ...viewRun(run, await readActorNames(database)), differences: run.differences }
  },
)

/** An audit that has ended: with its findings, or with the error that kept it from running. */
export type EndedAudit = Pick<AuditRun, 'scope' | 'actor' | 'startedAtMs' | 'durationMs'> &
  ({ readonly audit: AuditView } | { readonly error: unknown })

async function tryRecord(context: { readonly database: Database }, ended: EndedAudit) {
  await trySave(context, runOf(ended))
}

async function trySave({ database }: { readonly database: Database }, run: AuditRun) {
  try {
    await saveRun(database, run)
    return true
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'ledger.unavailable') return false
    throw error
  }
}

/** Rejects where the store cannot be written; may be called again with the same audit. */
export function saveRun(database: Database, run: AuditRun): Promise<void> {
  return database.transact((transaction) => insertAudit(transaction, run))
}

const noCounts = { accounts: 0, entries: 0, exchanges: 0, charges: 0, differences: 0 }

/** Makes the row of an audit. */
export function runOf(ended: EndedAudit): AuditRun {
  const { scope, actor, startedAtMs, durationMs } = ended
  const base = { id: newId('aud', startedAtMs), scope, actor, startedAtMs, durationMs }
  if (!('audit' in ended)) {
    const error = errorText(ended.error)
    return {
      ...base,
      result: 'not_run',
      exchangesFromMs: 0,
      counts: noCounts,
      differences: [],
      error,
    }
  }
  const { clean, counts, differences, exchanges_from: from } = ended.audit
  return {
    ...base,
    result: clean ? 'passed' : 'failed',
    exchangesFromMs: from === null ? 0 : Date.parse(from),
    counts,
    differences,
    error: undefined,
  }
}

const errorLengthMax = 500

function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.slice(0, errorLengthMax)
}

function viewRun(run: AuditRun, names: ActorNames): AuditRunView {
  return {
    id: run.id,
    at: timeText(run.startedAtMs),
    duration_ms: Math.round(run.durationMs),
    actor: run.actor,
    actor_name: names.get(run.actor) ?? null,
    scope: run.scope,
    result: run.result,
    clean: run.result === 'passed',
    exchanges_from: run.exchangesFromMs === 0 ? null : timeText(run.exchangesFromMs),
    counts: run.counts,
    error: run.error ?? null,
  }
}
