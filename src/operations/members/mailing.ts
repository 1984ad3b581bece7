/** How members get mail, by the settings. */
import type { Config } from '../../settings/list.ts'
import type { SendMail } from '../alerts/mailer.ts'

/** How members get mail; or the settings that are missing for it. */
export type Mailing =
  | {
      readonly kind: 'ready'
      readonly send: SendMail
      /** Without a slash at its end. */
      readonly publicUrl: string
      readonly operatorName: string | undefined
    }
  /** Members sign in by OpenID Connect alone. */
  | { readonly kind: 'none' }
  | { readonly kind: 'missing'; readonly settings: readonly string[] }

export type ReadyMailing = Extract<Mailing, { kind: 'ready' }>

export function mailingOf(config: Config, send: SendMail | undefined): Mailing {
  const { publicUrl, operatorName, oidcIssuer } = config
  if (publicUrl !== undefined && send !== undefined)
    return { kind: 'ready', send, publicUrl, operatorName }
  if (publicUrl !== undefined && oidcIssuer !== undefined) return { kind: 'none' }
  const settings = [
    ...(publicUrl === undefined ? ['public_url'] : []),
    ...(send === undefined ? ['smtp', 'smtp_from'] : []),
  ]
  return { kind: 'missing', settings }
}
