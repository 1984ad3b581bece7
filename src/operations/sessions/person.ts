/** Who an operator is, and with which role, by the claims of an OpenID Connect provider. */
import { operatorRoles } from '../../access/key.ts'
import { refuse } from '../../base/errors.ts'
import type { Claims, OidcClient } from './oidc.ts'

export interface OperatorOidc extends OidcClient {
  readonly roleClaim: string
  /** `VALUE=ROLE`, as in the setting. */
  readonly roles: readonly string[]
}

/** The name is the verified e-mail address, else the provider's id of the person. */
export function personOf(claims: Claims, { host, roleClaim, roles }: OperatorOidc) {
  const values = [claims[roleClaim]].flat().filter((one) => typeof one === 'string')
  const role = operatorRoles.findLast((one) =>
    values.some((value) => roles.includes(`${value}=${one}`)),
  )
  const why = `${host} gives you no role here: no value of its claim ${roleClaim} has one.`
  if (role === undefined) return refuse('access.oidc_refused', why)
  const tokenName = String(claims[claims['email_verified'] === true ? 'email' : 'sub'])
  return { kind: 'oidc', person: { tokenName, role } } as const
}
