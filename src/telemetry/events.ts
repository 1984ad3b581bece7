/**
 * One function per event: the counters it moves and its log line. A line's message is a fixed phrase; ids,
 * classes and numbers are fields from closed sets. No body, header, query or secret is ever logged.
 */
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { GatewayError, outageReasonOf } from '../base/errors.ts'
import { usdNumber, type Picos } from '../base/money.ts'
import type { Shortage } from '../base/system-error.ts'
import type { Metrics } from './metrics.ts'
import { RefusalLines, type FailedSignIn, type RefusedRequest } from './refusal-lines.ts'

export interface ExchangeSummary {
  readonly exchangeId: string
  readonly accountId: string
  readonly keyId: string
  readonly vendor: string
  readonly model: string
  readonly operation: string
  readonly channel: string | undefined
  readonly ending: string
  readonly status: number
  readonly attemptCount: number
  readonly durationMs: number
  /** To the beginning of the answer; undefined where there was none. */
  readonly firstEventMs: number | undefined
  readonly amountPicos: Picos
  readonly operatorCostPicos: Picos
  readonly isEstimated: boolean
  /** Tokens of the answer by class. */
  readonly tokens: Readonly<Record<string, number>>
}

interface FreeExchangeSummary {
  readonly vendor: string
  readonly operation: string
  readonly ending: string
  readonly status: number
}

/** One commit of ended exchanges to the store. */
interface CommitSummary {
  readonly exchangeCount: number
  readonly durationMs: number
  readonly isStored: boolean
}

interface AuditSummary {
  /** Number of all differences; zero = the ledger is consistent. */
  readonly differenceCount: number
  /** The first ones: ids, names of tables and amounts. */
  readonly differences: readonly Readonly<Record<string, string>>[]
  readonly endedAtMs: number
  readonly durationMs: number
}

/** A model on a channel. */
interface EventPlace {
  readonly channel: string
  readonly model: string
  readonly vendor: string
}

interface StateChange {
  readonly from: string
  readonly to: string
  readonly why: string
}

interface ChangedAlert {
  readonly severity: keyof typeof alertLevels
  readonly subject: string
  readonly title: string
}

const alertLevels = { info: 'info', warning: 'warn', critical: 'error' } as const

export interface TelemetryOptions {
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
}

/** The public methods of the reporter; a simulation replaces them. */
export type Telemetry = Pick<EventReporter, keyof EventReporter>

/** While the store is unavailable, each place logs one line in this time; so does a shortage. */
const outageLineMs = 10_000

export function createTelemetry(options: TelemetryOptions): Telemetry {
  return new EventReporter(options)
}

class EventReporter {
  readonly #log: Logger
  readonly #metrics: Metrics
  readonly #clock: Clock
  /** Where → when a store outage was last logged. */
  readonly #outagesLogged = new Map<string, number>()
  readonly #shortagesLogged = new Map<Shortage, number>()
  readonly #refusalLines: RefusalLines
  #isCollectorOut = false

  constructor({ log, metrics, clock }: TelemetryOptions) {
    this.#log = log
    this.#metrics = metrics
    this.#clock = clock
    this.#refusalLines = new RefusalLines(log, clock)
  }

  /** Reports a broken invariant or another fault of the gateway's own. */
  fault(error: unknown, where: string): void {
    this.#metrics.alarms.inc({ kind: 'fault' })
    if (isStoreOutage(error)) this.#metrics.storeErrors.inc({ place: where })
    if (!this.#isLoggedAlready(error, where))
      this.#log.error({ where, ...describe(error) }, 'fault')
  }

  exchangeEnded(summary: ExchangeSummary): void {
    const { vendor, model, channel = '', operation, ending, durationMs } = summary
    const { firstEventMs, tokens } = summary
    this.#metrics.exchanges.add(1, vendor, model, operation, ending, String(summary.status))
    this.#metrics.exchangeSeconds.add(durationMs / 1_000, vendor, model, operation)
    if (firstEventMs !== undefined)
      this.#metrics.exchangeFirstEventSeconds.add(firstEventMs / 1_000, vendor, model)
    for (const tokenClass in tokens)
      this.#metrics.tokens.add(tokens[tokenClass] ?? 0, vendor, model, channel, tokenClass)
    this.#metrics.chargedPicos.add(Number(summary.amountPicos), vendor)
    if (summary.operatorCostPicos > 0n)
      this.#metrics.operatorCostUsd.inc({ vendor }, usdNumber(summary.operatorCostPicos))
    if (summary.isEstimated) this.#metrics.estimatedCharges.inc({ vendor })
    const isOrdinary = ending === 'completed' && summary.attemptCount === 1
    const level = isOrdinary ? 'debug' : 'info'
    if (this.#log.isLevelEnabled(level)) this.#log[level](summaryLine(summary), 'exchange ended')
  }

  /** A request that costs nothing has ended; refused ones are counted by `refused`. */
  freeExchangeEnded({ vendor, operation, ending, status }: FreeExchangeSummary): void {
    this.#metrics.freeExchanges.add(1, vendor, operation, ending, String(status))
  }

  committed({ exchangeCount, durationMs, isStored }: CommitSummary): void {
    this.#metrics.commitSeconds.add(durationMs / 1_000, isStored ? 'stored' : 'failed')
    if (isStored) this.#metrics.commitExchanges.add(exchangeCount)
  }

  /** Spans have left, or are lost. One line begins and one ends a time without a collector. */
  spansEnded(result: 'exported' | 'failed' | 'dropped', count: number): void {
    this.#metrics.traceSpans.inc({ result }, count)
    if (result === 'dropped' || this.#isCollectorOut === (result === 'failed')) return
    this.#isCollectorOut = result === 'failed'
    if (this.#isCollectorOut) this.#log.warn('traces not exported')
    else this.#log.info('traces exported again')
  }

  refused(request: RefusedRequest): void {
    this.#metrics.refusals.inc({ code: request.code })
    this.#refusalLines.write(request)
  }

  /** A request without a valid credential. On model routes `refused` writes its line, with its id. */
  failedSignIn(failed: FailedSignIn): void {
    this.#metrics.failedSignIns.inc({ kind: failed.kind })
    if (failed.kind !== 'client') this.#refusalLines.writeFailedSignIn(failed)
  }

  attemptEnded(channel: string, outcome: string): void {
    this.#metrics.attempts.add(1, channel, outcome)
  }

  firstEvent({ channel, model }: Pick<EventPlace, 'channel' | 'model'>, durationMs: number): void {
    this.#metrics.firstEventSeconds.add(durationMs / 1_000, channel, model)
  }

  failedOver(vendor: string): void {
    this.#metrics.failovers.inc({ vendor })
  }

  channelChanged(channel: string, change: StateChange & { readonly model: string }): void {
    this.#metrics.channelChanges.inc({ channel, to: change.to, why: change.why })
    this.#log.warn({ channel, ...change }, 'channel state changed')
  }

  probeEnded(channel: string, outcome: string): void {
    this.#metrics.probes.inc({ channel, outcome })
  }

  checkCost(channel: string, amountPicos: Picos): void {
    if (amountPicos > 0n) this.#metrics.checkCostUsd.inc({ channel }, usdNumber(amountPicos))
  }

  /** The store was unavailable for too long, and a line of channel history is lost. */
  journalDropped(kind: string): void {
    this.#metrics.journalDropped.inc({ kind })
    this.#log.error({ kind }, 'channel history line dropped')
  }

  /** The vendor refuses the credential or the account, has no credit left, or does not know the model. */
  channelRefused(place: EventPlace, why: string): void {
    this.#metrics.alarms.inc({ kind: 'channel' })
    this.#log.error({ kind: 'channel', ...place, why }, 'operator needed')
  }

  /** An alert began to fire, or is over. `event` is the type of its messages. */
  alertChanged({ severity, subject, title }: ChangedAlert, event: string): void {
    this.#metrics.events.inc({ event })
    this.#log[alertLevels[severity]]({ event, subject, title }, 'alert')
  }

  /** A client's connection was closed, or not accepted, because there are too many. */
  connectionClosed(why: string): void {
    this.#metrics.clientConnectionsClosed.inc({ why })
  }

  /** The gateway could not open or accept a connection because it, or its machine, is short of something. */
  shortage(of: Shortage): void {
    if (this.#isLoggedLately(this.#shortagesLogged, of)) return
    this.#metrics.alarms.inc({ kind: 'shortage' })
    this.#log.error({ kind: 'shortage', of }, 'operator needed')
  }

  /** A message about an alert was sent, or was not. `outcome` names a status or a failure, no address. */
  alertSent(attempt: {
    readonly target: string
    readonly format: string
    readonly isDelivered: boolean
    readonly outcome: string
  }): void {
    const { format, isDelivered, ...rest } = attempt
    this.#metrics.alertAttempts.inc({ format, result: isDelivered ? 'delivered' : 'failed' })
    if (isDelivered) this.#log.debug(rest, 'alert sent')
    else this.#log.warn(rest, 'alert not sent')
  }

  /** One address, or the IPv6 network that counts as one. */
  failedSignInsLimited(address: string): void {
    this.#log.warn({ address }, 'too many failed sign-ins')
  }

  /** Its clients all count as one address, because nothing that it says of them is believed. */
  unlistedProxy(address: string, how: string): void {
    this.#log.warn({ address, how }, 'forwarding peer not trusted')
  }

  audited({ differenceCount, differences, endedAtMs, durationMs }: AuditSummary): void {
    const isClean = differenceCount === 0
    this.#metrics.audits.inc({ result: isClean ? 'clean' : 'differences' })
    this.#metrics.auditDifferences.set(differenceCount)
    this.#metrics.auditTimeSeconds.set(endedAtMs / 1_000)
    this.#metrics.auditDurationSeconds.set(durationMs / 1_000)
    const summary = { differences: differenceCount, durationMs: Math.round(durationMs) }
    if (isClean) return this.#log.debug(summary, 'ledger audit passed')
    for (const difference of differences) this.#log.error(difference, 'ledger audit failed')
    this.#metrics.alarms.inc({ kind: 'audit' })
    this.#log.error({ kind: 'audit', ...summary }, 'operator needed')
  }

  /** The audit could not run. */
  auditFailed(error: unknown): void {
    this.#metrics.audits.inc({ result: 'failed' })
    this.fault(error, 'audit')
  }

  /** The store answers again. One line ends an outage, however many parts report it. */
  ledgerRecovered(): void {
    if (this.#outagesLogged.size === 0) return
    this.#outagesLogged.clear()
    this.#log.info('ledger recovered')
  }

  /** Changes of the catalogue or keys are read again. */
  changesFollowed(area: string): void {
    this.#outagesLogged.delete('changes')
    this.#log.info({ area }, 'change tracking recovered')
  }

  #isLoggedAlready(error: unknown, where: string): boolean {
    return isStoreOutage(error) && this.#isLoggedLately(this.#outagesLogged, where)
  }

  /** Otherwise it is noted as logged now. */
  #isLoggedLately<Key>(logged: Map<Key, number>, key: Key): boolean {
    const nowMs = this.#clock.monotonic()
    const isRecent = nowMs - (logged.get(key) ?? -Infinity) < outageLineMs
    if (!isRecent) logged.set(key, nowMs)
    return isRecent
  }
}

function isStoreOutage(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'ledger.unavailable'
}

function summaryLine(summary: ExchangeSummary): Record<string, unknown> {
  const { amountPicos, operatorCostPicos, durationMs, tokens: _, ...rest } = summary
  return {
    ...rest,
    durationMs: Math.round(durationMs),
    costUsd: usdNumber(amountPicos),
    operatorCostUsd: usdNumber(operatorCostPicos),
  }
}

/** Returns the stack without the message, whose lines might look like stack frames. */
function framesOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message)
  return at < 0 ? '' : stack.slice(at + message.length)
}

/** Describes an error without its message, which may quote what a client sent. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const frames = framesOf(error)
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const reason =
    code === 'ledger.unavailable'
      ? (adviceIn(error) ?? outageReasonOf(error) ?? outageTextIn(error))
      : undefined
  return { error: error.name, code, reason, frames: frames.slice(0, 8).map((line) => line.trim()) }
}

/** Returns the text of the first error of an outage: the gateway wrote it, and it names the host. */
function outageTextIn(outage: Error): string {
  let text = outage.message
  for (let { cause } = outage; cause instanceof GatewayError; { cause } = cause)
    if (cause.code === 'ledger.unavailable') text = cause.message
  return text
}

/** Returns what an operator must change before the store can be used again; the gateway wrote the text. */
function adviceIn(outage: Error): string | undefined {
  for (let { cause } = outage; cause instanceof Error; { cause } = cause)
    if (cause instanceof GatewayError && cause.code === 'operations.invalid') return cause.message
  return undefined
}
