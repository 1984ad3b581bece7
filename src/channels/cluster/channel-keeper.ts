/**
 * Connects the channel health of one running gateway: passes its effects to the prober, the history,
 * the counters and log, and the other nodes. Decides nothing about health. Invariant: a change
 * takes effect at once, whether or not the store answers, and is written later.
 */
import { type Clock, every, sleep, type Timer } from '../../base/clock.ts'
import { newId } from '../../base/id.ts'
import type { Random } from '../../base/random.ts'
import type { Database } from '../../storage/database.ts'
import type { Telemetry } from '../../telemetry/events.ts'
import type { Snapshot } from '../channel.ts'
import { CountBook } from '../count-book.ts'
import { explainAbsence, type LoadedSnapshot } from '../snapshot.ts'
import type { CheckRequest } from './channel-states.ts'
import { saveCheckAnswer, type CheckAnswer, type CheckedModel } from './check-answers.ts'
import { describeChange } from './channel-history.ts'
import type { CheckResult } from '../probes/check.ts'
import { modelOfPlace } from '../places.ts'
import { countsOf, priceCheck } from '../probes/check-cost.ts'
import { HealthBook } from '../health/health-book.ts'
import type { PlacedEffect } from '../health/health-event.ts'
import type { HealthPlace } from '../health/health-place.ts'
import { readHealth, type SavedHealth } from '../health/health-store.ts'
import { type ChannelJournal, createChannelJournal, Publisher } from './publisher.ts'
import type { Membership } from '../../storage/membership.ts'
import { readStoreTime } from '../../storage/node-store.ts'
import { Prober } from '../probes/prober.ts'
import type { Upstream } from '../../http/client/upstream.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { HealthLine } from '../health/health-line.ts'
import { shownModes } from '../health/health-state.ts'

export interface ChannelKeeperParts {
  readonly clock: Clock
  readonly random: Random
  readonly database: Database
  readonly upstream: Upstream
  readonly telemetry: Telemetry
  readonly snapshot: () => LoadedSnapshot
  readonly membership: Membership
  readonly checkIntervalMs: number
  readonly failoverTokensMax: number
  readonly onError: (error: unknown) => void
}

/** How punctual back-offs, probes and checks are; a look costs nothing while none is due. */
const wakeIntervalMs = 250
const closeTimeoutMs = 5_000

export class ChannelKeeper {
  readonly health: HealthBook
  readonly counts: CountBook
  readonly #parts: ChannelKeeperParts
  readonly #journal: ChannelJournal
  readonly #prober: Prober
  readonly #publisher: Publisher
  /** By place: failures by class up to its last line of history. */
  readonly #reportedFailures = new Map<string, ReadonlyMap<string, number>>()
  #wakeTimer: Timer | undefined

  private constructor(parts: ChannelKeeperParts) {
    const { clock, database, membership, snapshot, telemetry } = parts
    this.#parts = parts
    this.counts = new CountBook(parts.clock)
    this.#journal = createChannelJournal((kind) => telemetry.journalDropped(kind))
    this.#prober = new Prober({
      clock,
      upstream: parts.upstream,
      snapshot,
      health: () => this.health,
      onError: parts.onError,
      onChecked: (place, result) => this.#noteCheck(place, result),
    })
    this.health = new HealthBook({
      clock,
      random: parts.random,
      checkIntervalMs: parts.checkIntervalMs,
      failoverTokensMax: parts.failoverTokensMax,
      mayCheck: () => this.#publisher.mayCheck(),
      onEffect: (effect, place) => this.#applyEffect(effect, place),
    })
    this.#publisher = new Publisher({
      database,
      membership,
      monotonic: () => clock.monotonic(),
      journal: this.#journal,
      lines: () => this.#lines(),
      save: () => this.health.save(),
      onOffElsewhere: (place) => this.health.warn(place),
      onCheckRequest: (request) => void this.#checkNow(request).catch(parts.onError),
    })
  }

  /** Resumes the health that an earlier process saved, and starts to exchange it with other nodes. */
  static async open(parts: ChannelKeeperParts): Promise<ChannelKeeper> {
    const keeper = new ChannelKeeper(parts)
    keeper.#start(await readHealth(parts.database))
    return keeper
  }

  /** This process, among those on the store. */
  get node(): string {
    return this.#parts.membership.node
  }

  /** History lines and costs that the store does not have yet. */
  journalWaitingCount(): number {
    return this.#journal.waitingCount
  }

  /** Follows a change of the catalogue; `snapshot` returns `next` from now on. */
  follow(previous: Snapshot, next: Snapshot): void {
    this.health.follow(previous, next)
    this.#prober.follow(previous, next)
  }

  /** Resolves after a round with the store, whether it succeeded or not. */
  exchanged(): Promise<void> {
    return this.#publisher.write()
  }

  /** Writes the rest of the journal and ends the membership. */
  async close(): Promise<void> {
    const { clock, onError } = this.#parts
    this.#wakeTimer?.cancel()
    this.#prober.close()
    // A store that does not answer must not keep the process from ending.
    const closed = this.#publisher.close().catch(onError)
    await Promise.race([closed, sleep(clock, closeTimeoutMs)])
  }

  #start(saved: readonly SavedHealth[]): void {
    const { clock, snapshot, onError } = this.#parts
    this.#publisher.start()
    this.health.follow(undefined, snapshot())
    this.health.restore(saved)
    this.#wakeTimer = every(clock, wakeIntervalMs, () => this.health.wake(), onError)
  }

  *#lines(): Generator<HealthLine> {
    const { snapshot } = this.#parts
    for (const line of this.health.list(snapshot())) {
      const channel = snapshot().channels.get(line.channel)
      yield channel === undefined ? line : { ...line, ...this.counts.describe(channel, line.model) }
    }
  }

  #applyEffect(effect: PlacedEffect, place: HealthPlace): void {
    if (effect.kind === 'probe') this.#prober.probe(place, effect)
    else if (effect.kind === 'alert')
      this.#parts.telemetry.channelRefused({ ...place, vendor: this.#vendorOf(place) }, effect.why)
    else {
      const { from, to, why } = effect
      this.#parts.telemetry.channelChanged(place.channel, { model: place.model, from, to, why })
      this.#noteChange(effect, place)
      void this.#publisher.save()
    }
  }

  #vendorOf({ channel }: HealthPlace): string {
    return this.#parts.snapshot().channels.get(channel)?.vendor ?? ''
  }

  #noteChange(
    { from, to, why }: Extract<PlacedEffect, { kind: 'changed' }>,
    place: HealthPlace,
  ): void {
    const line = this.health.find(place)
    if (line === undefined) return
    const key = `${place.channel}\n${place.model}`
    const detail = describeChange(line, this.#reportedFailures.get(key) ?? new Map())
    const failures = new Map(line.failures.map(({ outcome, count }) => [outcome, count]))
    this.#reportedFailures.set(key, failures)
    const atMs = this.#parts.clock.now()
    const id = newId('evt', atMs)
    const { node } = this
    const { channel, model } = place
    const change = { id, atMs, node, channel, model, from, to, why, detail }
    this.#journal.addChange({ ...change, actor: undefined })
  }

  #noteCheck(place: HealthPlace, { outcome, usage }: CheckResult): void {
    const { clock, telemetry, snapshot } = this.#parts
    telemetry.probeEnded(place.channel, outcome)
    if (usage === undefined) return
    const atMs = clock.now()
    const priced = priceCheck(place, usage, { snapshot: snapshot(), nowMs: atMs })
    if (priced === undefined) return
    const { amountPicos, isKnown: isOwnCostKnown } = priced
    telemetry.checkCost(place.channel, amountPicos)
    const id = newId('evt', atMs)
    const { node } = this
    const { channel } = place
    const model = modelOfPlace(place.model)
    const counts = countsOf(usage)
    const cost = { id, atMs, node, channel, model, usage: counts, amountPicos, isOwnCostKnown }
    this.#journal.addCost({ ...cost, kind: 'check' })
    void this.#publisher.write()
  }

  /**
   * Checks every model, also one in its back-off, because an operator requested it; the answer is for the
   * operator's command.
   */
  async #checkNow({ id, channel: name }: CheckRequest): Promise<void> {
    const snapshot = this.#parts.snapshot()
    const channel = snapshot.channels.get(name)
    if (channel === undefined) {
      const reason = explainAbsence(snapshot, name)
      return this.#answerCheck(id, { isComplete: true, reason, models: [] })
    }
    const places = [...channel.models.keys()].map((model) => ({ channel: name, model }))
    if (channel.override === 'enabled') for (const place of places) this.health.recheck(place)
    const models: CheckedModel[] = []
    for (const place of places) {
      const result = await this.#prober.checkNow(place)
      if (result === undefined) continue
      const { outcome, status = null, durationMs } = result
      models.push({ model: place.model, outcome, status, durationMs })
      await this.#answerCheck(id, { isComplete: false, reason: undefined, models })
    }
    await this.#answerCheck(id, { isComplete: true, reason: undefined, models })
  }

  async #answerCheck(checkId: string, found: Omit<CheckAnswer, 'node'>): Promise<void> {
    const { database, clock } = this.#parts
    const atMs = await readStoreTime(database, clock)
    const answer = { ...found, node: this.node, atMs }
    await database.transact((transaction) => saveCheckAnswer(transaction, checkId, answer))
  }
}

const states = [...shownModes, 'disabled'] as const

/** Replaces all that was shown before, so that what left the catalogue leaves the metrics too. */
export function measureChannels(metrics: Metrics, lines: Iterable<HealthLine>): void {
  metrics.channelState.reset()
  for (const { channel, model, mode } of lines)
    for (const state of states)
      metrics.channelState.set({ channel, model, state }, mode === state ? 1 : 0)
}
