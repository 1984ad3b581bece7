/** What operators and members do with the sessions of their own: list them, and end one or all. */
import { z } from 'zod'
import type { SessionStore } from '../../access/session-store.ts'
import { agesAt } from '../../access/session.ts'
import { recordAction } from '../actions.ts'
import { moment } from '../answer-forms.ts'
import { noInput, operation, timeText, type OperationContext } from '../operation.ts'

const sessionsForm = z.strictObject({
  items: z.array(
    z.strictObject({
      created_at: moment,
      last_used_at: moment.meta({ description: 'By a person; up to a minute old.' }),
      expires_at: moment,
      current: z.boolean().meta({ description: 'The session of this request.' }),
    }),
  ),
  next_cursor: z.null(),
})

export const endedForm = z.strictObject({
  ended: z.int().meta({ description: 'How many sessions.' }),
})

interface Recorded {
  readonly end: Parameters<typeof recordAction>[2]['action']
  readonly endAll: Parameters<typeof recordAction>[2]['action']
}

export function ownSessions(sessions: SessionStore, recorded: Recorded) {
  return {
    /** Newest first. There are few. */
    list: operation({ input: noInput, answer: sessionsForm }, async (context) => {
      const { database, clock, actor, session } = context
      const rows = await sessions.list(database, actor, agesAt(clock.now()))
      const items = rows.map((row) => ({
        created_at: timeText(row.createdAtMs),
        last_used_at: timeText(row.lastUsedAtMs),
        expires_at: timeText(row.expiresAtMs),
        current: row.idHash === session,
      }))
      return { items, next_cursor: null }
    }),

    /** Ends the session that asks. */
    async end(context: OperationContext, idHash: string): Promise<void> {
      const { database, actor: subject } = context
      await database.transact(async (transaction) => {
        await sessions.delete(transaction, idHash)
        await recordAction(transaction, context, { action: recorded.end, subject })
      })
    },

    endAll: operation({ input: noInput, answer: endedForm }, (context) =>
      context.database.transact(async (transaction) => {
        const { actor: subject, clock } = context
        const ended = (await sessions.list(transaction, subject, agesAt(clock.now()))).length
        await sessions.deleteOf(transaction, subject)
        const action = recorded.endAll
        await recordAction(transaction, context, { action, subject, detail: { ended } })
        return { ended }
      }),
    ),
  }
}
