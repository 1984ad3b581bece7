/**
 * One simulated story: what happens to the channels, for how long, and what is measured of it. The
 * same stories make the short tests and the table in the documentation.
 */
import type { Measure, Run } from './measures.ts'
import { steady, type Script } from './vendor-model.ts'
import { World, type ChannelPlan, type Span } from './world.ts'

const minuteMs = 60_000

export interface Scenario {
  readonly id: string
  readonly title: string
  readonly faultMs: number
  readonly afterMs: number
  /** A whole day without a fault; a short volume runs a part of it. */
  readonly isDay?: boolean
  readonly keyCount?: number
  readonly wholeShare?: number
  readonly main: (fault: Span) => Script
  readonly reserve?: (fault: Span) => Script
  /** Channels behind the reserve. */
  readonly others?: (fault: Span) => readonly ChannelPlan[]
  readonly nodeCount?: number
  readonly firstNodeShare?: number
  /** Nothing is left that could serve: then clients see failures that no everyday error explains. */
  readonly isServedThroughout?: false
  readonly measures: readonly Measure[]
}

/** Long enough for a baseline of the channel's own, whatever the load. */
function warmUpMs(load: number): number {
  return Math.max(10 * minuteMs, 200_000 / load)
}

export function runScenario(
  scenario: Scenario,
  { load, seed, faultMs }: { readonly load: number; readonly seed: number; faultMs?: number },
): Run {
  const from = warmUpMs(load)
  const fault = { from, to: from + (faultMs ?? scenario.faultMs) }
  const { nodeCount, firstNodeShare, wholeShare } = scenario
  const world = new World({
    channels: [
      { name: 'main', rank: 0, script: scenario.main(fault) },
      { name: 'reserve', rank: 1, script: scenario.reserve?.(fault) ?? steady() },
      ...(scenario.others?.(fault) ?? []),
    ],
    requestsPerSecond: load,
    keyCount: scenario.keyCount ?? 20,
    durationMs: fault.to + scenario.afterMs,
    seed,
    countFailuresFrom: fault.from,
    watched: fault,
    ...(wholeShare === undefined ? {} : { wholeShare }),
    ...(nodeCount === undefined ? {} : { nodeCount }),
    ...(firstNodeShare === undefined ? {} : { firstNodeShare }),
  })
  return { record: world.run(), fault, seed }
}
