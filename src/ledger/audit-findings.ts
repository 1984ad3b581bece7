/** What an audit has seen so far, and how it is told. */
import { formatUsd, type Picos } from '../base/money.ts'

export interface AuditDifference {
  readonly kind:
    | 'balance'
    | 'charge_without_exchange'
    | 'exchange_without_charge'
    | 'amount'
    | 'price_lines'
    | 'attempts'
    | 'usage_day'
    | 'usage_month'
    | 'sequence'
    | 'unknown_account'
  /** Empty where the difference belongs to no account. */
  readonly accountId: string
  /** What is wrong, in a sentence with both figures. */
  readonly message: string
}

/** Grows while an audit runs. */
export interface Findings {
  readonly differencesMax: number
  readonly differences: AuditDifference[]
  readonly counts: {
    accounts: number
    entries: number
    exchanges: number
    charges: number
    differences: number
  }
}

export function report(
  findings: Findings,
  accountId: string,
  kind: AuditDifference['kind'],
  found: { readonly text: string; readonly stored: string; readonly derived: string },
): void {
  findings.counts.differences++
  if (findings.differences.length >= findings.differencesMax) return
  const message = `${found.text}: stored ${found.stored}, derived ${found.derived}`
  findings.differences.push({ kind, accountId, message })
}

export function usd(amount: Picos): string {
  return `${formatUsd(amount)} USD`
}
