/**
 * Counters and gauges for Prometheus. Labels come from closed sets (vendors, models and channels of
 * the catalogue; endings; classes), never from what a client sent. Holds no secret and no body.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { picosPerUsd } from '../base/money.ts'
import { Samples, Tally } from './tally.ts'

export interface Metrics {
  readonly registry: Registry
  /** Vendor, ending, status. */
  readonly exchanges: Tally
  readonly refusals: Counter<'code'>
  /** Channel, outcome. */
  readonly attempts: Tally
  readonly failovers: Counter<'vendor'>
  /** Channel, model. */
  readonly firstEventSeconds: Samples
  /** Vendor. */
  readonly chargedPicos: Tally
  readonly operatorCostUsd: Counter<'vendor'>
  readonly estimatedCharges: Counter<'vendor'>
  readonly channelChanges: Counter<'channel' | 'to' | 'why'>
  readonly channelState: Gauge<'channel' | 'model' | 'state'>
  readonly probes: Counter<'channel' | 'outcome'>
  readonly checkCostUsd: Counter<'channel'>
  readonly events: Counter<'event'>
  readonly journalDropped: Counter<'kind'>
  readonly journalWaiting: Gauge
  readonly logLinesDropped: Counter
  readonly alarms: Counter<'kind'>
  readonly audits: Counter<'result'>
  readonly auditDifferences: Gauge
  readonly auditTimeSeconds: Gauge
  readonly auditDurationSeconds: Gauge
  readonly running: Gauge
  readonly openHolds: Gauge
}

const firstEventBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60, 120]

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'turnpike_' })
  const registers = [registry]
  return {
    registry,
    exchanges: createTally(registry, {
      name: 'turnpike_exchanges_total',
      help: 'Admitted exchanges by how they ended and the status the client saw.',
      labelNames: ['vendor', 'ending', 'status'],
    }),
    refusals: new Counter({
      name: 'turnpike_refusals_total',
      help: 'Requests the gateway itself refused, by error code.',
      labelNames: ['code'],
      registers,
    }),
    attempts: createTally(registry, {
      name: 'turnpike_attempts_total',
      help: 'Attempts on channels by outcome class.',
      labelNames: ['channel', 'outcome'],
    }),
    failovers: new Counter({
      name: 'turnpike_failovers_total',
      help: 'Attempts that moved to another channel.',
      labelNames: ['vendor'],
      registers,
    }),
    firstEventSeconds: createSamples(registry),
    chargedPicos: createTally(registry, {
      name: 'turnpike_charged_usd_total',
      help: 'Charged to accounts.',
      labelNames: ['vendor'],
      unit: Number(picosPerUsd),
    }),
    operatorCostUsd: new Counter({
      name: 'turnpike_operator_cost_usd_total',
      help: 'What failed attempts and unpaid answers may have cost the operator; charged to nobody.',
      labelNames: ['vendor'],
      registers,
    }),
    estimatedCharges: new Counter({
      name: 'turnpike_estimated_charges_total',
      help: 'Charges that rest on an estimate because no count came.',
      labelNames: ['vendor'],
      registers,
    }),
    channelChanges: new Counter({
      name: 'turnpike_channel_state_changes_total',
      help: 'Channel health transitions by the state entered and the reason.',
      labelNames: ['channel', 'to', 'why'],
      registers,
    }),
    channelState: new Gauge({
      name: 'turnpike_channel_state',
      help: '1 for the state that a model on a channel is in, 0 for the others.',
      labelNames: ['channel', 'model', 'state'],
      registers,
    }),
    probes: new Counter({
      name: 'turnpike_probes_total',
      help: "Requests of the gateway's own to channels, by outcome class.",
      labelNames: ['channel', 'outcome'],
      registers,
    }),
    checkCostUsd: new Counter({
      name: 'turnpike_check_cost_usd_total',
      help: "What the gateway's own requests cost the operator at list price.",
      labelNames: ['channel'],
      registers,
    }),
    events: new Counter({
      name: 'turnpike_events_total',
      help: 'Events an operator may want to be woken for, by name.',
      labelNames: ['event'],
      registers,
    }),
    journalDropped: new Counter({
      name: 'turnpike_channel_journal_dropped_total',
      help: 'History lines and costs of checks lost because the store was out for too long.',
      labelNames: ['kind'],
      registers,
    }),
    journalWaiting: new Gauge({
      name: 'turnpike_channel_journal_waiting',
      help: 'History lines and costs of checks that wait for the store.',
      registers,
    }),
    logLinesDropped: new Counter({
      name: 'turnpike_log_lines_dropped_total',
      help: 'Lines of the log that were lost because they could not be written.',
      registers,
    }),
    alarms: new Counter({
      name: 'turnpike_alarms_total',
      help: 'Things that must never happen or need the operator, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    audits: new Counter({
      name: 'turnpike_audits_total',
      help: 'Audits of the books by result: clean, differences, failed.',
      labelNames: ['result'],
      registers,
    }),
    auditDifferences: new Gauge({
      name: 'turnpike_audit_differences',
      help: 'Differences that the last audit found; above zero the books contradict themselves.',
      registers,
    }),
    auditTimeSeconds: new Gauge({
      name: 'turnpike_audit_time_seconds',
      help: 'When the last audit ended, in seconds since 1970; zero before the first one.',
      registers,
    }),
    auditDurationSeconds: new Gauge({
      name: 'turnpike_audit_duration_seconds',
      help: 'How long the last audit took.',
      registers,
    }),
    running: new Gauge({
      name: 'turnpike_running_exchanges',
      help: 'Requests to vendors that are running, from before their body is read to their end.',
      registers,
    }),
    openHolds: new Gauge({
      name: 'turnpike_open_holds',
      help: 'Holds that are open right now.',
      registers,
    }),
  }
}

interface TallyOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  /** What one of the metric is in the tally's own units. */
  readonly unit?: number
}

function createTally(
  registry: Registry,
  { name, help, labelNames, unit = 1 }: TallyOptions,
): Tally {
  const tally = new Tally()
  const counter: Counter = new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect: () => tally.take((values, sum) => counter.labels(...values).inc(sum / unit)),
  })
  return tally
}

function createSamples(registry: Registry): Samples {
  const histogram: Histogram = new Histogram({
    name: 'turnpike_first_event_seconds',
    help: 'From the request sent to the first event of the answer (whole answer where not streamed).',
    labelNames: ['channel', 'model'],
    buckets: firstEventBuckets,
    registers: [registry],
    collect: () => samples.flush(),
  })
  const samples = new Samples((values, taken) => {
    const series = histogram.labels(...values)
    for (const seconds of taken) series.observe(seconds)
  })
  return samples
}
