/**
 * One function per thing that happens: the counters it moves and the log line it is worth. The log
 * gets ids, classes and figures from closed sets, never a body, a header, a query or a secret.
 */
import type { Logger } from 'pino'
import { usdNumber, type Picos } from '../base/money.ts'
import type { Metrics } from './metrics.ts'

/** Moments of an exchange that tests and traces can hang something on. */
export type Milestone =
  | 'hold_wanted' // before anything is set aside
  | 'hold_placed'
  | 'attempt_sending' // before a byte of the request has left
  | 'attempt_sent' // the request has been handed to the connection
  | 'first_event' // the stream may be committed
  | 'mid_stream' // more of it has come
  | 'usage_seen' // the vendor's final counts, the last piece still kept back
  | 'charge_submitted'
  | 'charge_durable'
  | 'answer_released' // the last piece has been handed to the connection
  | 'client_left'

export interface ExchangeSummary {
  readonly exchangeId: string
  readonly accountId: string
  readonly keyId: string
  readonly vendor: string
  readonly model: string
  readonly channel: string | undefined
  readonly ending: string
  readonly status: number
  readonly attemptCount: number
  readonly durationMs: number
  readonly amountPicos: Picos
  readonly operatorCostPicos: Picos
  readonly isEstimated: boolean
}

export interface AuditSummary {
  /** All that were found; zero = the books agree. */
  readonly differenceCount: number
  /** The first of them; ids, names of tables and amounts. */
  readonly differences: readonly Readonly<Record<string, string>>[]
  readonly endedAtMs: number
  readonly durationMs: number
}

export interface Telemetry {
  exchangeEnded(summary: ExchangeSummary): void
  refused(code: string, exchangeId: string): void
  attemptEnded(channel: string, outcome: string): void
  firstEvent(channel: string, durationMs: number): void
  failedOver(vendor: string): void
  channelChanged(
    channel: string,
    change: { model: string; from: string; to: string; why: string },
  ): void
  audited(summary: AuditSummary): void
  auditFailed(error: unknown): void
  /** The operator has to act. */
  alert(kind: string, detail: Readonly<Record<string, string | number>>): void
  /** Something that must never happen did: a broken invariant, a fault nobody expected. */
  fault(error: unknown, where: string): void
  milestone(milestone: Milestone, exchangeId: string): void
}

export interface TelemetryOptions {
  readonly log: Logger
  readonly metrics: Metrics
  readonly onMilestone?: (milestone: Milestone, exchangeId: string) => void
}

export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { log, metrics, onMilestone } = options
  function alert(kind: string, detail: Readonly<Record<string, string | number>>): void {
    metrics.alarms.inc({ kind })
    log.error({ kind, ...detail }, 'operator needed')
  }
  function fault(error: unknown, where: string): void {
    metrics.alarms.inc({ kind: 'fault' })
    log.error({ where, ...describe(error) }, 'fault')
  }
  return {
    exchangeEnded(summary) {
      const { vendor, ending } = summary
      metrics.exchanges.inc({ vendor, ending, status: String(summary.status) })
      if (summary.amountPicos > 0n)
        metrics.chargedUsd.inc({ vendor }, usdNumber(summary.amountPicos))
      if (summary.operatorCostPicos > 0n)
        metrics.operatorCostUsd.inc({ vendor }, usdNumber(summary.operatorCostPicos))
      if (summary.isEstimated) metrics.estimatedCharges.inc({ vendor })
      const isOrdinary = ending === 'completed' && summary.attemptCount === 1
      const level = isOrdinary ? 'debug' : 'info'
      if (log.isLevelEnabled(level)) log[level](summaryLine(summary), 'exchange ended')
    },
    refused(code, exchangeId) {
      metrics.refusals.inc({ code })
      log.debug({ exchangeId, code }, 'request refused')
    },
    attemptEnded(channel, outcome) {
      metrics.attempts.inc({ channel, outcome })
    },
    firstEvent(channel, durationMs) {
      metrics.firstEventSeconds.observe({ channel }, durationMs / 1_000)
    },
    failedOver(vendor) {
      metrics.failovers.inc({ vendor })
    },
    channelChanged(channel, change) {
      metrics.channelChanges.inc({ channel, to: change.to })
      log.warn({ channel, ...change }, 'channel state changed')
    },
    audited({ differenceCount, differences, endedAtMs, durationMs }) {
      const isClean = differenceCount === 0
      metrics.audits.inc({ result: isClean ? 'clean' : 'differences' })
      metrics.auditDifferences.set(differenceCount)
      metrics.auditTimeSeconds.set(endedAtMs / 1_000)
      metrics.auditDurationSeconds.set(durationMs / 1_000)
      const summary = { differences: differenceCount, durationMs: Math.round(durationMs) }
      if (isClean) return log.debug(summary, 'books audited')
      for (const difference of differences) log.error(difference, 'the books contradict themselves')
      alert('audit', summary)
    },
    auditFailed(error) {
      metrics.audits.inc({ result: 'failed' })
      fault(error, 'audit')
    },
    alert,
    fault,
    milestone(milestone, exchangeId) {
      onMilestone?.(milestone, exchangeId)
    },
  }
}

function summaryLine(summary: ExchangeSummary): Record<string, unknown> {
  const { amountPicos, operatorCostPicos, durationMs, ...rest } = summary
  return {
    ...rest,
    durationMs: Math.round(durationMs),
    costUsd: usdNumber(amountPicos),
    operatorCostUsd: usdNumber(operatorCostPicos),
  }
}

/** The stack behind the message, which might have lines that look like places. */
function placesOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message)
  return at < 0 ? '' : stack.slice(at + message.length)
}

/** Names and places of an error without its message, which may quote what a client sent. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const frames = placesOf(error)
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { error: error.name, code, frames: frames.slice(0, 8).map((line) => line.trim()) }
}
