/**
 * The places of the health book: every model on every channel, with its state. It applies events to the
 * rules, keeps the next wake-up, applies facts about a whole channel to all its models, and passes effects
 * on. It knows no attempts.
 */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Channel, Snapshot } from '../channel.ts'
import type { HealthEffect, HealthEvent, PlacedEffect } from './health-event.ts'
import {
  updateEntry,
  newPlace,
  renewalOf,
  type ChannelEntry,
  type PlaceOfAttempt,
  type HealthPlace,
  type Place,
} from './health-place.ts'
import { nextWakeAt, shownMode, type HealthState } from './health-state.ts'
import { step } from './rules.ts'
import { fullBudget } from './retry-budget.ts'

interface HealthRegisterOptions {
  readonly clock: Clock
  readonly random: Random
  /** When the process started, in monotonic time: new places start there. */
  readonly startedAt: number
  /** Size of each channel's retry budget. */
  readonly budget: number
  /** Compares the channel with the others of the model. */
  readonly compare: (channel: Channel, model: string) => void
  /** Receives each effect once, in order, after the state has changed. Must not throw. */
  readonly onEffect: (effect: PlacedEffect, place: HealthPlace) => void
}

const warnedSiblingsMax = 3

export class HealthRegister {
  readonly #options: HealthRegisterOptions
  readonly #entries = new Map<string, ChannelEntry>()
  #wakeAt = Number.POSITIVE_INFINITY

  constructor(options: HealthRegisterOptions) {
    this.#options = options
  }

  findEntry(channelName: string): ChannelEntry | undefined {
    return this.#entries.get(channelName)
  }

  /** Undefined where no such channel serves the model. */
  findPlace(channelName: string, model: string): Place | undefined {
    const entry = this.#entries.get(channelName)
    const known = entry?.places.get(model)
    if (known !== undefined || entry === undefined || !entry.channel.models.has(model)) return known
    return this.placeOf(entry.channel, model)
  }

  /** Returns the channel's entry and creates it if necessary; likewise `placeOf`. */
  entryOf(channel: Channel): ChannelEntry {
    let entry = this.#entries.get(channel.name)
    if (entry === undefined) {
      entry = { channel, budget: fullBudget(this.#options.budget), places: new Map() }
      this.#entries.set(channel.name, entry)
    }
    return entry
  }

  placeOf(channel: Channel, model: string): Place {
    const { channel: current, places } = this.entryOf(channel)
    let place = places.get(model)
    if (place === undefined) places.set(model, (place = newPlace(current, this.#options.startedAt)))
    return place
  }

  entries(): Iterable<ChannelEntry> {
    return this.#entries.values()
  }

  *places(): Generator<Place> {
    for (const { places } of this.#entries.values()) yield* places.values()
  }

  apply(channel: Channel, model: string, event: HealthEvent): void {
    this.applyTo({ channel, model, place: this.placeOf(channel, model) }, event)
  }

  /** Applies one event to one place, which must be in the register; its effects follow at once. */
  applyTo({ channel, model, place }: PlaceOfAttempt, event: HealthEvent): void {
    const { clock, random } = this.#options
    const { state, effects } = step(place.state, event, clock.monotonic(), random)
    if (state !== place.state) this.enter(place, state)
    for (const effect of effects) this.#perform(effect, channel, model)
  }

  /** Applies an event to the channel's other models: a credential is refused or accepted for all. */
  spread(channel: Channel, model: string, event: HealthEvent): void {
    const { clock, random, onEffect } = this.#options
    for (const other of channel.models.keys()) {
      if (other === model) continue
      const place = this.placeOf(channel, other)
      const { state, effects } = step(place.state, event, clock.monotonic(), random)
      this.enter(place, state)
      // One alert and one probe are enough for all models of the channel.
      for (const effect of effects)
        if (effect.kind === 'changed') onEffect(effect, { channel: channel.name, model: other })
    }
  }

  /** Sets the state of a place without an event. */
  enter(place: Place, state: HealthState): void {
    place.state = state
    this.#wakeAt = Math.min(this.#wakeAt, nextWakeAt(state) ?? this.#wakeAt)
  }

  /** Wakes the places that are due. */
  wake(now: number): void {
    if (now < this.#wakeAt) return
    this.#wakeAt = Number.POSITIVE_INFINITY
    for (const { channel, places } of this.#entries.values())
      for (const [model, place] of places) {
        if ((nextWakeAt(place.state) ?? Number.POSITIVE_INFINITY) <= now)
          this.apply(channel, model, { kind: 'wake' })
        this.#wakeAt = Math.min(this.#wakeAt, nextWakeAt(place.state) ?? this.#wakeAt)
      }
  }

  /** When a place is due next, in monotonic time; infinity where none is. */
  nextWakeAt(): number {
    return this.#wakeAt
  }

  /**
   * Takes over a new catalogue and forgets what no longer applies. A place is made when it is first asked
   * for: a catalogue may have very many.
   */
  follow(previous: Snapshot | undefined, next: Snapshot): void {
    const renewed: { readonly before: ChannelEntry; readonly why: string }[] = []
    for (const [name, entry] of this.#entries) {
      const channel = next.channels.get(name)
      const why =
        previous === undefined || channel === undefined
          ? undefined
          : renewalOf(previous.channels.get(name), channel)
      if (channel === undefined || why !== undefined) this.#entries.delete(name)
      else this.#keep(entry, channel)
      if (why !== undefined) renewed.push({ before: entry, why })
    }
    for (const channel of next.channels.values()) this.entryOf(channel)
    for (const { before, why } of renewed) this.#reportRenewal(before, why)
  }

  #perform(effect: HealthEffect, channel: Channel, model: string): void {
    if (effect.kind === 'compare') this.#options.compare(channel, model)
    else this.#options.onEffect(effect, { channel: channel.name, model })
    if (effect.kind === 'changed' && effect.to === 'off') this.#warnSiblings(channel, model)
  }

  /** A channel that fails for one model may fail for the others: its busy models send a burst. */
  #warnSiblings(channel: Channel, model: string): void {
    const { places } = this.entryOf(channel)
    const state = places.get(model)?.state
    if (state?.mode !== 'off' || state.cause !== 'run') return
    const busy = [...places]
      .filter(([other, { state }]) => other !== model && state.lastOkAt !== undefined)
      .sort(([, left], [, right]) => (right.state.lastOkAt ?? 0) - (left.state.lastOkAt ?? 0))
    for (const [other] of busy.slice(0, warnedSiblingsMax))
      this.apply(channel, other, { kind: 'warned' })
  }

  /** An operator may change how the channel is probed, and with it the next wake-up. */
  #keep(entry: ChannelEntry, channel: Channel): void {
    updateEntry(entry, channel)
    const { check } = channel
    for (const place of entry.places.values())
      if (place.state.check !== check) this.enter(place, { ...place.state, check })
  }

  /** A renewed channel is on again, which is a change like any other. */
  #reportRenewal({ channel: { name }, places }: ChannelEntry, why: string): void {
    const { clock, onEffect } = this.#options
    const now = clock.monotonic()
    for (const [model, { state }] of places) {
      const from = shownMode(state, now)
      if (from === 'on' || this.findEntry(name)?.channel.models.has(model) !== true) continue
      onEffect({ kind: 'changed', from, to: 'on', why }, { channel: name, model })
    }
  }
}
