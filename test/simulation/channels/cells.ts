/**
 * Runs the cells of the table: every scenario at every load over several seeds, and says what is
 * outside of what is accepted. A complaint names the seeds, so that each run can be repeated alone.
 */
import { clientFailures, mean, median, type Measure, type Values } from './measures.ts'
import { runScenario, type Scenario } from './scenario.ts'
import { formScenarios } from './scenarios-forms.ts'
import { scenariosBeyond } from './scenarios-beyond.ts'
import { tableScenarios } from './scenarios.ts'

export const scenarios: readonly Scenario[] = [
  ...tableScenarios,
  ...formScenarios,
  ...scenariosBeyond,
]
/** Requests a second. */
export const loads = [0.02, 0.2, 2, 10] as const
const dayMs = 86_400_000

export interface Volume {
  readonly seeds: readonly number[]
  /** Seeds of scenarios that last a day. */
  readonly daySeeds: readonly number[]
  /** How much of a day they run. */
  readonly dayMs: number
}

export interface Cell {
  readonly measure: Measure
  readonly load: number
  readonly text: string
  readonly complaint: string | undefined
}

/** The short volume of the ordinary tests, and the one behind the published figures. */
export const shortVolume: Volume = { seeds: [1, 2, 3], daySeeds: [1, 2], dayMs: dayMs / 12 }
export const fullVolume: Volume = { seeds: count(20), daySeeds: count(10), dayMs }

function count(most: number): readonly number[] {
  return Array.from({ length: most }, (_, index) => index + 1)
}

/** `SEED=…` repeats one run of each cell. */
export function withSeed(volume: Volume, seed: string | undefined): Volume {
  if (seed === undefined || seed === '') return volume
  return { ...volume, seeds: [Number(seed)], daySeeds: [Number(seed)] }
}

export function runCells(scenario: Scenario, load: number, volume: Volume): readonly Cell[] {
  const isDay = scenario.isDay === true
  const seeds = isDay ? volume.daySeeds : volume.seeds
  const faultMs = isDay ? volume.dayMs : scenario.faultMs
  const runs = seeds.map((seed) => runScenario(scenario, { load, seed, faultMs }))
  const days = (seeds.length * faultMs) / dayMs
  const always = scenario.isServedThroughout === false ? [] : [clientFailures]
  return [...scenario.measures, ...always].map((measure) => {
    const values = runs.map(measure.value)
    const found = { load, values, days }
    const complaint = measure.complain(found)
    const from = `seeds ${seeds.join(', ')}: ${values.map((value) => value ?? 'never').join(', ')}`
    return {
      measure,
      load,
      text: describe(measure, found),
      complaint: complaint === undefined ? undefined : `${complaint} (${from})`,
    }
  })
}

function describe(measure: Measure, { values, days }: Values): string {
  const known = values.filter((value) => value !== undefined)
  if (measure.summary === 'perDay')
    return figure(known.reduce((sum, value) => sum + value, 0) / days)
  if (measure.summary === 'mean') return figure(mean(known))
  const middle = median(known)
  if (middle === undefined) return 'never'
  const share = known.length < values.length ? ` (${known.length} of ${values.length})` : ''
  return `${figure(middle)} / ${figure(Math.max(...known))}${share}`
}

function figure(value: number): string {
  return value >= 10 ? String(Math.round(value)) : String(Math.round(value * 10) / 10)
}
