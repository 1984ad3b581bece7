/** Endpoints of the sessions of browsers. A program needs none: it sends its token with each request. */
import { z } from 'zod'
import { endedForm } from './own-sessions.ts'
import { operatorsOwn, sessionForm } from './sessions.ts'
import { endpoints, rowOf, type SessionCall } from '../endpoint.ts'
import { noInput } from '../operation.ts'

const secret = z.string().min(1, 'must not be empty').max(300, 'must have at most 300 characters')

/** They set, read or remove the cookie. */
export const sessionCalls = {
  oidcHost: rowOf('session.oidc.show', {
    route: 'GET /session/oidc',
    summary: 'Show the host of the OpenID Connect provider of operators; null without one.',
    session: 'begins',
    input: noInput,
    answer: z.strictObject({ host: z.string().nullable() }),
  }),
  oidc: rowOf('session.oidc.begin', {
    route: 'POST /session/oidc',
    summary: 'Begin to sign in by OpenID Connect: answers the address of the provider.',
    role: 'viewer',
    session: 'begins',
    bodyBytesMax: 4_096,
    input: noInput,
    answer: z.strictObject({ url: z.string() }),
  }),
  begin: rowOf('session.begin', {
    route: 'POST /session',
    summary:
      'Sign a browser in with an admin token, the code of a link, or what an OpenID Connect provider answered; sets the cookie.',
    role: 'viewer',
    session: 'begins',
    bodyBytesMax: 8_192,
    input: z.strictObject({
      token: secret.optional(),
      code: secret.optional(),
      oidc: z.string().max(6_000, 'must have at most 6000 characters').optional(),
    }),
    answer: sessionForm,
    example: { token: 'ad_exampleofatoken' },
  }),
  show: rowOf('session.show', {
    route: 'GET /session',
    summary: 'Show the session of this browser.',
    session: 'exists',
    input: noInput,
    answer: sessionForm,
  }),
  end: rowOf('session.end', {
    route: 'DELETE /session',
    summary: 'Sign this browser out; removes the cookie.',
    role: 'viewer',
    session: 'exists',
    input: noInput,
    answer: endedForm,
  }),
} satisfies Record<string, SessionCall>

export const sessionEndpoints = endpoints('sessions', {
  list: {
    route: 'GET /sessions',
    summary: 'List the sessions of this admin token, newest first; 20 at most.',
    operation: operatorsOwn.list,
  },
  end: {
    route: 'DELETE /sessions',
    summary: 'Sign out everywhere: end all sessions of this admin token.',
    role: 'viewer',
    operation: operatorsOwn.endAll,
  },
})
