/** The limits of one key, beside those of its account. Zero = no limit. */
import { zeroPicos, type Picos } from './money.ts'

export interface KeyLimits {
  /** Per UTC day. */
  readonly dailyPicos: Picos
  /** Per UTC calendar month. */
  readonly monthlyPicos: Picos
  /** Since the key was made. */
  readonly totalPicos: Picos
  /** Requests in any window of one minute. */
  readonly rpm: number
  /** Tokens of the requests that ended within one minute. */
  readonly tpm: number
}

export const noKeyLimits: KeyLimits = {
  dailyPicos: zeroPicos,
  monthlyPicos: zeroPicos,
  totalPicos: zeroPicos,
  rpm: 0,
  tpm: 0,
}
