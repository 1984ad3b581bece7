/**
 * A simulated world around the production health book and selector: clients that arrive at random,
 * channels that behave as scripted, probes that are sent when the book wants them, operators who
 * switch channels by hand, on one or more nodes. Nodes share nothing but what they publish: an "off"
 * reaches the others a moment later, and one of them holds the lease for regular checks. The attempt
 * loop stands for that of the relay: distinct channels, at most three attempts, none after a begun
 * answer. Everything is decided by one seed; the record of a run is all that tests look at.
 */
import { seededRandom, type Random } from '../../../src/base/random.ts'
import type { Channel, ChannelOverride, Snapshot } from '../../../src/channels/channel.ts'
import { HealthBook } from '../../../src/channels/health/health-book.ts'
import type { Form, PlacedEffect } from '../../../src/channels/health/health-event.ts'
import type { HealthPlace, OpenAttempt } from '../../../src/channels/health/health-place.ts'
import type { Caller } from '../../../src/channels/health/evidence.ts'
import { isClosedToAccount, selectChannel } from '../../../src/channels/select.ts'
import { makeChannel, makeSnapshot } from '../../support/snapshots.ts'
import { play, type Script } from './vendor-model.ts'
import { VirtualClock } from './virtual-clock.ts'

export interface ChannelPlan {
  readonly name: string
  readonly rank: number
  readonly script: Script
  readonly change?: Partial<Channel>
}

export interface WorldPlan {
  readonly channels: readonly ChannelPlan[]
  readonly requestsPerSecond: number
  readonly keyCount: number
  /** How many of the requests are not streamed; none unless given. */
  readonly wholeShare?: number
  readonly durationMs: number
  readonly seed: number
  readonly nodeCount?: number
  /** The share of requests that reach the first node; an even one unless told. */
  readonly firstNodeShare?: number
  /** What an operator does by hand, in order of time. */
  readonly hand?: readonly HandMove[]
  /** Requests that fail on every channel: those of this key. */
  readonly poisonedKey?: string
  readonly traffic?: { readonly from: number; readonly to: number }
  /** From when on failed attempts on the main channel are counted until it is first off. */
  readonly countFailuresFrom?: number
  /** Exchanges and attempts that begin within it are counted apart. */
  readonly watched?: Span
}

export interface HandMove {
  readonly at: number
  readonly channel: string
  readonly override: ChannelOverride
}

export interface Span {
  readonly from: number
  readonly to: number
}

export interface Change {
  readonly at: number
  readonly node: number
  readonly channel: string
  readonly from: string
  readonly to: string
  readonly why: string
}

export interface WorldRecord {
  readonly changes: Change[]
  readonly alerts: { readonly at: number; readonly why: string }[]
  /** Counted, not kept: a day has a million. */
  exchanges: number
  failedExchanges: number
  /** Failed although no channel failed by its own everyday error rate. */
  unexplainedFailures: number
  refusedExchanges: number
  readonly attempts: Map<string, number>
  readonly failedAttempts: Map<string, number>
  readonly probes: Map<string, number>
  /** Most probes of one channel within one minute. */
  probesPerMinuteMax: number
  /** Within the watched span. */
  watchedExchanges: number
  readonly watchedAttempts: Map<string, number>
  /** Answers of each channel to exchanges within the watched span. */
  readonly watchedServed: Map<string, number>
  /** When the main channel first answered after the watched span. */
  mainServedAgainAt: number | undefined
  /** Attempts that failed on channel `main` since its fault began and before it was first off. */
  failedUntilFirstOff: number
  /** First attempts of exchanges on channel `main` within the watched span after it was first off. */
  begunAfterFirstOff: number
}

const model = 'm'
const attemptsMax = 3
const answerTokens = 100
/** How often the gateway's own timer looks whether something is due. */
const tickMs = 250
const publishMs = 1_000

export class World {
  readonly clock = new VirtualClock()
  readonly record: WorldRecord = {
    changes: [],
    alerts: [],
    exchanges: 0,
    failedExchanges: 0,
    unexplainedFailures: 0,
    refusedExchanges: 0,
    attempts: new Map(),
    failedAttempts: new Map(),
    probes: new Map(),
    probesPerMinuteMax: 0,
    watchedExchanges: 0,
    watchedAttempts: new Map(),
    watchedServed: new Map(),
    mainServedAgainAt: undefined,
    failedUntilFirstOff: 0,
    begunAfterFirstOff: 0,
  }
  readonly books: readonly HealthBook[]
  snapshot: Snapshot
  /** Seen by properties: every attempt of traffic, when it begins. */
  onAttempt: ((channel: Channel, exchange: SeenExchange, node: number) => void) | undefined
  onProbe: ((channel: Channel) => void) | undefined
  readonly #plan: WorldPlan
  readonly #random: Random
  readonly #scripts: ReadonlyMap<string, Script>
  readonly #probeTimes = new Map<string, number[]>()

  constructor(plan: WorldPlan) {
    this.#plan = plan
    this.#random = seededRandom(plan.seed)
    this.#scripts = new Map(plan.channels.map(({ name, script }) => [name, script]))
    this.snapshot = snapshotOf(plan.channels, new Map())
    this.books = Array.from({ length: plan.nodeCount ?? 1 }, (_, node) => this.#openBook(node))
    for (const [node, book] of this.books.entries()) this.#tick(book, node)
    const traffic = plan.traffic ?? { from: 0, to: plan.durationMs }
    this.clock.at(traffic.from, () => this.#arrive(traffic.to))
    const overrides = new Map<string, ChannelOverride>()
    for (const move of plan.hand ?? []) this.clock.at(move.at, () => this.#switch(move, overrides))
  }

  run(): WorldRecord {
    this.clock.runUntil(this.#plan.durationMs)
    return this.record
  }

  #openBook(node: number): HealthBook {
    const book = new HealthBook({
      checkIntervalMs: 600_000,
      failoverTokensMax: 100,
      clock: this.clock,
      random: seededRandom(this.#plan.seed * 31 + node + 1),
      mayCheck: () => node === 0,
      onEffect: (effect, place) => this.#perform(effect, place, node),
    })
    book.follow(undefined, this.snapshot)
    return book
  }

  /** By hand, as every node follows it from the store. */
  #switch({ channel, override }: HandMove, overrides: Map<string, ChannelOverride>): void {
    overrides.set(channel, override)
    const before = this.snapshot
    this.snapshot = snapshotOf(this.#plan.channels, overrides)
    for (const book of this.books) book.follow(before, this.snapshot)
  }

  #tick(book: HealthBook, node: number): void {
    if (this.clock.monotonic() >= book.nextWakeAt()) book.wake()
    const idleMs = book.nextWakeAt() - this.clock.monotonic()
    // Nothing is due for long, but traffic may bring something on: looked at each tick in the
    // gateway, and here as seldom as changes nothing.
    this.clock.after(Math.min(Math.max(idleMs, tickMs), 1_000), () => this.#tick(book, node))
  }

  #perform(effect: PlacedEffect, place: HealthPlace, node: number): void {
    const at = this.clock.monotonic()
    if (effect.kind === 'alert') this.record.alerts.push({ at, why: effect.why })
    if (effect.kind === 'changed') {
      const { from, to, why } = effect
      this.record.changes.push({ at, node, channel: place.channel, from, to, why })
      if (to === 'off') this.#publish(place, node)
    }
    if (effect.kind === 'probe')
      for (let count = 0; count < effect.count; count++)
        this.#probe(place, { form: effect.form, node })
  }

  #publish(place: HealthPlace, from: number): void {
    for (const [node, book] of this.books.entries())
      if (node !== from) this.clock.after(publishMs, () => book.warn(place))
  }

  #probe(place: HealthPlace, { form, node }: { form: Form; node: number }): void {
    const channel = this.snapshot.channels.get(place.channel)
    const book = this.books[node]
    if (channel === undefined || book === undefined || channel.check === 'none') return
    if (channel.override === 'disabled') return
    this.onProbe?.(channel)
    this.#countProbe(channel.name)
    const attempt = book.begin(channel, place.model, { isProbe: true, form })
    const behaviour = this.#behaviour(channel, node)
    const played = play(behaviour, { keyId: undefined, form }, this.#random)
    this.clock.after(played.firstMs, () => {
      const { outcome } = played
      if (outcome === 'ok' && channel.check === 'request') book.answered(attempt)
      book.end(attempt, { ...played, outcome, caller: undefined })
    })
  }

  #countProbe(channel: string): void {
    const now = this.clock.monotonic()
    const times = (this.#probeTimes.get(channel) ?? []).filter((at) => at > now - 60_000)
    times.push(now)
    this.#probeTimes.set(channel, times)
    this.record.probesPerMinuteMax = Math.max(this.record.probesPerMinuteMax, times.length)
    count(this.record.probes, channel)
  }

  #behaviour(channel: Channel, node: number): ReturnType<Script> {
    const script = this.#scripts.get(channel.name)
    if (script === undefined) throw new Error(`no script for ${channel.name}`)
    return script(this.clock.monotonic(), node)
  }

  #arrive(until: number): void {
    if (this.clock.monotonic() >= until) return
    const gapMs = (-Math.log(1 - this.#random()) * 1_000) / this.#plan.requestsPerSecond
    this.clock.after(gapMs, () => this.#arrive(until))
    const node = this.#drawNode()
    const keyId = `key-${Math.floor(this.#random() * this.#plan.keyCount)}`
    this.record.exchanges++
    const { watched } = this.#plan
    const now = this.clock.monotonic()
    const isWatched = watched !== undefined && now >= watched.from && now < watched.to
    if (isWatched) this.record.watchedExchanges++
    const form = this.#drawForm()
    const begun = { tried: new Set<string>(), failed: undefined, hasBegun: false }
    this.#attempt({ node, keyId, form, isWatched, ...begun })
  }

  #drawForm(): Form {
    const { wholeShare } = this.#plan
    return wholeShare !== undefined && this.#random() < wholeShare ? 'whole' : 'stream'
  }

  #drawNode(): number {
    const share = this.#plan.firstNodeShare
    if (share === undefined) return Math.floor(this.#random() * this.books.length)
    return this.#random() < share ? 0 : 1
  }

  #attempt(exchange: Exchange): void {
    const { node, keyId, form, tried } = exchange
    const book = this.books[node]
    if (book === undefined) return
    const channel =
      tried.size >= attemptsMax
        ? undefined
        : selectChannel(this.snapshot, model, {
            facts: book,
            accountId: keyId,
            conversation: keyId,
            tried: [...tried],
            now: this.clock.monotonic(),
          })
    if (channel === undefined) {
      this.#giveUp(exchange)
      return
    }
    this.onAttempt?.(channel, exchange, node)
    tried.add(channel.name)
    count(this.record.attempts, channel.name)
    if (exchange.isWatched) count(this.record.watchedAttempts, channel.name)
    if (exchange.isWatched && tried.size === 1) this.#countAfterOff(channel.name)
    const traits = { isStream: form === 'stream', inputTokens: 500 }
    const attempt = book.begin(channel, model, { traits })
    const behaviour = this.#behaviour(channel, node)
    const isPoisoned = keyId === this.#plan.poisonedKey
    const played = play(
      isPoisoned ? { ...behaviour, errorRate: 1 } : behaviour,
      { keyId, form },
      this.#random,
    )
    const isEveryday = behaviour.errorRate <= everydayErrorRate || isPoisoned
    this.clock.after(played.firstMs, () => {
      if (played.outcome === 'ok' || played.outcome === 'broken') {
        exchange.hasBegun = true
        this.#noteServed(exchange, channel.name)
        book.answered(attempt, { outputTokens: answerTokens })
        this.clock.after(played.restMs, () => {
          if (played.outcome === 'broken') this.#countUntilOff(channel.name)
          book.end(attempt, { ...played, caller: callerOf(keyId) })
        })
        return
      }
      this.#fail(exchange, { book, attempt, isEveryday, played })
    })
  }

  #fail(exchange: Exchange, { book, attempt, isEveryday, played }: Failure): void {
    const { keyId, failed } = exchange
    count(this.record.failedAttempts, attempt.channel.name)
    this.#countUntilOff(attempt.channel.name)
    if (isEveryday && played.outcome === 'hard') exchange.isExplained = true
    const isHard = played.outcome === 'hard'
    const { tried } = exchange
    const now = this.clock.monotonic()
    const options = { facts: book, accountId: keyId, conversation: keyId, tried: [...tried], now }
    if (isHard && failed !== undefined) book.retract(failed, keyId)
    const isSuspect =
      isHard && (failed !== undefined || isClosedToAccount(this.snapshot, model, options))
    const outcome = isSuspect ? 'suspect' : played.outcome
    book.end(attempt, { outcome, retryAfterMs: played.retryAfterMs, caller: callerOf(keyId) })
    if (played.outcome === 'hard') exchange.failed = attempt
    this.#attempt(exchange)
  }

  #noteServed({ isWatched }: Exchange, channel: string): void {
    const { record, clock } = this
    if (isWatched) count(record.watchedServed, channel)
    const { watched } = this.#plan
    const now = clock.monotonic()
    if (channel === 'main' && watched !== undefined && now >= watched.to)
      record.mainServedAgainAt ??= now
  }

  #countUntilOff(channel: string): void {
    const from = this.#plan.countFailuresFrom
    if (from === undefined || channel !== 'main' || this.clock.monotonic() < from) return
    const isOff = this.record.changes.some(({ at, to }) => at >= from && to === 'off')
    if (!isOff) this.record.failedUntilFirstOff++
  }

  #countAfterOff(channel: string): void {
    const from = this.#plan.countFailuresFrom
    if (from === undefined || channel !== 'main') return
    const hasBeenOff = this.record.changes.some(
      (change) => change.at >= from && change.to === 'off',
    )
    if (hasBeenOff) this.record.begunAfterFirstOff++
  }

  #giveUp(exchange: Exchange): void {
    this.record.failedExchanges++
    if (exchange.tried.size === 0) this.record.refusedExchanges++
    if (exchange.isExplained !== true) this.record.unexplainedFailures++
  }
}

const everydayErrorRate = 0.05

/** What a property may look at. */
export interface SeenExchange {
  readonly tried: ReadonlySet<string>
  /** The client has seen the beginning of an answer. */
  readonly hasBegun: boolean
}

interface Exchange extends SeenExchange {
  readonly node: number
  readonly keyId: string
  readonly form: Form
  readonly tried: Set<string>
  hasBegun: boolean
  readonly isWatched: boolean
  /** The attempt that failed last, where the channel looked at fault. */
  failed: OpenAttempt | undefined
  isExplained?: boolean
}

interface Failure {
  readonly book: HealthBook
  readonly attempt: OpenAttempt
  readonly isEveryday: boolean
  readonly played: ReturnType<typeof play>
}

/** Every key is an account's only one. */
function callerOf(keyId: string): Caller {
  return { keyId, accountId: keyId }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function snapshotOf(
  plans: readonly ChannelPlan[],
  overrides: ReadonlyMap<string, ChannelOverride>,
): Snapshot {
  return makeSnapshot(
    plans.map(({ name, rank, change }) =>
      makeChannel(name, {
        models: new Map([[model, undefined]]),
        rank,
        ...change,
        override: overrides.get(name) ?? change?.override ?? 'enabled',
      }),
    ),
  )
}
