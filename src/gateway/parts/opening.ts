/** What every part of a gateway gets while the gateway is opened. */
import { hostname } from 'node:os'
import type { Config } from '../../settings/list.ts'
import {
  shareConnections,
  shareLimits,
  type ProcessLimits,
  type StoreConnections,
} from '../../settings/shares.ts'
import { createTelemetry, type Telemetry } from '../../telemetry/events.ts'
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts'
import type { Effects } from '../effects.ts'

export interface Opening {
  readonly config: Config
  readonly effects: Effects
  /** The name of this gateway for people. */
  readonly nodeName: string
  /** This process's share of what the settings allow to all processes. */
  readonly limits: ProcessLimits
  readonly connections: StoreConnections
  readonly metrics: Metrics
  readonly telemetry: Telemetry
  /** Reports a fault of work that no request waits for. */
  readonly onError: (error: unknown) => void
  /** Each part registers here how it is closed, as soon as it is open. */
  readonly opened: AsyncDisposableStack
}

export function beginOpening(
  config: Config,
  effects: Effects,
  opened: AsyncDisposableStack,
): Opening {
  const { clock, log, place } = effects
  const processCount = place?.count ?? 1
  const metrics = createMetrics()
  const telemetry = createTelemetry({ log, metrics, clock })
  return {
    config,
    effects,
    nodeName: config.nodeName ?? hostname(),
    limits: shareLimits(config, processCount),
    connections: shareConnections(processCount),
    metrics,
    telemetry,
    onError: (error) => telemetry.fault(error, 'background'),
    opened,
  }
}
