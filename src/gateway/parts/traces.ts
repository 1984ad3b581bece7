/**
 * Connects the traces of a running gateway with its settings. Part of the composition root: it decides
 * nothing about traces.
 */
import { hostname } from 'node:os'
import { thisBuild } from '../../base/build.ts'
import type { Clock } from '../../base/clock.ts'
import type { Config } from '../../settings/list.ts'
import type { Telemetry } from '../../telemetry/events.ts'
import type { Traces } from '../../telemetry/traces.ts'

/** The library is loaded only where it is used. */
export async function openTraces(
  config: Config,
  telemetry: Telemetry,
  clock: Clock,
): Promise<Traces | undefined> {
  const { otlpEndpoint: endpoint, otlpSampleRatio: sampleRatio, nodeName, region } = config
  if (endpoint === undefined) return undefined
  const { openOtlpTraces } = await import('../../telemetry/otlp-traces.ts')
  return openOtlpTraces({
    clock,
    endpoint,
    sampleRatio,
    isPropagated: config.otlpVendorHeaders === 'gateway',
    serviceVersion: thisBuild().version,
    instance: nodeName ?? hostname(),
    region,
    onSpans: (result, count) => telemetry.spansEnded(result, count),
  })
}
