/** What account holders see of the operator, from the settings. It is public. */
export interface Operator {
  readonly name: string | null
  /** A `mailto:` or `https:` address, or plain text. */
  readonly contact: string | null
  /** Of the operator, as receipts show it. */
  readonly address: string | null
  /** The tax that credits include; null = none is shown. */
  readonly tax: { readonly percent: number; readonly note: string | null } | null
  /** Whether members sign in by mail. */
  readonly members: boolean
  /** Whether people make accounts themselves, only with a top-up code or also without one; null = no. */
  readonly sign_up: 'invite' | 'open' | null
  /** The host of the OpenID Connect provider at which members sign in; null = none. */
  readonly oidc: string | null
  /** What an owner may pay at once, in whole USD; null = no payments are taken. */
  readonly payments: { readonly least_usd: number; readonly most_usd: number } | null
}
