/**
 * The kinds of alert: stable names, severities, and what a message says. Pure: facts in, text out. Facts
 * name accounts, keys, channels and models; they hold no secret and nothing of a request.
 */

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

/** Kind → severity. docs/alerts.md says when each is raised and what to do. */
export const alertKinds = {
  'account.balance_low': 'warning',
  'account.running_out': 'warning',
  'account.exhausted': 'critical',
  'account.daily_limit_reached': 'warning',
  'account.monthly_limit_reached': 'warning',
  'key.limit_reached': 'warning',
  'channel.off': 'warning',
  'channel.credential_refused': 'critical',
  'channel.no_credit': 'critical',
  'channel.model_missing': 'warning',
  'channel.limit_ignored': 'warning',
  'channel.counts_high': 'warning',
  'channel.cache_fallen': 'warning',
  'model.reserve_only': 'warning',
  'model.no_usable_channel': 'critical',
  'ledger.audit_failed': 'critical',
  'store.outage': 'critical',
  'backup.too_old': 'warning',
  'alert.test': 'info',
} as const satisfies Record<string, Severity>

export type AlertKind = keyof typeof alertKinds

export const alertKindNames = Object.keys(alertKinds) as AlertKind[]

/** Firing or resolved: an alert makes at most one message of each for a target. */
export type AlertEvent = 'firing' | 'resolved'

/** Returns the type of a message about one alert. */
export function messageType(kind: AlertKind, event: AlertEvent): string {
  if (event === 'firing') return kind
  return kind === 'channel.off' ? 'channel.back' : `${kind}.resolved`
}

export type Facts = Readonly<Record<string, string | number | null | readonly string[]>>

/** A condition that holds now. */
export interface Finding {
  readonly kind: AlertKind
  /** With the kind it identifies the condition: the id or name of what it is about; empty: everything. */
  readonly subject: string
  /** Whose contact gets it too. */
  readonly accountId?: string
  readonly channel?: string
  /** One line. */
  readonly title: string
  /** What it means, and what to do. */
  readonly text: string
  readonly facts: Facts
}

export interface Alert extends Finding {
  readonly id: string
  readonly severity: Severity
  readonly firedAtMs: number
  /** Undefined while the condition holds. */
  readonly resolvedAtMs: number | undefined
}

/** Identifies a condition. */
export function keyOf(kind: AlertKind, subject: string): string {
  return `${kind}\n${subject}`
}

/** Returns whether a target that wants at least `least` wants this. */
export function isSevereEnough(severity: Severity, least: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(least)
}
