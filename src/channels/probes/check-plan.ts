/**
 * Schedules the regular check of each channel: within every interval, with jitter so that channels are not
 * due together. It sends nothing. A channel whose check is a paid request is skipped while fresh
 * successes prove it.
 */
import type { Random } from '../../base/random.ts'
import type { Channel, Snapshot } from '../channel.ts'
import type { HealthState } from '../health/health-state.ts'
import { jitterShare } from '../health/timing.ts'

export interface CheckPlan {
  follow(snapshot: Snapshot, now: number): void
  nextAt(): number
  /** Returns the checks that are due, each for the model whose last success is oldest. */
  takeDue(now: number, placesOf: (channel: Channel) => Places): readonly DueCheck[]
}

interface DueCheck {
  readonly channel: Channel
  readonly model: string
}

type Places = ReadonlyMap<string, { readonly state: HealthState }>

interface Planned {
  readonly channel: Channel
  dueAt: number
}

/** All of the jitter is below the interval. */
const soonest = 1 - jitterShare
/** A process that has just started waits for traffic first. */
const firstMin = 0.1

export function createCheckPlan(options: {
  readonly random: Random
  readonly intervalMs: number
}): CheckPlan {
  const { random, intervalMs } = options
  let planned = new Map<string, Planned>()
  let next = Number.POSITIVE_INFINITY

  function nextDue(from: number): number {
    return from + intervalMs * (soonest + jitterShare * random())
  }

  function settleNext(): void {
    next = Number.POSITIVE_INFINITY
    for (const { dueAt } of planned.values()) next = Math.min(next, dueAt)
  }

  function take(plan: Planned, places: Places, now: number): DueCheck | undefined {
    const { channel } = plan
    const { stalest, freshestOkAt } = survey(channel, places)
    const isProven = channel.check === 'request' && now - freshestOkAt < intervalMs * soonest
    plan.dueAt = nextDue(isProven ? Math.max(freshestOkAt, now - intervalMs / 2) : now)
    return isProven || stalest === undefined ? undefined : { channel, model: stalest }
  }

  return {
    nextAt: () => next,
    follow(snapshot, now) {
      const kept = planned
      planned = new Map()
      for (const channel of snapshot.channels.values()) {
        if (channel.check === 'none' || channel.override === 'disabled') continue
        const dueAt =
          kept.get(channel.name)?.dueAt ??
          now + intervalMs * (firstMin + (soonest - firstMin) * random())
        planned.set(channel.name, { channel, dueAt })
      }
      settleNext()
    },
    takeDue(now, placesOf) {
      const due: DueCheck[] = []
      for (const plan of planned.values()) {
        if (plan.dueAt > now) continue
        const check = take(plan, placesOf(plan.channel), now)
        if (check !== undefined) due.push(check)
      }
      settleNext()
      return due
    },
  }
}

/** Models that are off or on trial are probed anyway. */
function survey(
  channel: Channel,
  places: Places,
): { readonly stalest: string | undefined; readonly freshestOkAt: number } {
  let stalest: string | undefined
  let stalestOkAt = Number.POSITIVE_INFINITY
  let freshestOkAt = Number.NEGATIVE_INFINITY
  for (const model of channel.models.keys()) {
    const state = places.get(model)?.state
    const okAt = state?.lastOkAt ?? Number.NEGATIVE_INFINITY
    freshestOkAt = Math.max(freshestOkAt, okAt)
    if (state?.mode === 'off' || state?.mode === 'trial') continue
    if (okAt < stalestOkAt) {
      stalest = model
      stalestOkAt = okAt
    }
  }
  return { stalest, freshestOkAt }
}
