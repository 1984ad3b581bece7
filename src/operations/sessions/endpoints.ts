/** Endpoints of the sessions of browsers. A program needs none: it sends its token with each request. */
import { z } from 'zod'
import { endSessions, listSessions } from './sessions.ts'
import { endpoints, rowOf, type SessionCall } from '../endpoint.ts'
import { moment } from '../answer-forms.ts'

const secret = z.string().min(1, 'must not be empty').max(300, 'must have at most 300 characters')

const session = z.strictObject({
  token_id: z.string().meta({ description: 'The admin token whose rights the session has.' }),
  token_name: z.string(),
  role: z.enum(['viewer', 'operator', 'owner']),
  created_at: moment,
  expires_at: moment.meta({ description: 'The session ends then, however much it is used.' }),
  idle_minutes: z.int().meta({ description: 'It ends after so long without use by a person.' }),
})

const ended = z.strictObject({ ended: z.int().meta({ description: 'How many sessions.' }) })

/** They set, read or remove the cookie. */
export const sessionCalls = {
  begin: rowOf('session.begin', {
    route: 'POST /session',
    summary: 'Sign a browser in with an admin token or the code of a link; sets the cookie.',
    role: 'viewer',
    session: 'begins',
    bodyBytesMax: 4_096,
    input: z.strictObject({ token: secret.optional(), code: secret.optional() }),
    answer: session,
    example: { token: 'ad_exampleofatoken' },
  }),
  show: rowOf('session.show', {
    route: 'GET /session',
    summary: 'Show the session of this browser.',
    session: 'exists',
    input: z.strictObject({}),
    answer: session,
  }),
  end: rowOf('session.end', {
    route: 'DELETE /session',
    summary: 'Sign this browser out; removes the cookie.',
    role: 'viewer',
    session: 'exists',
    input: z.strictObject({}),
    answer: ended,
  }),
} satisfies Record<string, SessionCall>

export const sessionEndpoints = endpoints('sessions', {
  list: {
    route: 'GET /sessions',
    summary: 'List the sessions of this admin token, newest first; 20 at most.',
    operation: listSessions,
    answer: z.strictObject({
      items: z.array(
        z.strictObject({
          created_at: moment,
          last_used_at: moment.meta({ description: 'By a person; up to a minute old.' }),
          expires_at: moment,
          current: z.boolean().meta({ description: 'The session of this request.' }),
        }),
      ),
      next_cursor: z.null(),
    }),
  },
  end: {
    route: 'DELETE /sessions',
    summary: 'Sign out everywhere: end all sessions of this admin token.',
    role: 'viewer',
    operation: endSessions,
    answer: ended,
  },
})
