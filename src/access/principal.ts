/** Who is calling: the account and the credential of an exchange, with what the credential may do. */
import type { Picos } from '../base/money.ts'

/** `client` = `cr_…`, `reader` = `ro_…`, `admin` = `ad_…`. */
export type KeyKind = 'client' | 'reader' | 'admin'

export interface Principal {
  readonly kind: 'principal'
  readonly keyKind: KeyKind
  readonly keyId: string
  /** Empty for admin tokens, which belong to no account. */
  readonly accountId: string
  /** Undefined = every model. */
  readonly allowedModels: ReadonlySet<string> | undefined
  /** Charges are the list price times this many millionths; 1_000_000 = list price. */
  readonly priceMultiplierPpm: number
  /** Zero = no limit of the key's own. */
  readonly keyDailyLimitPicos: Picos
}
