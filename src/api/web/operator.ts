/** What account holders see of the operator, from the settings. It is public. */
export interface Operator {
  readonly name: string | null
  /** A `mailto:` or `https:` address, or plain text. */
  readonly contact: string | null
  /** Of the operator, as receipts show it. */
  readonly address: string | null
  /** The tax that credits include; null = none is shown. */
  readonly tax: { readonly percent: number; readonly note: string | null } | null
}
