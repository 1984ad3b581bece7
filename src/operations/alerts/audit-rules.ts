/**
 * The alerts of ledger audits, from the rows that audits leave: one has found differences, or could not
 * run. An audit that could not run says nothing about differences that an earlier one has found; and an
 * audit of new rows does not see all that a full one has found, so only an audit of the same scope resolves
 * an alert.
 */
import { dayMs } from '../../base/clock.ts'
import type { AuditScope } from '../store/audit-forms.ts'
import { listLatestByActor, readLatestResults, type AuditRun } from '../store/audit-store.ts'
import type { Finding } from './alert-kind.ts'
import { applyObservation, type RaiseOptions } from './raise.ts'

const kind = 'ledger.audit_failed'
/** Differences concern the whole installation. */
const subjects: Readonly<Record<AuditScope, string>> = { recent: '', full: 'full' }
const notRunSubject = 'not_run'
/** An audit that could not run is forgotten then, where its actor runs no other. */
const notRunMs = dayMs

export async function watchAudits(options: RaiseOptions, nowMs: number): Promise<void> {
  const { database } = options
  const results = await readLatestResults(database)
  const attempts = await listLatestByActor(database, nowMs - notRunMs)
  const failed = results.filter(({ result }) => result === 'failed')
  const [stopped] = attempts.filter(({ result }) => result === 'not_run')
  const findings = [...failed.map(differences), ...(stopped === undefined ? [] : [notRun(stopped)])]
  await applyObservation(options, { kinds: [kind], findings }, nowMs)
}

function differences({ id, scope, counts }: AuditRun): Finding {
  const counted = counts.differences === 1 ? '1 difference' : `${counts.differences} differences`
  return {
    kind,
    subject: subjects[scope],
    title: `The ledger audit has found ${counted}`,
    text:
      'Balances or figures do not follow from the ledger. A full audit names each difference. Keep a ' +
      'backup, and see docs/operating.md.',
    command: 'turnpike audit',
    facts: { differences: counts.differences, audit: id },
  }
}

/** Without the text of the error, which may quote the store. */
function notRun({ id, actor }: AuditRun): Finding {
  return {
    kind,
    subject: notRunSubject,
    title: 'The ledger audit could not run',
    text:
      `The ledger audit of ${actor} could not run, and new differences stay unseen. The audit names the ` +
      'fault. Try whether one works now.',
    command: 'turnpike audit',
    facts: { actor, audit: id, differences: null },
  }
}
