/** The findings of an audit of the ledger, as operators see them. */
import { z } from 'zod'
import { moment, type Answer } from '../answer-forms.ts'

export const auditScopes = ['full', 'recent'] as const
export type AuditScope = (typeof auditScopes)[number]

export const auditResults = ['passed', 'failed', 'not_run'] as const
export type AuditResult = (typeof auditResults)[number]

/** A line of the list. */
export const auditForm = z.strictObject({
  id: z.string(),
  at: moment,
  duration_ms: z.int(),
  actor: z.string().meta({ description: '`gateway:NAME` where a gateway ran it on schedule.' }),
  actor_name: z.string().nullable().meta({ description: 'Of the token that ran it.' }),
  scope: z.enum(auditScopes).meta({ description: '`recent`: rows since the checkpoints.' }),
  result: z.enum(auditResults),
  clean: z.boolean(),
  exchanges_from: moment.nullable().meta({ description: 'Null = all exchanges were audited.' }),
  counts: z.strictObject({
    accounts: z.int(),
    entries: z.int(),
    exchanges: z.int(),
    charges: z.int(),
    /** All of them, described or not. */
    differences: z.int(),
  }),
  error: z.string().nullable().meta({ description: 'Why it could not run.' }),
})

export const auditInFullForm = auditForm.extend({
  /** The first 100. */
  differences: z.array(
    z.strictObject({
      /** Its number in docs/ledger.md. */
      invariant: z.string(),
      kind: z.string(),
      /** Empty where the row belongs to no account. */
      account_id: z.string(),
      /** Table and key of the row. */
      row: z.string(),
      message: z.string(),
    }),
  ),
})

export const auditDoneForm = auditInFullForm.extend({
  is_recorded: z
    .boolean()
    .meta({ description: 'False where the store could not be written: no list shows it.' }),
})

export type AuditRunView = Answer<typeof auditForm>
type AuditRunInFull = Answer<typeof auditInFullForm>
export type AuditDone = Answer<typeof auditDoneForm>

/** Its findings. */
export type AuditView = Pick<AuditRunInFull, 'clean' | 'exchanges_from' | 'counts' | 'differences'>
