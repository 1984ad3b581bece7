/** What account holders see of the operator: name and contact, from the settings. It is public. */
export interface Operator {
  readonly name: string | null
  /** A `mailto:` or `https:` address, or plain text. */
  readonly contact: string | null
}
