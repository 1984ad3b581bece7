/**
 * The kinds of alert: stable names, severities, and which of them have one cause. Pure. Facts name accounts,
 * keys, channels and models; they hold no secret and nothing of a request.
 */

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

/**
 * Kind → severity. Of two kinds with the same cause the later one is worse. docs/alerts.md says when each is
 * raised and what to do.
 */
export const alertKinds = {
  'account.running_out': 'warning',
  'account.balance_low': 'warning',
  'account.exhausted': 'critical',
  'account.money_taken_back': 'critical',
  'payment.not_booked': 'critical',
  'account.limit_used': 'info', // a warning from 80 % on
  'account.daily_limit_reached': 'warning',
  'account.monthly_limit_reached': 'warning',
  'key.limit_reached': 'warning',
  'channel.cache_fallen': 'warning',
  'channel.limit_ignored': 'warning',
  'channel.counts_high': 'warning',
  'model.reserve_only': 'warning',
  'channel.model_missing': 'warning',
  'channel.off': 'warning',
  'channel.no_credit': 'critical',
  'channel.address_refused': 'critical',
  'channel.certificate_refused': 'critical',
  'channel.certificate_expired': 'critical',
  'channel.credential_refused': 'critical',
  'model.no_usable_channel': 'critical',
  'ledger.audit_failed': 'critical',
  'ledger.not_sealed': 'warning',
  'store.outage': 'critical',
  'backup.too_old': 'warning',
  'alert.test': 'info',
} as const satisfies Record<string, Severity>

export type AlertKind = keyof typeof alertKinds

export const alertKindNames = Object.keys(alertKinds) as AlertKind[]

/** A channel serves a model no more. */
export const offKinds = [
  'channel.off',
  'channel.credential_refused',
  'channel.certificate_expired',
  'channel.certificate_refused',
  'channel.address_refused',
  'channel.no_credit',
  'channel.model_missing',
] as const satisfies readonly AlertKind[]

/** One and the same lack of money. */
const balanceKinds: readonly AlertKind[] = [
  'account.running_out',
  'account.balance_low',
  'account.exhausted',
]

type Facts = Readonly<Record<string, string | number | null | readonly string[]>>

/** A condition that holds now. */
export interface Finding {
  readonly kind: AlertKind
  /** With the kind it identifies the condition: the id or name of its subject; empty: everything. */
  readonly subject: string
  /** Whose contact gets it too. */
  readonly accountId?: string
  /** The channel that is the cause. */
  readonly channel?: string
  /** One line. */
  readonly title: string
  /** Its meaning, and what to do, in words that fit every medium. */
  readonly text: string
  /** The command that does or shows it, for those who read this without the console. */
  readonly command?: string
  readonly facts: Facts
}

/** A condition of an alert, as it was when it began. */
export interface Condition extends Finding {
  readonly beganAtMs: number
}

/** One cause, and all that follows from it. */
export interface Alert {
  readonly id: string
  readonly cause: string
  /** Those that hold, the worst first. */
  readonly conditions: readonly [Condition, ...Condition[]]
  /** The highest since it began. */
  readonly severityMax: Severity
  /** Conditions that began since then; one that ends and begins again counts twice. */
  readonly count: number
  readonly firstSeenAtMs: number
  /** When a condition began the last time. */
  readonly lastSeenAtMs: number
  /** Undefined while no operator has acknowledged or snoozed it. */
  readonly acknowledged: Acknowledgement | undefined
}

export interface Acknowledgement {
  readonly by: string
  readonly atMs: number
  /** When it ends; undefined: with the alert. */
  readonly untilMs: number | undefined
  readonly note: string | undefined
}

/** Firing: a condition began; resolved: it is over. */
export type AlertEvent = 'firing' | 'resolved'

/** The content of an alert's message, the same to every target. */
export interface Notice {
  readonly alertId: string
  readonly event: AlertEvent
  readonly type: string
  readonly severity: Severity
  /** The worst condition, or the one that is over. */
  readonly condition: Finding
  /** Titles of the other conditions that hold. */
  readonly includes: readonly string[]
  readonly firedAtMs: number
  readonly atMs: number
}

/** Returns the text with the command behind it. */
export function textWithCommand({ text, command }: Pick<Finding, 'text' | 'command'>): string {
  return command === undefined ? text : `${text} In a shell: ${command}`
}

/** Identifies a condition. */
export function keyOf({ kind, subject }: Pick<Finding, 'kind' | 'subject'>): string {
  return `${kind}\n${subject}`
}

/** Conditions with the same cause are one alert: those of a channel, and those of a balance. */
export function causeOf({ kind, subject, channel }: Finding): string {
  if (channel !== undefined) return `channel ${channel}`
  if (balanceKinds.includes(kind)) return `balance ${subject}`
  return subject === '' ? kind : `${kind} ${subject}`
}

/** Negative where the first is worse. */
export function compareKinds(left: AlertKind, right: AlertKind): number {
  return alertKindNames.indexOf(right) - alertKindNames.indexOf(left)
}

/** Returns whether a target that wants at least `least` wants this. */
export function isSevereEnough(severity: Severity, least: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(least)
}
