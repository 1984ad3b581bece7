/** Opens sign-in by OpenID Connect where its settings are there; its library is loaded only then. */
import type { Secret } from '../../base/secret.ts'
import type { OidcClient, OidcOptions } from '../../operations/sessions/oidc.ts'
import type { OperatorOidc } from '../../operations/sessions/person.ts'
import { readSecretFile } from '../../settings/secret-file.ts'
import type { Opening } from './opening.ts'

const addressClaims = ['email', 'email_verified']

export async function openMemberOidc(opening: Opening): Promise<OidcClient | undefined> {
  const { config } = opening
  const { publicUrl, oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecretFile } = config
  if (!publicUrl || !issuer || !clientId) return undefined
  return open(opening, {
    issuer,
    clientId,
    clientSecret:
      config.oidcClientSecret ?? secretIn(oidcClientSecretFile, 'oidc_client_secret_file'),
    redirectUrl: `${publicUrl}/account/`,
    scope: 'openid email',
    claimNames: addressClaims,
  })
}

export async function openOperatorOidc(opening: Opening): Promise<OperatorOidc | undefined> {
  const { config } = opening
  const { consoleUrl, adminOidcIssuer: issuer, adminOidcClientId: clientId } = config
  const { adminOidcRoleClaim: roleClaim, adminOidcRoles: roles, adminOidcScope: scope } = config
  if (!consoleUrl || !issuer || !clientId || !roleClaim || !roles) return undefined
  const file = config.adminOidcClientSecretFile
  const client = await open(opening, {
    issuer,
    clientId,
    clientSecret: config.adminOidcClientSecret ?? secretIn(file, 'admin_oidc_client_secret_file'),
    redirectUrl: `${consoleUrl}/console/sign-in`,
    scope,
    claimNames: [...addressClaims, roleClaim],
  })
  return { ...client, roleClaim, roles }
}

function secretIn(file: string | undefined, setting: string): Secret | undefined {
  return file === undefined ? undefined : readSecretFile(file, setting)
}

async function open(
  { effects }: Opening,
  options: Omit<OidcOptions, 'onFailed'>,
): Promise<OidcClient> {
  const { openOidc } = await import('../../operations/sessions/oidc.ts')
  const onFailed: OidcOptions['onFailed'] = (host, reason) =>
    effects.log.warn({ host, reason }, 'sign-in by OpenID Connect failed')
  return openOidc({ ...options, onFailed })
}
