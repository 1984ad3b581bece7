/**
 * Whether a model is served, and by what: the one answer for /health and alerts. Pure. At this moment
 * it is `serviceOf` with `fitnessNow`; for alerts, which a short rest must not raise, `lastingService`.
 */
import { isResumed, type Grade, type ShownMode } from './health-state.ts'

/** By a channel of the main rank, which is the lowest that it has; by others only; by none. */
export type Service = 'main' | 'reserve' | 'none'

/** A channel that is `well` can carry the main route; one that is `usable` serves where no other does. */
type Fitness = 'well' | 'usable' | 'out'

export function serviceOf(
  channels: readonly { readonly rank: number; readonly fitness: Fitness }[],
): Service {
  const mainRank = Math.min(...channels.map(({ rank }) => rank))
  if (channels.some(({ rank, fitness }) => rank === mainRank && fitness === 'well')) return 'main'
  return channels.some(({ fitness }) => fitness !== 'out') ? 'reserve' : 'none'
}

/** A vendor has no service where none of its models has one, and `main` where all of them do. */
export function serviceOfVendor(models: readonly Service[]): Service {
  if (models.every((service) => service === 'none')) return 'none'
  return models.every((service) => service === 'main') ? 'main' : 'reserve'
}

export function fitnessNow(grade: Grade | 'disabled'): Fitness {
  if (grade === 'on' || grade === 'ramp') return 'well'
  return grade === 'off' || grade === 'disabled' ? 'out' : 'usable'
}

interface Place {
  readonly rank: number
  readonly mode: ShownMode | 'disabled'
  readonly why: string
}

/** Undefined after a restart, while channels that were not on wait for a first probe and serve meanwhile. */
export function lastingService(places: readonly Place[]): Service | undefined {
  const service = serviceOf(
    places.map(({ rank, mode }) => ({ rank, fitness: fitnessOfMode(mode) })),
  )
  return service === 'none' && places.some(isResumed) ? undefined : service
}

/** Whether a channel in this mode can carry the main route. */
export function isWell(mode: Place['mode']): boolean {
  return mode === 'on' || mode === 'ramp'
}

function fitnessOfMode(mode: Place['mode']): Fitness {
  if (isWell(mode)) return 'well'
  return mode === 'slow' ? 'usable' : 'out'
}
