/** The settings of sign-in by OpenID Connect: of members, and of operators. Part of the list in list.ts. */
import type { z } from 'zod'
import { operatorRoles } from '../access/key.ts'
import {
  isSafeAddress,
  pageAddress,
  path,
  serviceSecret,
  setting,
  shortText,
  text,
} from './schemas.ts'

const issuer = text(
  'the issuer of the provider such as https://login.example, or http on a loopback address',
  (given) => {
    const url = URL.parse(given)
    return url !== null && isSafeAddress(url) && !/[?#@]/.test(given) ? given : undefined
  },
)

const roles = text(
  'values with their roles such as gateway-admins=owner, staff=viewer',
  (given) => {
    const pairs = given.split(',').map((pair) => pair.trim())
    const form = new RegExp(`^.+=(?:${operatorRoles.join('|')})$`)
    return pairs.every((pair) => form.test(pair)) ? pairs : undefined
  },
)

function unset<Schema extends z.ZodType>(key: string, schema: Schema, meaning: string) {
  return setting(key, schema, undefined, meaning)
}

export const oidcSettings = {
  'Sign-in by OpenID Connect': {
    oidcIssuer: unset(
      'oidc_issuer',
      issuer,
      'The provider at which [members](members.md#sign-in-by-openid-connect) sign in: its issuer, such as `https://login.example`. It needs `oidc_client_id` and `public_url`.',
    ),
    oidcClientId: unset('oidc_client_id', shortText, 'The id of your client there.'),
    oidcClientSecret: unset('oidc_client_secret', serviceSecret, 'Its secret, where it has one.'),
    oidcClientSecretFile: unset('oidc_client_secret_file', path, 'A file with that secret.'),
    consoleUrl: unset(
      'console_url',
      pageAddress,
      'The address at which operators reach `admin_listen`, such as `https://admin.example.com`: https, or http on a loopback address, without a path. Only sign-in by OpenID Connect needs it.',
    ),
    adminOidcIssuer: unset(
      'admin_oidc_issuer',
      issuer,
      'The provider at which [operators](console.md#sign-in-by-openid-connect) sign in to the console. It needs `admin_oidc_client_id`, `admin_oidc_role_claim`, `admin_oidc_roles` and `console_url`.',
    ),
    adminOidcClientId: unset('admin_oidc_client_id', shortText, 'The id of your client there.'),
    adminOidcClientSecret: unset(
      'admin_oidc_client_secret',
      serviceSecret,
      'Its secret, where it has one.',
    ),
    adminOidcClientSecretFile: unset(
      'admin_oidc_client_secret_file',
      path,
      'A file with that secret.',
    ),
    adminOidcScope: setting(
      'admin_oidc_scope',
      shortText,
      'openid email profile',
      'What the gateway asks that provider for. Some tell groups with a scope such as `groups` only.',
    ),
    adminOidcRoleClaim: unset(
      'admin_oidc_role_claim',
      shortText,
      'The claim that decides the role of an operator, such as `groups`: one text or a list.',
    ),
    adminOidcRoles: unset(
      'admin_oidc_roles',
      roles,
      'Which values of that claim give which role: `gateway-admins=owner, support=operator, staff=viewer`. The highest role counts; a person without one is refused.',
    ),
  },
} as const
