/**
 * The places of the health book: every model on every channel, with its state; the stateful shell
 * around the reducer of `health.ts`. It steps the reducer, keeps when a state falls due, applies what
 * is true of a whole channel to all its models, and hands effects on. It knows no attempts.
 */
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Channel, Snapshot } from './channel.ts'
import type { HealthEffect, HealthEvent, PlacedEffect } from './health-event.ts'
import {
  keepWhatApplies,
  newPlace,
  renewalOf,
  type ChannelEntry,
  type HealthPlace,
  type Place,
} from './health-place.ts'
import { nextWakeAt, shownMode, type HealthState } from './health-state.ts'
import { step } from './health.ts'
import { fullTokens } from './tokens.ts'

export interface HealthRegisterOptions {
  readonly clock: Clock
  readonly random: Random
  /** When the process began, in monotonic time: a place without a past counts from there. */
  readonly startedAt: number
  /** Size of each channel's bucket of failover tokens. */
  readonly tokensMax: number
  /** Asked to find out whether another channel is better. */
  readonly compare: (channel: Channel, model: string) => void
  /** Told of each effect once, in order, after the state has changed. Must not throw. */
  readonly onEffect: (effect: PlacedEffect, place: HealthPlace) => void
}

export interface HealthRegister {
  readonly findEntry: (channelName: string) => ChannelEntry | undefined
  readonly findPlace: (channelName: string, model: string) => Place | undefined
  /** The channel's entry, made where there is none yet; likewise `placeOf`. */
  readonly entryOf: (channel: Channel) => ChannelEntry
  readonly placeOf: (channel: Channel, model: string) => Place
  readonly entries: () => Iterable<ChannelEntry>
  readonly places: () => Iterable<Place>
  /** One event for one place; its effects follow at once. */
  readonly apply: (channel: Channel, model: string, event: HealthEvent) => void
  /** What one model's attempt says about the channel's other models: refused or accepted credentials. */
  readonly spread: (channel: Channel, model: string, event: HealthEvent) => void
  /** Puts a place into a state that no event has led to. */
  readonly enter: (place: Place, state: HealthState) => void
  /** Wakes the places whose time has come. */
  readonly wake: (now: number) => void
  /** When a place is to be woken next, in monotonic time; infinity where none is. */
  readonly nextWakeAt: () => number
  /** Takes the catalogue in and forgets what no longer applies. */
  readonly follow: (previous: Snapshot | undefined, next: Snapshot) => void
}

const warnedSiblingsMax = 3

export function createHealthRegister(options: HealthRegisterOptions): HealthRegister {
  const { clock, random, startedAt, onEffect } = options
  const entries = new Map<string, ChannelEntry>()
  let wakeAt = Number.POSITIVE_INFINITY

  function* allPlaces(): Generator<Place> {
    for (const { places } of entries.values()) yield* places.values()
  }

  function entryOf(channel: Channel): ChannelEntry {
    let entry = entries.get(channel.name)
    if (entry === undefined) {
      entry = { channel, tokens: fullTokens(options.tokensMax), places: new Map() }
      entries.set(channel.name, entry)
    }
    return entry
  }

  function placeOf(channel: Channel, model: string): Place {
    const { places } = entryOf(channel)
    let place = places.get(model)
    if (place === undefined) places.set(model, (place = newPlace(channel, startedAt)))
    return place
  }

  function enter(place: Place, state: HealthState): void {
    place.state = state
    wakeAt = Math.min(wakeAt, nextWakeAt(state) ?? wakeAt)
  }

  function apply(channel: Channel, model: string, event: HealthEvent): void {
    const place = placeOf(channel, model)
    const { state, effects } = step(place.state, event, clock.monotonic(), random)
    if (state !== place.state) enter(place, state)
    for (const effect of effects) perform(effect, channel, model)
  }

  function perform(effect: HealthEffect, channel: Channel, model: string): void {
    if (effect.kind === 'compare') options.compare(channel, model)
    else onEffect(effect, { channel: channel.name, model })
    if (effect.kind === 'changed' && effect.to === 'off') warnSiblings(channel, model)
  }

  /** A model that fails outright makes the channel's other busy models worth a look. */
  function warnSiblings(channel: Channel, model: string): void {
    const { places } = entryOf(channel)
    if (places.get(model)?.state.cause !== 'run') return
    const busy = [...places]
      .filter(([other, { state }]) => other !== model && state.lastOkAt !== undefined)
      .sort(([, left], [, right]) => (right.state.lastOkAt ?? 0) - (left.state.lastOkAt ?? 0))
    for (const [other] of busy.slice(0, warnedSiblingsMax))
      apply(channel, other, { kind: 'warned' })
  }

  function spread(channel: Channel, model: string, event: HealthEvent): void {
    for (const other of channel.models.keys()) {
      if (other === model) continue
      const place = placeOf(channel, other)
      const { state, effects } = step(place.state, event, clock.monotonic(), random)
      enter(place, state)
      // The operator hears of a channel's refused credential once, and one probe confirms it.
      for (const effect of effects)
        if (effect.kind === 'changed') onEffect(effect, { channel: channel.name, model: other })
    }
  }

  function follow(previous: Snapshot | undefined, next: Snapshot): void {
    const renewed: { readonly before: ChannelEntry; readonly why: string }[] = []
    for (const [name, entry] of entries) {
      const channel = next.channels.get(name)
      const why =
        previous === undefined || channel === undefined
          ? undefined
          : renewalOf(previous.channels.get(name), channel)
      if (channel === undefined || why !== undefined) entries.delete(name)
      else keep(entry, channel)
      if (why !== undefined) renewed.push({ before: entry, why })
    }
    for (const channel of next.channels.values())
      for (const model of channel.models.keys()) placeOf(channel, model)
    for (const { before, why } of renewed) tellRenewal(before, why)
  }

  /** How a channel may be asked can change at any time, and with it what it waits for. */
  function keep(entry: ChannelEntry, channel: Channel): void {
    keepWhatApplies(entry, channel)
    const { check } = channel
    for (const place of entry.places.values())
      if (place.state.check !== check) enter(place, { ...place.state, check })
  }

  /** Forgetting that something was off is a change like any other. */
  function tellRenewal({ channel: { name }, places }: ChannelEntry, why: string): void {
    const now = clock.monotonic()
    for (const [model, { state }] of places) {
      const from = shownMode(state, now)
      if (from === 'on' || entries.get(name)?.places.has(model) !== true) continue
      onEffect({ kind: 'changed', from, to: 'on', why }, { channel: name, model })
    }
  }

  function wake(now: number): void {
    if (now < wakeAt) return
    wakeAt = Number.POSITIVE_INFINITY
    for (const { channel, places } of entries.values())
      for (const [model, place] of places) {
        if ((nextWakeAt(place.state) ?? Number.POSITIVE_INFINITY) <= now)
          apply(channel, model, { kind: 'wake' })
        wakeAt = Math.min(wakeAt, nextWakeAt(place.state) ?? wakeAt)
      }
  }

  return {
    findEntry: (name) => entries.get(name),
    findPlace: (name, model) => entries.get(name)?.places.get(model),
    entryOf,
    placeOf,
    entries: () => entries.values(),
    places: allPlaces,
    apply,
    spread,
    enter,
    wake,
    nextWakeAt: () => wakeAt,
    follow,
  }
}
