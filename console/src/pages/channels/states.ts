/**
 * What the states of a channel mean to an operator: their names, how urgent they are, and the reasons
 * that the gateway gives for them, in words. docs/operating.md lists the reasons.
 */
import type { Tone } from '../../ui/card.tsx'
import type { Health } from './queries.ts'

/** The states of the API, and what its other fields say about a channel that is on. */
export const places = [
  'off',
  'unknown',
  'trial',
  'doubted',
  'waiting',
  'slow',
  'ramp',
  'disabled',
  'on',
] as const
export type Place = (typeof places)[number]

interface Meaning {
  readonly name: string
  readonly tone: Tone
  readonly text: string
}

export const meanings: Readonly<Record<Place, Meaning>> = {
  off: {
    name: 'Off',
    tone: 'bad',
    text: 'It takes no requests while another channel is left. Probes find out when it works again.',
  },
  unknown: {
    name: 'Not served',
    tone: 'bad',
    text: 'No gateway serves it. The log of the gateway says why, for instance an unreadable credential.',
  },
  trial: {
    name: 'Trial',
    tone: 'warn',
    text: 'Probes find out whether it works again. It takes no requests while another channel is left.',
  },
  doubted: {
    name: 'In doubt',
    tone: 'warn',
    text: 'Requests have failed here. Probes decide whether it goes off; other channels come first.',
  },
  waiting: {
    name: 'Waiting',
    tone: 'warn',
    text: 'The vendor has asked for a pause (429). Other channels come first until it is over.',
  },
  slow: {
    name: 'Slow',
    tone: 'warn',
    text: 'It is slower than usual and than another channel, so it takes a small share.',
  },
  ramp: {
    name: 'Ramp',
    tone: 'accent',
    text: 'It works again. Its share grows to its full share within two minutes.',
  },
  disabled: {
    name: 'Disabled',
    tone: 'neutral',
    text: 'An operator has disabled it. Only an operator enables it again.',
  },
  on: {
    name: 'On',
    tone: 'good',
    text: 'It takes its full share of the requests.',
  },
}

/** Lower is more urgent. */
export function urgencyOf(place: Place): number {
  return places.indexOf(place)
}

/** How a row in this place stands out in a list. */
export function toneOf(place: Place): 'bad' | 'warn' | undefined {
  const tones: Partial<Record<Place, 'bad' | 'warn'>> = {
    off: 'bad',
    unknown: 'bad',
    trial: 'warn',
    doubted: 'warn',
    waiting: 'warn',
    slow: 'warn',
  }
  return tones[place]
}

export function placeOf(health: Health, nowMs: number): Place {
  const { state, is_usable: isUsable, rests_until: restsUntil } = health
  if (state !== 'on' && state !== 'ramp' && state !== 'slow') return state
  if (restsUntil !== null && Date.parse(restsUntil) > nowMs) return 'waiting'
  return isUsable ? state : 'doubted'
}

const reasons: Readonly<Record<string, string>> = {
  start: 'no trouble since the gateway started',
  failures_in_a_row: 'too many failures in a row',
  failures_confirmed: 'failures that probes confirmed',
  too_few_successes: 'fewer than 80 % of its requests succeeded',
  checks_failed: 'the first probe after a restart failed',
  credential_refused: 'the vendor refuses the credential or the account',
  no_credit: 'the credit or the spend limit at the vendor is used up',
  model_missing: 'the vendor does not know the model by this name',
  refusal_not_confirmed: 'a probe succeeded right after a refusal',
  refusal_over: 'the vendor accepts again what it refused',
  credential_works: 'the vendor accepts the credential again',
  hold_over: 'the back-off has ended',
  operator_check: 'an operator has asked for a check',
  trial_passed: 'probes succeeded',
  ramp_over: 'it has its full share again',
  slower_than_usual: 'slower than usual, and another channel is faster',
  as_fast_as_usual: 'as fast as usual again',
  restarted: 'it was not on when the gateway stopped',
  operator: 'by an operator',
  reconfigured: 'new address or credential',
}

/** A reason of a later version is shown as it is. */
export function reasonText(why: string): string {
  return reasons[why] ?? why.replaceAll('_', ' ')
}

/** Why a place is not on now, in short. */
export function placeReason(place: Place, { why, failures }: Health): string | undefined {
  if (place === 'on') return undefined
  if (place === 'waiting') return 'the vendor has asked to wait'
  const last = failures.toSorted((one, other) => other.last_at.localeCompare(one.last_at))[0]
  const met = last === undefined ? '' : `, last failure: ${failureMeaning(last.class).name}`
  if (place === 'doubted') return `requests have failed${met}`
  return place === 'trial' && why === 'hold_over' ? `not proven yet${met}` : reasonText(why)
}

interface Remedy {
  readonly name: string
  readonly text: string
}

/** The reasons for which an operator has to act before the channel can work again. */
const remedies: Readonly<Record<string, Remedy>> = {
  credential_refused: {
    name: 'Correct the credential',
    text: 'Put a valid credential into the catalogue, then check the channel.',
  },
  no_credit: {
    name: 'Buy credit',
    text: 'Buy credit or raise the limit at the vendor, then check the channel.',
  },
  model_missing: {
    name: 'Correct the model',
    text: "Correct the vendor's name for the model in the catalogue.",
  },
}

export function remedyFor(why: string): Remedy | undefined {
  return remedies[why]
}

interface FailureMeaning {
  readonly name: string
  readonly text: string
}

const failureClasses: Readonly<Record<string, FailureMeaning>> = {
  ok: { name: 'complete answer', text: 'It answered completely.' },
  hard: {
    name: 'no usable answer',
    text: 'No connection, a time limit, or an error of the vendor.',
  },
  broken: {
    name: 'answer broke off',
    text: 'The answer began and did not come to its end.',
  },
  suspect: {
    name: 'failed elsewhere too',
    text: 'The request failed on another channel as well, so it may be the cause itself.',
  },
  throttle: {
    name: 'told to wait',
    text: 'The vendor has no capacity for it now (429).',
  },
  config: {
    name: 'refused',
    text: 'The vendor refuses the credential, the account or the address.',
  },
  no_credit: {
    name: 'no credit',
    text: 'The credit or the spend limit at the vendor is used up.',
  },
  model_missing: {
    name: 'model not known',
    text: 'The vendor does not know the model by this name.',
  },
  client: {
    name: 'request rejected',
    text: 'The vendor rejects the request itself. It answers, and accepts the credential.',
  },
  nobody: { name: 'no result', text: 'It ended without a result.' },
}

/** What an attempt has met; a class of a later version is shown as it is. */
export function failureMeaning(failureClass: string): FailureMeaning {
  const name = failureClass.replaceAll('_', ' ')
  return failureClasses[failureClass] ?? { name, text: name }
}
