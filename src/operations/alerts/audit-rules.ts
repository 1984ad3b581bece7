/**
 * The alerts of the hourly ledger audit, from its result on any node: it has found differences, or it could
 * not run. An audit that could not run says nothing about differences that an earlier one has found.
 */
import type { Database } from '../../storage/database.ts'
import type { Finding } from './alert-kind.ts'
import { applyObservation, readFiring } from './raise.ts'

export type AuditResult =
  | { readonly kind: 'audited'; readonly differenceCount: number }
  | { readonly kind: 'not_run'; readonly error: unknown }

const kind = 'ledger.audit_failed'
/** Differences have an empty subject: they concern the whole installation. */
const notRunSubject = 'not_run'

export async function applyAudit(
  database: Database,
  result: AuditResult,
  nowMs: number,
): Promise<void> {
  const firing = await readFiring(database)
  const known = firing.filter((alert) => alert.kind === kind && alert.subject !== notRunSubject)
  const findings = result.kind === 'not_run' ? [...known, notRun(result)] : differences(result)
  await applyObservation(database, { kinds: [kind], findings, firing }, nowMs)
}

function differences({
  differenceCount,
}: Extract<AuditResult, { kind: 'audited' }>): readonly Finding[] {
  if (differenceCount === 0) return []
  const counted = differenceCount === 1 ? '1 difference' : `${differenceCount} differences`
  return [
    {
      kind,
      subject: '',
      title: `The ledger audit has found ${counted}`,
      text:
        'Balances or figures do not follow from the ledger. Run turnpike audit, which names each ' +
        'difference, keep a backup, and see docs/operating.md.',
      facts: { differences: differenceCount },
    },
  ]
}

function notRun({ error }: Extract<AuditResult, { kind: 'not_run' }>): Finding {
  return {
    kind,
    subject: notRunSubject,
    title: 'The ledger audit could not run',
    text:
      'A gateway could not audit the ledger, and new differences stay unseen. The log of the gateway has a line ' +
      'with the fault. Try whether it works now with: turnpike audit',
    facts: { reason: reasonOf(error) },
  }
}

/** A code or the name of the error: its text may quote the store. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
