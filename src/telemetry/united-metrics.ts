/**
 * Unites the metrics of several gateway processes, so that one scrape shows them as one. Counters and
 * histograms are added up, gauges as each metric says. Metrics of a process (memory, event loop) stay apart,
 * by the label `process`. A counter never falls: the counts of ended processes stay in the sum.
 */
import { AggregatorRegistry, type Registry } from 'prom-client'
import { z } from 'zod'

/** One process's metrics, in a form that can be sent to another process. */
export type MetricsReport = z.output<typeof metricsReport>

export const metricsReport = z.array(
  z.looseObject({
    name: z.string(),
    type: z.string(),
    aggregator: z.string(),
    values: z.array(
      z.looseObject({ labels: z.record(z.string(), z.union([z.string(), z.number()])) }),
    ),
  }),
)

export interface NamedReport {
  /** The value of the label `process`. */
  readonly process: string
  readonly metrics: MetricsReport
}

const ofOneProcess = /^turnpike_(?:process|nodejs)_/

export async function reportMetrics({
  registry,
}: {
  readonly registry: Registry
}): Promise<MetricsReport> {
  return metricsReport.parse(await registry.getMetricsAsJSON())
}

/** `ended`: the counts of processes that are gone; see `addEnded`. */
export function uniteMetrics(
  reports: readonly NamedReport[],
  ended: MetricsReport,
): Promise<string> {
  const labelled = reports.map(({ process, metrics }) =>
    metrics.map((metric) =>
      ofOneProcess.test(metric.name) ? labelProcess(metric, process) : metric,
    ),
  )
  return AggregatorRegistry.aggregate([...labelled, ended]).metrics()
}

/** Adds the counts of a process that has ended. */
export async function addEnded(
  ended: MetricsReport,
  report: MetricsReport,
): Promise<MetricsReport> {
  const counts = report.filter(({ name, type }) => type !== 'gauge' && !ofOneProcess.test(name))
  const sum = AggregatorRegistry.aggregate([ended, counts])
  return metricsReport.parse(await sum.getMetricsAsJSON())
}

type Metric = MetricsReport[number]

function labelProcess(metric: Metric, process: string): Metric {
  const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } }))
  // Each value has its own label, so nothing is added up; the library leaves some metrics out otherwise.
  return { ...metric, aggregator: 'sum', values }
}
