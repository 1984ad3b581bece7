/**
 * Sign-in by OpenID Connect, by the library openid-client: the address of the provider's page, and the claims
 * about the person who returns from there. State, nonce and PKCE's verifier follow from a value that only the
 * browser keeps, so that the store holds nothing and any gateway can go on.
 */
import { createHmac } from 'node:crypto'
import * as library from 'openid-client'
import { hashSessionSecret } from '../../access/session.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'

export interface OidcOptions {
  readonly issuer: string
  readonly clientId: string
  /** Undefined = a public client. */
  readonly clientSecret: Secret | undefined
  /** Where the provider sends the browser back. */
  readonly redirectUrl: string
  readonly scope: string
  /** Where the ID token lacks one of these claims, the provider is asked for its user info. */
  readonly claimNames: readonly string[]
  /** Called where an operator has to correct something, or the provider. */
  readonly onFailed: (host: string, reason: string) => void
}

export type Claims = Readonly<Record<string, unknown>>
export type OidcClient = ReturnType<typeof openOidc>

const timeoutSeconds = 10

export function openOidc(options: OidcOptions) {
  const { issuer, clientId, clientSecret, redirectUrl, scope, claimNames, onFailed } = options
  const { host } = new URL(issuer)
  let known: library.Configuration | undefined

  /** Asks the provider where things are, once it answers; a failure is asked again. */
  const discover = async () =>
    (known ??= await library.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret ? byEither(clientSecret.reveal()) : library.None(),
      // The setting allows plain http on a loopback address only.
      {
        timeout: timeoutSeconds,
        execute: issuer.startsWith('http:') ? [library.allowInsecureRequests] : [],
      },
    ))

  async function ask<Value>(work: (found: library.Configuration) => Promise<Value>) {
    try {
      return await work(await discover())
    } catch (error) {
      const refusal = refusalOf(error, host)
      if (refusal.code === 'access.oidc_unavailable') onFailed(host, reasonOf(error))
      return refusal
    }
  }

  return {
    /** The host of the issuer. */
    host,
    /** Returns where the browser goes; `browser` is what it keeps meanwhile. */
    begin: (browser: string) =>
      ask(async (found) => {
        const { verifier, ...checks } = checksOf(browser)
        const url = library.buildAuthorizationUrl(found, {
          ...checks,
          redirect_uri: redirectUrl,
          scope,
          code_challenge: await library.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        })
        return { kind: 'begun', url: url.href } as const
      }),
    /** Trades what the provider has added to the redirect address for claims about the person. */
    async prove(browser: string | undefined, query: string) {
      if (browser === undefined || hashSessionSecret(browser) === undefined) return begunElsewhere
      const { state, nonce, verifier } = checksOf(browser)
      return ask(async (found) => {
        const tokens = await library.authorizationCodeGrant(found, new URL(query, redirectUrl), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
        })
        const claims: Claims & { readonly sub?: string } = { ...tokens.claims() }
        const isWhole = claimNames.every((name) => claims[name] !== undefined)
        if (isWhole || found.serverMetadata().userinfo_endpoint === undefined)
          return { kind: 'claims', claims, browser } as const
        const told = await library.fetchUserInfo(found, tokens.access_token, claims.sub ?? '')
        return { kind: 'claims', claims: { ...told, ...claims }, browser } as const
      })
    },
  }
}

/** Sends the secret as the standard prefers, or in the body at providers that take it there only. */
function byEither(secret: string): library.ClientAuth {
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const isBasic = server.token_endpoint_auth_methods_supported?.includes('client_secret_basic')
    ;(isBasic === false ? post : basic)(server, ...rest)
  }
}

function checksOf(browser: string) {
  const derive = (use: string) => createHmac('sha256', browser).update(use).digest('base64url')
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
}

const begunElsewhere = refuse(
  'access.oidc_refused',
  'This sign-in was begun in another browser, at another address or over 15 minutes ago, or its answer has been used. Begin again.',
)

function refusalOf(error: unknown, host: string): Refusal {
  if (error instanceof library.AuthorizationResponseError) {
    const word = /^[a-z_]{1,40}$/.exec(error.error)?.[0] ?? 'error'
    return refuse('access.oidc_refused', `${host} has not signed you in: ${word}. Begin again.`)
  }
  const isUsed = error instanceof library.ResponseBodyError && error.error === 'invalid_grant'
  const isStrange = error instanceof library.ClientError && error.code === 'OAUTH_INVALID_RESPONSE'
  if (isUsed || isStrange) return begunElsewhere
  const away = `Signing in with ${host} does not work now. Try again later.`
  return refuse('access.oidc_unavailable', away)
}

/** In the words of the library and the system; texts of the provider can be anything. */
function reasonOf(error: unknown): string {
  if (error instanceof library.ResponseBodyError) return `${error.message}: ${error.error}`
  if (error instanceof library.WWWAuthenticateChallengeError)
    return `${error.message}: ${error.cause[0]?.parameters.error ?? error.status}`
  if (!(error instanceof Error)) return 'unknown'
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
