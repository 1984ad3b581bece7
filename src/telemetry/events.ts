/**
 * One function per thing that happens: the counters it moves and the log line it is worth. The log
 * gets ids, classes and figures from closed sets, never a body, a header, a query or a secret.
 */
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { GatewayError } from '../base/errors.ts'
import { usdNumber, type Picos } from '../base/money.ts'
import { outageReasonOf } from '../base/store-outage.ts'
import type { Metrics } from './metrics.ts'

/** Moments of an exchange that tests and traces can hang something on. */
export type Milestone =
  | 'hold_wanted' // before anything is set aside
  | 'hold_placed'
  | 'attempt_sending' // before a byte of the request has left
  | 'attempt_sent' // the request has been handed to the connection, and leaves as this turn ends
  | 'first_event' // the stream may be committed
  | 'mid_stream' // more of it has come
  | 'usage_seen' // the vendor's final counts, the last piece still kept back
  | 'charge_submitted'
  | 'charge_durable'
  | 'answer_released' // the last piece has been handed to the connection, and leaves as this turn ends
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

/** A model on a channel, in every event about one. */
export interface EventPlace {
  readonly channel: string
  readonly model: string
  readonly vendor: string
}

export interface StateChange {
  readonly from: string
  readonly to: string
  readonly why: string
}

/**
 * What an operator may want to be woken for. Names and fields are stable; docs/operating.md says
 * what to do about each.
 */
export type BusinessEvent =
  | ({ readonly event: 'channel.off' | 'channel.back' } & EventPlace & StateChange)
  | ({
      readonly event: 'channel.credential_refused' | 'channel.model_missing'
      readonly why: string
    } & EventPlace)
  | {
      readonly event: 'model.reserve_only' | 'model.no_usable_channel' | 'model.recovered'
      readonly model: string
      readonly vendor: string
    }

export interface Telemetry {
  exchangeEnded(summary: ExchangeSummary): void
  refused(code: string, exchangeId: string): void
  attemptEnded(channel: string, outcome: string): void
  firstEvent(place: { readonly channel: string; readonly model: string }, durationMs: number): void
  failedOver(vendor: string): void
  channelChanged(
    channel: string,
    change: { model: string; from: string; to: string; why: string },
  ): void
  audited(summary: AuditSummary): void
  auditFailed(error: unknown): void
  /** A request of the gateway's own has been answered, or not. */
  probeEnded(channel: string, outcome: string): void
  checkCost(channel: string, amountPicos: Picos): void
  /** A line about channels is lost for good: the store has been out for too long. */
  journalDropped(kind: string): void
  /** A channel no longer serves a model. */
  channelOff(place: EventPlace, change: StateChange): void
  /** It serves the model again, with all or a growing share of its traffic. */
  channelBack(place: EventPlace, change: StateChange): void
  /** The vendor refuses the operator's credential or account: the operator has to act. */
  credentialRefused(place: EventPlace): void
  /** The channel does not know a model that the catalogue says it has: the operator has to act. */
  modelMissing(place: EventPlace): void
  /** No channel of the model's main route is in use: the last lines of defence serve. */
  reserveOnly(model: string, vendor: string): void
  /** Requests for the model will fail, or are tried where they probably fail. */
  noUsableChannel(model: string, vendor: string): void
  /** The main route serves the model again. */
  modelRecovered(model: string, vendor: string): void
  /** Something that must never happen did: a broken invariant, a fault nobody expected. */
  fault(error: unknown, where: string): void
  /** Charges can be stored again after some could not. */
  ledgerRecovered(): void
  /** What commands change is taken over again after some of it could not be. */
  changesFollowed(area: string): void
  milestone(milestone: Milestone, exchangeId: string): void
}

export interface TelemetryOptions {
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  readonly onMilestone?: (milestone: Milestone, exchangeId: string) => void
}

const outageLineMs = 10_000

export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { log, metrics, clock, onMilestone } = options
  /** Where → when a store that is away was last told of. */
  const outagesTold = new Map<string, number>()

  function fault(error: unknown, where: string): void {
    metrics.alarms.inc({ kind: 'fault' })
    if (!isToldAlready(error, where)) log.error({ where, ...describe(error) }, 'fault')
  }

  /** A store that is away fails several times a second; one line in a while says it for each place. */
  function isToldAlready(error: unknown, where: string): boolean {
    if (!(error instanceof GatewayError && error.code === 'ledger.unavailable')) return false
    const nowMs = clock.monotonic()
    const isRecent = nowMs - (outagesTold.get(where) ?? -Infinity) < outageLineMs
    if (!isRecent) outagesTold.set(where, nowMs)
    return isRecent
  }

  function tell(level: 'info' | 'warn' | 'error', event: BusinessEvent, message: string): void {
    metrics.events.inc({ event: event.event })
    log[level](event, message)
  }

  function demandOperator(event: BusinessEvent): void {
    metrics.alarms.inc({ kind: 'channel' })
    tell('error', event, 'operator needed')
  }

  return {
    exchangeEnded(summary) {
      const { vendor, ending } = summary
      metrics.exchanges.add(1, vendor, ending, String(summary.status))
      metrics.chargedPicos.add(Number(summary.amountPicos), vendor)
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
      metrics.attempts.add(1, channel, outcome)
    },
    firstEvent({ channel, model }, durationMs) {
      metrics.firstEventSeconds.add(durationMs / 1_000, channel, model)
    },
    failedOver(vendor) {
      metrics.failovers.inc({ vendor })
    },
    channelChanged(channel, change) {
      metrics.channelChanges.inc({ channel, to: change.to, why: change.why })
      log.warn({ channel, ...change }, 'channel state changed')
    },
    probeEnded(channel, outcome) {
      metrics.probes.inc({ channel, outcome })
    },
    checkCost(channel, amountPicos) {
      if (amountPicos > 0n) metrics.checkCostUsd.inc({ channel }, usdNumber(amountPicos))
    },
    journalDropped(kind) {
      metrics.journalDropped.inc({ kind })
      log.error({ kind }, 'a line about channels is lost: the store has been out for too long')
    },
    channelOff(place, { from, to, why }) {
      tell('warn', { event: 'channel.off', ...place, from, to, why }, 'channel off')
    },
    channelBack(place, { from, to, why }) {
      tell('info', { event: 'channel.back', ...place, from, to, why }, 'channel back')
    },
    credentialRefused(place) {
      demandOperator({
        event: 'channel.credential_refused',
        ...place,
        why: 'credential_refused',
      })
    },
    modelMissing(place) {
      demandOperator({ event: 'channel.model_missing', ...place, why: 'model_missing' })
    },
    reserveOnly(model, vendor) {
      tell('warn', { event: 'model.reserve_only', model, vendor }, 'running on reserve only')
    },
    noUsableChannel(model, vendor) {
      tell('error', { event: 'model.no_usable_channel', model, vendor }, 'no usable channel')
    },
    modelRecovered(model, vendor) {
      tell('info', { event: 'model.recovered', model, vendor }, 'main route serves again')
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
      metrics.alarms.inc({ kind: 'audit' })
      log.error({ kind: 'audit', ...summary }, 'operator needed')
    },
    auditFailed(error) {
      metrics.audits.inc({ result: 'failed' })
      fault(error, 'audit')
    },
    fault,
    ledgerRecovered() {
      outagesTold.clear()
      log.info('charges can be stored again')
    },
    changesFollowed(area) {
      outagesTold.delete('changes')
      log.info({ area }, 'changes are followed again')
    },
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
  const reason =
    code === 'ledger.unavailable' ? (adviceIn(error) ?? outageReasonOf(error)) : undefined
  return { error: error.name, code, reason, frames: frames.slice(0, 8).map((line) => line.trim()) }
}

/** What an operator has to change before the store can be used again; a sentence of our own. */
function adviceIn(outage: Error): string | undefined {
  for (let { cause } = outage; cause instanceof Error; { cause } = cause)
    if (cause instanceof GatewayError && cause.code === 'operations.invalid') return cause.message
  return undefined
}
