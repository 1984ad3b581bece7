/** The findings of an audit: counts, and differences with the invariant that each one breaks. */
import { formatUsd, type Picos } from '../../base/money.ts'

/** The invariant that each kind of difference breaks, as docs/ledger.md numbers them. */
const invariants = {
  balance: 'I1',
  unknown_account: 'I1',
  held: 'I2',
  overspent: 'I3',
  hold_ended: 'I4',
  hold_overdue: 'I4',
  charge_without_exchange: 'I5',
  exchange_without_charge: 'I5',
  amount: 'I5',
  attempts: 'I7',
  price_lines: 'I8',
  counts: 'I8',
  sequence: 'I9',
  entry_sign: 'I9',
  guard: 'I9',
  usage_month: 'I10',
  usage_key_month: 'I10',
  report_day: 'I10',
  entry_hash: 'I13',
  refund: 'I15',
  chain: 'I16',
  head: 'I16',
  signing_key: 'I16',
} as const

export type DifferenceKind = keyof typeof invariants
type Invariant = (typeof invariants)[DifferenceKind]

export interface AuditDifference {
  readonly invariant: Invariant
  readonly kind: DifferenceKind
  /** Empty where the difference belongs to no account. */
  readonly accountId: string
  /** The table and the key of the row in it: `entry ex_…`. */
  readonly row: string
  /** A sentence with the stored and the derived value. */
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

export function noFindings(differencesMax: number): Findings {
  return {
    differencesMax,
    differences: [],
    counts: { accounts: 0, entries: 0, exchanges: 0, charges: 0, differences: 0 },
  }
}

/** Adds the findings of a separate audit. */
export function addFindings(findings: Findings, added: Findings): void {
  const { counts } = findings
  counts.accounts += added.counts.accounts
  counts.entries += added.counts.entries
  counts.exchanges += added.counts.exchanges
  counts.charges += added.counts.charges
  counts.differences += added.counts.differences
  const room = findings.differencesMax - findings.differences.length
  findings.differences.push(...added.differences.slice(0, Math.max(room, 0)))
}

export interface Difference {
  readonly kind: DifferenceKind
  readonly accountId: string
  readonly row: string
  readonly text: string
  readonly stored: string
  readonly derived: string
}

export function report(findings: Findings, found: Difference): void {
  findings.counts.differences++
  if (findings.differences.length >= findings.differencesMax) return
  const { kind, accountId, row, text, stored, derived } = found
  const message = `${text}: stored ${stored}, derived ${derived}`
  findings.differences.push({ invariant: invariants[kind], kind, accountId, row, message })
}

export function usd(amount: Picos): string {
  return `${formatUsd(amount)} USD`
}
