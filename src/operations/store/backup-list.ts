/**
 * The backups of a SQLite store, as the operators' log has them: where each went, its length, digest and
 * audit. Backups of PostgreSQL are made by its own tools, and the log does not know of them.
 */
import { z } from 'zod'
import { listActions, type ActionView } from '../actions.ts'
import { moment, pageForm, type Answer } from '../answer-forms.ts'
import { operation } from '../operation.ts'
import { pageFields, pageOf, readSequence } from '../paging.ts'
import { backupAction, downloadSubject } from './backup.ts'

const backupForm = z.strictObject({
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

/** As `recordCopy` writes them. */
const facts = backupForm.pick({ bytes: true, sha256: true, audit: true })

type RecordedBackup = Answer<typeof backupForm>

/** Newest first. */
export const listBackups = operation(
  { input: z.strictObject(pageFields), answer: pageForm(backupForm) },
  async ({ database }, { cursor, limit }) => {
    const actions = await listActions(database, {
      before: readSequence(cursor),
      action: backupAction,
      countMax: limit + 1,
    })
    return pageOf(actions, {
      limit,
      cursorOf: ({ sequence }) => String(sequence),
      view: viewBackup,
    })
  },
)

function viewBackup({ at, actor, actor_name, subject, detail }: ActionView): RecordedBackup {
  return {
    at,
    actor,
    actor_name,
    file: subject === downloadSubject ? null : subject,
    ...facts.parse(detail),
  }
}
