/** Who may sign up, by the settings. */
import type { Config } from '../../settings/list.ts'

export interface SignUpRule {
  /** With `invite` only who has a top-up code. */
  readonly mode: 'invite' | 'open'
  /** Of the e-mail addresses; undefined = any. */
  readonly domains: readonly string[] | undefined
}

/** Undefined where operators alone make accounts. */
export function signUpRuleOf({ signUp: mode, signUpDomains }: Config): SignUpRule | undefined {
  return mode === 'off' ? undefined : { mode, domains: signUpDomains }
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}
