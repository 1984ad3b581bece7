/** Shows the states of channels as gauges: one series for each state a model on a channel can be in. */
import type { Metrics } from '../telemetry/metrics.ts'
import type { HealthLine } from './health-line.ts'
import { shownModes } from './health-state.ts'

const states = [...shownModes, 'disabled'] as const

/** Replaces all that was shown before, so that what left the catalogue leaves the metrics too. */
export function measureChannels(metrics: Metrics, lines: readonly HealthLine[]): void {
  metrics.channelState.reset()
  for (const { channel, model, mode } of lines)
    for (const state of states)
      metrics.channelState.set({ channel, model, state }, mode === state ? 1 : 0)
}
