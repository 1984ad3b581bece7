/**
 * The backups of a SQLite store, as the operators' log has them: where each went, its length, digest and
 * audit. Backups of PostgreSQL are made by its own tools, and the log does not know of them.
 */
import { z } from 'zod'
import { listActions, readSequence, type ActionView } from '../actions.ts'
import { operation } from '../operation.ts'
import { pageFields, pageOf, type Page } from '../paging.ts'
import { backupAction, downloadSubject } from './backup.ts'

/** Newest first. */
export const listBackups = operation(
  z.strictObject(pageFields),
  async ({ database }, { cursor, limit }): Promise<Page<RecordedBackup>> => {
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

export type RecordedBackup = Readonly<ReturnType<typeof viewBackup>>

/** As `recordCopy` writes them. */
const facts = z.object({
  bytes: z.int(),
  sha256: z.string(),
  audit: z.enum(['passed', 'failed']),
})

function viewBackup({ at, actor, actor_name, subject, detail }: ActionView) {
  return {
    at,
    actor,
    actor_name,
    /** On the host of the gateway; null where it was sent to another machine. */
    file: subject === downloadSubject ? null : subject,
    ...facts.parse(detail),
  }
}
