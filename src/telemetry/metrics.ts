/**
 * Counters and gauges for Prometheus. Label values come from closed sets (vendors, models and channels of
 * the catalogue; endings; classes), never from the input of a client. No metric contains a secret or a body.
 */
import { Counter, Gauge, Registry, collectDefaultMetrics, type Aggregator } from 'prom-client'
import { thisBuild } from '../base/build.ts'
import { picosPerUsd } from '../base/money.ts'
import { BucketHistogram } from './bucket-histogram.ts'
import { Tally } from './tally.ts'

export type Metrics = ReturnType<typeof createMetrics>

const firstEventBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60, 120]
const exchangeBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640]
const commitBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const commitSizeBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500]

/** Between two readings of the event loop's delay. Each wakes the process, even without any other work. */
const eventLoopReadingMs = 250

/** Gauges of the library whose names Prometheus keeps for counters. They read internals of Node. */
const misnamedGauges = [
  'turnpike_nodejs_active_resources_total',
  'turnpike_nodejs_active_handles_total',
  'turnpike_nodejs_active_requests_total',
]

export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({
    register: registry,
    prefix: 'turnpike_',
    eventLoopMonitoringPrecision: eventLoopReadingMs,
  })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)
  const registers = [registry]
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `turnpike_${name}`, help, labelNames, registers })
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `turnpike_${name}`, help, labelNames, registers })
  /** Gauges that several processes must not add up. */
  const unitedBy =
    (aggregator: Aggregator) =>
    <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge({ name: `turnpike_${name}`, help, labelNames, registers, aggregator })
  const highest = unitedBy('max')
  const { version, commit } = thisBuild()
  highest('build_info', 'Always 1; version and commit are its labels.', 'version', 'commit').set(
    { version, commit: commit ?? '' },
    1,
  )
  return {
    registry,
    exchanges: createTally(registry, {
      name: 'turnpike_exchanges_total',
      help: 'Admitted exchanges by ending and by the status the client received.',
      labelNames: ['vendor', 'model', 'operation', 'ending', 'status'],
    }),
    freeExchanges: createTally(registry, {
      name: 'turnpike_free_exchanges_total',
      help: 'Requests of known callers for which nothing is charged, such as token counts and lists of models; refusals are not among them.',
      labelNames: ['vendor', 'operation', 'ending', 'status'],
    }),
    tokens: createTally(registry, {
      name: 'turnpike_tokens_total',
      help: 'Tokens of answers by the class that has a price: input, output, cache_read and so on.',
      labelNames: ['vendor', 'model', 'channel', 'class'],
    }),
    exchangeSeconds: new BucketHistogram({
      name: 'turnpike_exchange_duration_seconds',
      help: 'Time from the beginning of an admitted request to the end of its answer.',
      labelNames: ['vendor', 'model', 'operation'],
      buckets: exchangeBuckets,
      registers,
    }),
    exchangeFirstEventSeconds: new BucketHistogram({
      name: 'turnpike_exchange_first_event_seconds',
      help: 'Time from the beginning of a request to the first event or byte of its answer, failovers included.',
      labelNames: ['vendor', 'model'],
      buckets: firstEventBuckets,
      registers,
    }),
    clientConnectionsClosed: counter(
      'client_connections_closed_total',
      'Client connections closed or not accepted because there were too many.',
      'why',
    ),
    refusals: counter('refusals_total', 'Requests the gateway refused, by error code.', 'code'),
    failedSignIns: counter(
      'failed_sign_ins_total',
      'Requests without a valid credential, by the kind of credential that the endpoint takes.',
      'kind',
    ),
    attempts: createTally(registry, {
      name: 'turnpike_attempts_total',
      help: 'Attempts on channels by outcome.',
      labelNames: ['channel', 'outcome'],
    }),
    failovers: counter('failovers_total', 'Failovers to another channel.', 'vendor'),
    firstEventSeconds: new BucketHistogram({
      name: 'turnpike_first_event_seconds',
      help: 'Time from the request sent to the first event, or to the whole answer if not streamed.',
      labelNames: ['channel', 'model'],
      buckets: firstEventBuckets,
      registers,
    }),
    chargedPicos: createTally(registry, {
      name: 'turnpike_charged_usd_total',
      help: 'USD charged to accounts.',
      labelNames: ['vendor'],
      unit: Number(picosPerUsd),
    }),
    operatorCostUsd: counter(
      'operator_cost_usd_total',
      'USD that failed attempts and unpaid answers may have cost the operator; charged to no account.',
      'vendor',
    ),
    estimatedCharges: counter(
      'estimated_charges_total',
      'Charges by estimate, because the vendor sent no count.',
      'vendor',
    ),
    channelChanges: counter(
      'channel_state_changes_total',
      'Channel health transitions by the state entered and the reason.',
      'channel',
      'to',
      'why',
    ),
    channelState: highest(
      'channel_state',
      '1 for the state of a model on a channel, 0 for the other states.',
      'channel',
      'model',
      'state',
    ),
    probes: counter(
      'probes_total',
      'Requests of the gateway itself to channels, by outcome.',
      'channel',
      'outcome',
    ),
    checkCostUsd: counter(
      'check_cost_usd_total',
      'USD that requests of the gateway itself cost the operator at list price.',
      'channel',
    ),
    events: counter('events_total', 'Events that may alert an operator, by name.', 'event'),
    journalDropped: counter(
      'channel_journal_dropped_total',
      'Lines of channel history and probe costs lost because the store was unavailable for too long.',
      'kind',
    ),
    journalWaiting: gauge(
      'channel_journal_waiting',
      'Lines of channel history and probe costs that wait for the store.',
    ),
    freeExchangesDropped: counter(
      'free_exchanges_dropped_total',
      'Refused and free requests without a row in the request log, because there were too many.',
    ),
    traceSpans: counter(
      'trace_spans_total',
      'Spans by result: exported, failed (the collector did not take them), dropped (too many waited).',
      'result',
    ),
    logLinesDropped: counter('log_lines_dropped_total', 'Log lines that could not be written.'),
    alarms: counter(
      'alarms_total',
      'Faults of the gateway and conditions that need the operator, by kind.',
      'kind',
    ),
    audits: counter(
      'audits_total',
      'Audits of the ledger by result: clean, differences, failed.',
      'result',
    ),
    auditDifferences: highest(
      'audit_differences',
      'Differences found by the last audit; above zero the ledger is inconsistent.',
    ),
    auditTimeSeconds: highest(
      'audit_time_seconds',
      'When the last audit ended, in seconds since 1970; zero before the first one.',
    ),
    auditDurationSeconds: highest('audit_duration_seconds', 'Duration of the last audit.'),
    running: gauge(
      'running_exchanges',
      'Running requests to vendors, counted from before their body is read.',
    ),
    openHolds: gauge('open_holds', 'Open holds.'),
    heldUsd: gauge('held_usd', 'USD that open holds reserve.'),
    clientConnections: gauge('client_connections', 'Open connections of clients.'),
    storeUp: unitedBy('min')('store_up', '1 while the store answers as far as is known, else 0.'),
    storeErrors: counter(
      'store_errors_total',
      'Work that failed because the store did not answer, by the part of the gateway that did it.',
      'place',
    ),
    commitSeconds: new BucketHistogram({
      name: 'turnpike_commit_duration_seconds',
      help: 'Duration of one commit of ended exchanges to the store, by result: stored, failed.',
      labelNames: ['result'],
      buckets: commitBuckets,
      registers,
    }),
    commitExchanges: new BucketHistogram({
      name: 'turnpike_commit_exchanges',
      help: 'Ended exchanges that shared one commit.',
      labelNames: [],
      buckets: commitSizeBuckets,
      registers,
    }),
    alertAttempts: counter(
      'alert_attempts_total',
      'Attempts to send an alert message, by the format of the target and the result.',
      'format',
      'result',
    ),
    alertsWaiting: highest(
      'alert_deliveries_waiting',
      'Messages of alerts that wait to be sent; only on the node that sends them.',
    ),
    accounts: highest('accounts', 'Active accounts; only on the node that watches them.'),
    balancesUsd: highest('balances_usd', 'Sum of the balances of active accounts.'),
    spendDayUsd: highest('spend_24h_usd', 'Spend of active accounts in the last 24 h.'),
  }
}

interface TallyOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  /** One unit of the metric in units of the tally. */
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
