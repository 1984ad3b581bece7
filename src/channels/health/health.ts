/**
 * Applies the rules of `rules.ts`: a pure reducer for one model on one channel. It knows outcomes and
 * monotonic time; no socket, no timer, no wall clock, no other channel. Invariant: a state that is off
 * has a moment at which it is tried again.
 */
import type { Random } from '../../base/random.ts'
import type { HealthEffect, HealthEvent, Step } from './health-event.ts'
import { isInUse, shownMode, type HealthState } from './health-state.ts'
import { advance } from './out-of-use.ts'
import { rules, type Action } from './rules.ts'

/** `now` is monotonic. An event that changes nothing returns the very same state. */
export function step(state: HealthState, event: HealthEvent, now: number, random: Random): Step {
  const current = advance(state, now)
  const column = isInUse(current) ? 'inUse' : current.mode
  // The table pairs each event with its own actions; the compiler cannot follow that through a lookup.
  const action = rules[ruleOf(event)][column] as Action<HealthState, HealthEvent>
  const moved = action.run(current, event, { now, random })
  return moved.state === state ? moved : withChange(state, moved, now)
}

function ruleOf(event: HealthEvent): keyof typeof rules {
  if (event.kind !== 'ended') return event.kind
  const isProbe = event.caller === undefined
  switch (event.outcome) {
    case 'ok':
      return isProbe ? 'probePassed' : 'ok'
    case 'hard':
    case 'broken':
      return isProbe ? 'probeFailed' : 'failed'
    case 'suspect':
      return 'suspect'
    case 'config':
    case 'no_credit':
    case 'model_missing':
      return isProbe ? 'probeRefused' : 'refused'
    case 'throttle':
      return isProbe ? 'probeUndecided' : 'throttled'
    case 'client':
    case 'nobody':
      return isProbe ? 'probeUndecided' : 'blameless'
  }
}

/** A change of the mode that operators see is the first effect, whatever caused it. */
function withChange(before: HealthState, moved: Step, now: number): Step {
  const from = shownMode(before, before.since)
  const to = shownMode(moved.state, now)
  const isRepeated = moved.state.since !== before.since && from === 'off' && to === 'off'
  if (from === to && !isRepeated) return moved
  const changed: HealthEffect = { kind: 'changed', from, to, why: moved.state.why }
  return { state: moved.state, effects: [changed, ...moved.effects] }
}
