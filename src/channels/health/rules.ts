/**
 * The rules of channel health as one table: event × mode → action, and `step`, which applies it: a pure
 * reducer for one model on one channel. It knows outcomes and monotonic time; no socket, no timer, no wall
 * clock, no other channel. The actions are the pure functions in `in-use.ts` and `out-of-use.ts`;
 * docs/reliability.md prints this table. Time alone moves off to trial when the back-off is over, and ramp to
 * on after two minutes. Invariant: a state that is off has a moment at which it is tried again.
 */
import type { Random } from '../../base/random.ts'
import type {
  AttemptResult,
  Compared,
  FirstEvent,
  Headed,
  HealthEffect,
  HealthEvent,
  Moment,
  Step,
} from './health-event.ts'
import { outcomeFacts, unchanged } from './health-event.ts'
import {
  isInUse,
  shownMode,
  type HealthState,
  type InUse,
  type Off,
  type Trial,
} from './health-state.ts'
import * as used from './in-use.ts'
import * as unused from './out-of-use.ts'

/** What one event does in one mode, and the words for it in the printed table. */
interface Action<State extends HealthState, Event extends HealthEvent> {
  readonly text: string
  run(state: State, event: Event, moment: Moment): Step
}

interface Rule<Event extends HealthEvent> {
  readonly event: string
  readonly inUse: Action<InUse, Event>
  readonly off: Action<Off, Event>
  readonly trial: Action<Trial, Event>
}

function rule<Event extends HealthEvent>(
  event: string,
  inUse: Action<InUse, Event>,
  off: Action<Off, Event>,
  trial: Action<Trial, Event>,
): Rule<Event> {
  return { event, inUse, off, trial }
}

function does<State extends HealthState, Event extends HealthEvent>(
  text: string,
  run: (state: State, event: Event, moment: Moment) => Step,
): Action<State, Event> {
  return { text, run }
}

type EventOf<Kind extends HealthEvent['kind']> = Extract<HealthEvent, { kind: Kind }>

const nothing = does('–', (state: HealthState) => unchanged(state))
const occupy = does('occupies the one place', unused.takePlace)
const free = does('frees the place', (state: Off | Trial) => unchanged(unused.leavePlace(state)))
const sendDue = does('sends the probe that is due', unused.probeOutOfUse)
const rest = does('rests as long as requested', unused.rest)
const refuse = does('→ off, alert, one probe to confirm', unused.refuse)
const confirmed = does('→ off, alert', unused.refuse)

/** In use means on, ramp or slow. */
export const rules = {
  begun: rule<EventOf<'begun'>>('attempt of traffic starts', nothing, occupy, occupy),
  answered: rule<FirstEvent>(
    'first event, or a whole answer',
    does('refutes earlier failures to begin; gives a latency sample', used.answered),
    nothing,
    nothing,
  ),
  headed: rule<Headed>(
    'head of an answer that reasoning precedes',
    does('gives a latency sample', used.headed),
    nothing,
    nothing,
  ),
  ok: rule<AttemptResult>(
    'complete answer',
    does('refutes earlier failures of its form', used.succeed),
    does('frees the place; makes it first choice while all are off', unused.succeedWhileOff),
    does('where nothing is probed: one pass', unused.succeedOnTrial),
  ),
  failed: rule<AttemptResult>(
    'failure (`hard`, `broken`)',
    does(
      'counts; 5 in a row or a bad ratio → off; 3 or a doubtful ratio → burst; 1 → probe after 15 s',
      used.fail,
    ),
    free,
    does('where nothing is probed: passes start again', unused.failOnTrial),
  ),
  suspect: rule<AttemptResult>(
    'failure of an exchange that failed elsewhere before',
    does('does not count; 3 → burst; 1 → probe after 15 s', used.fail),
    free,
    free,
  ),
  retracted: rule<EventOf<'retracted'>>(
    'an exchange that failed here failed elsewhere too, or took as long there as it was given here',
    does('its failure does not count any more; probes as above', used.retract),
    nothing,
    nothing,
  ),
  refused: rule<AttemptResult>(
    'refusal of the credential, the account, the model, the certificate or the address',
    refuse,
    does('stays off', unused.refuseAgain),
    refuse,
  ),
  throttled: rule<AttemptResult>('throttle', rest, rest, rest),
  blameless: rule<AttemptResult>('request at fault, or client gone', nothing, free, free),
  probePassed: rule<AttemptResult>(
    'probe passed',
    does('clears failures of its form; ends a burst', used.passProbe),
    does('refutes a refusal → on; a refusal is over → trial', unused.passWhileOff),
    does('3 in a row of the form that failed, 2 more per relapse → ramp', unused.passTrial),
  ),
  probeFailed: rule<AttemptResult>(
    'probe failed',
    does('→ burst; all 3 of a burst → off', used.failProbe),
    does('confirms a refusal', unused.failWhileOff),
    does('passes start again, next probe after 30 s or 60 s', unused.failTrial),
  ),
  probeRefused: rule<AttemptResult>(
    'probe refused',
    confirmed,
    does('prolongs the back-off', unused.refuseAgain),
    confirmed,
  ),
  probeUndecided: rule<AttemptResult>(
    'probe throttled, called a bad request, or not sent',
    does('ends a burst without a result', used.undecidedProbe),
    rest,
    does(
      'throttled: as failed; bad request: as passed; not sent: next after 30 s',
      unused.undecidedOnTrial,
    ),
  ),
  silent: rule<EventOf<'silent'>>(
    'requests wait and nothing arrives',
    does('sends one probe', used.probeSilence),
    nothing,
    nothing,
  ),
  hanging: rule<EventOf<'hanging'>>(
    'five requests wait beyond a learned limit at once',
    does('→ off', used.hang),
    nothing,
    nothing,
  ),
  overdue: rule<EventOf<'overdue'>>(
    'first event later than usual',
    does('gives a slow latency sample', used.overdue),
    nothing,
    nothing,
  ),
  compared: rule<Compared>(
    'comparison with other channels',
    does('another is faster → slow', used.compared),
    nothing,
    nothing,
  ),
  warned: rule<EventOf<'warned'>>(
    'off on another node, or for another model',
    does('→ burst', used.warned),
    nothing,
    nothing,
  ),
  asked: rule<EventOf<'asked'>>(
    'operator requests a check',
    nothing,
    does('→ trial', unused.tryNow),
    nothing,
  ),
  released: rule<EventOf<'released'>>(
    'credential works for another model',
    nothing,
    does('refused → trial', unused.release),
    nothing,
  ),
  refuted: rule<EventOf<'refuted'>>(
    'refusal refuted for another model',
    nothing,
    does('refused → on', unused.refuteRefusal),
    nothing,
  ),
  wake: rule<EventOf<'wake'>>(
    'time passes',
    does('sends the probe that is due', used.wakeInUse),
    sendDue,
    sendDue,
  ),
}

// --- applying the table -------------------------------------------------------------------------

/** `now` is monotonic. An event that changes nothing returns the very same state. */
export function step(state: HealthState, event: HealthEvent, now: number, random: Random): Step {
  const current = unused.advance(state, now)
  const column = isInUse(current) ? 'inUse' : current.mode
  // The table pairs each event with its own actions; the compiler cannot follow that through a lookup.
  const action = rules[ruleOf(event)][column] as Action<HealthState, HealthEvent>
  const moved = action.run(current, event, { now, random })
  return moved.state === state ? moved : withChange(state, moved, now)
}

function ruleOf(event: HealthEvent): keyof typeof rules {
  if (event.kind !== 'ended') return event.kind
  const { traffic, probe } = outcomeFacts[event.outcome]
  return event.caller === undefined ? probe : traffic
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
