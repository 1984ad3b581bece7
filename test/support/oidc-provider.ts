/**
 * A real OpenID Connect provider on loopback, certified like the library that the gateway uses. It lets in
 * the person whom the test names, without a form.
 */
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { mock } from 'node:test'
import { Provider, type Configuration } from 'oidc-provider'
import { systemClock } from '../../src/base/clock.ts'
import { send } from './http-client.ts'
import { findFreePort } from './postgres.ts'

interface OidcPerson {
  readonly sub: string
  readonly [claim: string]: unknown
}

export interface TestProvider {
  readonly issuer: string
  /** The host of the issuer. */
  readonly host: string
  /** Who is let in; undefined = the provider refuses. */
  person: OidcPerson | undefined
  /** Requests of every kind so far. */
  readonly requestCount: () => number
  close(): Promise<void>
}

export const oidcClient = { id: 'turnpike', secret: 'secret_of_the_test' }

interface ProviderOptions {
  readonly port?: number
  readonly redirectUrl: string
  /** The ID token has all claims; otherwise only the user info has. */
  readonly hasWholeIdToken?: boolean
  /** How far its clock is behind. */
  readonly lateMs?: number
}

export async function startOidcProvider({
  port: wanted,
  redirectUrl,
  hasWholeIdToken = false,
  lateMs = 0,
}: ProviderOptions): Promise<TestProvider> {
  const port = wanted ?? (await findFreePort())
  const issuer = `http://127.0.0.1:${port}`
  let requestCount = 0
  const provider = new Provider(issuer, configurationOf({ redirectUrl, hasWholeIdToken }, find))
  function find(sub: string): OidcPerson | undefined {
    return started.person?.sub === sub ? started.person : people.get(sub)
  }
  const people = new Map<string, OidcPerson>()
  const handle = provider.callback()
  const server = createServer((request, response) => {
    requestCount += 1
    if (lateMs !== 0 && request.url === '/token') {
      mock.timers.enable({ apis: ['Date'], now: systemClock.now() - lateMs })
      response.on('finish', () => mock.timers.reset())
    }
    if (request.url?.startsWith('/interaction/') === true) void finish(request, response)
    else void handle(request, response)
  })

  async function finish(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response)
    const { person } = started
    if (person === undefined)
      return provider.interactionFinished(request, response, { error: 'access_denied' })
    people.set(person.sub, person)
    if (prompt.name === 'login') {
      const login = { login: { accountId: person.sub } }
      return provider.interactionFinished(request, response, login)
    }
    const grant = new provider.Grant({
      accountId: session?.accountId,
      clientId: String(params['client_id']),
    })
    grant.addOIDCScope(String(params['scope']))
    const consent = { consent: { grantId: await grant.save() } }
    return provider.interactionFinished(request, response, consent)
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const started: TestProvider = {
    issuer,
    host: new URL(issuer).host,
    person: undefined,
    requestCount: () => requestCount,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return started
}

function configurationOf(
  {
    redirectUrl,
    hasWholeIdToken,
  }: Required<Pick<ProviderOptions, 'redirectUrl' | 'hasWholeIdToken'>>,
  find: (sub: string) => OidcPerson | undefined,
): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    clients: [
      { client_id: oidcClient.id, client_secret: oidcClient.secret, redirect_uris: [redirectUrl] },
    ],
    jwks: {
      keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'test', alg: 'RS256', use: 'sig' }],
    },
    cookies: { keys: ['a key of the test'] },
    claims: { email: ['email', 'email_verified'], profile: ['groups'] },
    conformIdTokenClaims: !hasWholeIdToken,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...find(sub), sub }) }),
  }
}

/** Goes to the provider as a browser does, until it leads to `redirectUrl`; returns what it adds there. */
export async function visitProvider(url: string, redirectUrl: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next = url
  while (!next.startsWith(redirectUrl)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await send(next, { headers: cookie === '' ? {} : { cookie } })
    for (const text of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      cookies.set(name, value)
    }
    const { location } = answer.headers
    if (location === undefined)
      throw new Error(`The provider answered ${answer.status}: ${answer.text}`)
    next = new URL(location, next).href
  }
  return new URL(next).search
}
