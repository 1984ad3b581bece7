/**
 * What the states of a channel mean to an operator: their names, how urgent they are, and the reasons
 * that the gateway gives for them, in words. docs/operating.md lists the reasons.
 */
import { t } from '../../messages/t.ts'
import type { Tone } from '../../ui/card.tsx'
import type { Health } from './queries.ts'

/** The states of the API, and what its other fields say about a channel that is on; the most urgent first. */
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

export const placeTones: Readonly<Record<Place, Tone>> = {
  off: 'bad',
  unknown: 'bad',
  trial: 'warn',
  doubted: 'warn',
  waiting: 'warn',
  slow: 'warn',
  ramp: 'accent',
  disabled: 'neutral',
  on: 'good',
}

/** Lower is more urgent. */
export function urgencyOf(place: Place): number {
  return places.indexOf(place)
}

/** How a row in this place stands out in a list. */
export function rowToneOf(place: Place): 'bad' | 'warn' | undefined {
  const tone = placeTones[place]
  return tone === 'bad' || tone === 'warn' ? tone : undefined
}

export function placeOf(health: Health, nowMs: number): Place {
  const { state, is_usable: isUsable, rests_until: restsUntil } = health
  if (state !== 'on' && state !== 'ramp' && state !== 'slow') return state
  if (restsUntil !== null && Date.parse(restsUntil) > nowMs) return 'waiting'
  return isUsable ? state : 'doubted'
}

/** A word of a later version is shown as it is. */
function nameIn(group: 'reasons' | 'failures' | 'failureTexts', word: string): string {
  const key = `channels.${group}.${word}` as 'channels.reasons.start'
  return t.has(key) ? t(key) : word.replaceAll('_', ' ')
}

export function reasonText(why: string): string {
  return nameIn('reasons', why)
}

/** What an attempt has met. */
export function failureMeaning(failureClass: string): {
  readonly name: string
  readonly text: string
} {
  return { name: nameIn('failures', failureClass), text: nameIn('failureTexts', failureClass) }
}

/** Why a place is not on now, in short. */
export function placeReason(place: Place, { why, failures }: Health): string | undefined {
  if (place === 'on') return undefined
  if (place === 'waiting') return t('channels.askedToWait')
  const last = failures.toSorted((one, other) => other.last_at.localeCompare(one.last_at))[0]
  const isUnproven = place === 'trial' && why === 'hold_over'
  if (place !== 'doubted' && !isUnproven) return reasonText(why)
  const reason = t(isUnproven ? 'channels.notProven' : 'channels.haveFailed')
  return last === undefined
    ? reason
    : t('channels.lastFailure', { reason, failure: failureMeaning(last.class).name })
}

/** What an operator has to do before the channel can work again; undefined = nothing. */
export function remedyFor(why: string): { readonly text: string } | undefined {
  switch (why) {
    case 'enable':
    case 'credential_refused':
    case 'certificate_expired':
    case 'certificate_refused':
    case 'address_refused':
    case 'no_credit':
    case 'model_missing':
      return { text: t(`channels.remedies.${why}`) }
    default:
      return undefined
  }
}
