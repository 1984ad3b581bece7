/**
 * A simulated world of requests that think: clients that arrive at random, channels that think, hang or
 * change as scripted, restarts. Routes, leases, limits and health are those of production; the attempt loop
 * stands for the relay's. One seed decides everything; the record is all that tests look at.
 */
import { seededRandom, type Random } from '../../../src/base/random.ts'
import type { Model, Snapshot } from '../../../src/channels/channel.ts'
import { HealthBook } from '../../../src/channels/health/health-book.ts'
import type { PlacedEffect } from '../../../src/channels/health/health-event.ts'
import type { HealthPlace } from '../../../src/channels/health/health-place.ts'
import {
  createRoutes,
  type Lease,
  type OpenRoute,
  type Route,
} from '../../../src/channels/route.ts'
import { makeChannel, makeModel, makeSnapshot } from '../../support/snapshots.ts'
import { VirtualClock } from './virtual-clock.ts'

const second = 1_000
const model = 'm'
const settings = { firstEventTimeoutMs: 600 * second, answerTimeoutMs: 600 * second }
const quickHeadMs = 300
const probeMs = second
const probeLimitMs = 30 * second
const restMs = 1_500
const attemptsMax = 3

export interface Conduct {
  readonly hangs?: boolean
  /** How many times as long as usual it thinks. */
  readonly factor?: number
}

export interface SilencePlan {
  readonly seed: number
  readonly durationMs: number
  readonly requestsPerSecond: number
  /** A request thinks so long, with a tenth more or less on each channel. */
  readonly thinkMs: readonly [number, number]
  /** The head comes with the first output, or at once. */
  readonly isHeadLate: boolean
  readonly asksReasoning?: boolean
  readonly model?: Partial<Model>
  readonly main?: (at: number) => Conduct
  readonly reserve?: (at: number) => Conduct
  readonly restartEveryMs?: number
}

/** An attempt that was cut by a limit. */
interface Cut {
  readonly at: number
  readonly channel: string
  readonly waitedMs: number
  readonly hangs: boolean
  /** Answers of the channel before. */
  readonly answers: number
  readonly isMoved: boolean
}

export interface SilenceRecord {
  readonly cuts: Cut[]
  readonly offs: { readonly at: number; readonly channel: string }[]
  exchanges: number
  served: number
  failed: number
  /** The longest that a client waited beyond what the limits say while another channel was usable. */
  worstBeyondMs: number
  readonly answers: Map<string, number>
}

/** What the channel has shown, kept apart from what production learns. */
interface Shown {
  answers: number
  headMs: number
  outputMs: number
}

interface Running {
  readonly route: Route
  readonly lease: Lease
  readonly beganAt: number
  headAt: number | undefined
}

export class SilenceWorld {
  readonly clock = new VirtualClock()
  readonly record: SilenceRecord = {
    cuts: [],
    offs: [],
    exchanges: 0,
    served: 0,
    failed: 0,
    worstBeyondMs: 0,
    answers: new Map(),
  }
  readonly #plan: SilencePlan
  readonly #random: Random
  readonly #snapshot: Snapshot
  readonly #shown = new Map<string, Shown>()
  readonly #running = new Set<Running>()
  #book: HealthBook
  #openRoute: OpenRoute
  /** Grows with each restart: what began before is lost. */
  #life = 0

  constructor(plan: SilencePlan) {
    this.#plan = plan
    this.#random = seededRandom(plan.seed)
    this.#snapshot = makeSnapshot(
      [makeChannel('main', { rank: 0 }), makeChannel('reserve', { rank: 1 })],
      [makeModel(model, plan.model)],
    )
    this.#book = this.#open()
    this.#openRoute = this.#routes()
    this.#tick()
    this.#arrive()
    const { restartEveryMs } = plan
    if (restartEveryMs !== undefined)
      for (let at = restartEveryMs; at < plan.durationMs; at += restartEveryMs)
        this.clock.at(at, () => this.#restart())
  }

  run(): SilenceRecord {
    this.clock.runUntil(this.#plan.durationMs + 700 * second)
    return this.record
  }

  #open(): HealthBook {
    const life = this.#life
    const book = new HealthBook({
      clock: this.clock,
      random: seededRandom(this.#plan.seed * 31 + life),
      checkIntervalMs: 600 * second,
      failoverTokensMax: 100,
      onEffect: (effect, place) => this.#perform(effect, place, life),
    })
    book.follow(undefined, this.#snapshot)
    return book
  }

  #routes(): OpenRoute {
    const nothing = (): void => undefined
    const telemetry = { failedOver: nothing, firstEvent: nothing, attemptEnded: nothing }
    return createRoutes({ clock: this.clock, health: this.#book, settings, telemetry })
  }

  #restart(): void {
    const saved = [...this.#book.save()]
    this.#life++
    this.record.exchanges -= this.#running.size
    this.#running.clear()
    this.#book = this.#open()
    this.#book.restore(saved)
    this.#openRoute = this.#routes()
  }

  #tick(): void {
    if (this.clock.monotonic() >= this.#book.nextWakeAt()) this.#book.wake()
    for (const running of this.#running) this.#judgeWait(running)
    if (this.clock.monotonic() < this.#plan.durationMs + 600 * second)
      this.clock.after(second, () => this.#tick())
  }

  #perform(effect: PlacedEffect, { channel: name }: HealthPlace, life: number): void {
    const now = this.clock.monotonic()
    if (effect.kind === 'changed' && effect.to === 'off' && effect.from !== 'off')
      this.record.offs.push({ at: now, channel: name })
    if (effect.kind !== 'probe') return
    const channel = this.#snapshot.channels.get(name)
    if (channel === undefined) return
    for (let count = 0; count < effect.count; count++) {
      const probe = this.#book.begin(channel, model, { isProbe: true, form: effect.form })
      const { hangs } = this.#conduct(name)
      this.clock.after(hangs === true ? probeLimitMs : probeMs, () => {
        if (life !== this.#life) return
        if (hangs !== true) this.#book.answered(probe)
        this.#book.end(probe, { outcome: hangs === true ? 'hard' : 'ok', caller: undefined })
      })
    }
  }

  #conduct(channel: string): Conduct {
    const conduct = channel === 'main' ? this.#plan.main : this.#plan.reserve
    return conduct?.(this.clock.monotonic()) ?? {}
  }

  #arrive(): void {
    if (this.clock.monotonic() >= this.#plan.durationMs) return
    const gapMs = (-Math.log(1 - this.#random()) * second) / this.#plan.requestsPerSecond
    this.clock.after(gapMs, () => this.#arrive())
    const [least, most] = this.#plan.thinkMs
    const thinkMs = least * (most / least) ** this.#random()
    const keyId = `key-${Math.floor(this.#random() * 10)}`
    this.record.exchanges++
    const route = this.#openRoute({
      snapshot: this.#snapshot,
      model: this.#snapshot.models.get(model) ?? makeModel(model),
      operation: 'chat.completions.create',
      caller: { keyId, accountId: keyId },
      conversation: keyId,
      isStream: true,
      inputTokens: 500,
      asksReasoning: this.#plan.asksReasoning === true,
      isTimed: true,
    })
    this.#attempt(route, thinkMs, 1)
  }

  #attempt(route: Route, thinkMs: number, count: number): void {
    const lease = count > attemptsMax ? undefined : route.next()
    if (lease === undefined) {
      this.record.failed++
      return
    }
    const now = this.clock.monotonic()
    const running: Running = { route, lease, beganAt: now, headAt: undefined }
    this.#running.add(running)
    const { hangs = false, factor = 1 } = this.#conduct(lease.channel.name)
    const outputMs = thinkMs * factor * (0.9 + 0.2 * this.#random())
    const headMs = this.#plan.isHeadLate ? outputMs : quickHeadMs
    const isOn = (): boolean => this.#running.has(running)
    if (!hangs || !this.#plan.isHeadLate)
      this.clock.after(headMs, () => isOn() && this.#head(running))
    if (!hangs) this.clock.after(outputMs, () => isOn() && this.#answer(running))
    const watch = (): void => {
      if (!isOn()) return
      if (lease.patience.isOver()) this.#cut(running, { hangs, thinkMs, count })
      else this.clock.at(Math.max(lease.patience.dueMs, this.clock.monotonic() + 1), watch)
    }
    // The head moves the moment, so it is looked at each second.
    const look = (): void => {
      if (!isOn()) return
      if (this.clock.monotonic() >= lease.patience.dueMs) watch()
      else this.clock.after(second / 4, look)
    }
    look()
  }

  #head(running: Running): void {
    running.headAt = this.clock.monotonic()
    running.lease.patience.onHead()
  }

  #answer(running: Running): void {
    const { lease, beganAt, headAt = beganAt } = running
    const { name } = lease.channel
    this.#running.delete(running)
    const now = this.clock.monotonic()
    lease.answered(now - beganAt)
    this.record.served++
    this.record.answers.set(name, (this.record.answers.get(name) ?? 0) + 1)
    const shown = this.#shownOf(name)
    shown.answers++
    shown.headMs = Math.max(shown.headMs, headAt - beganAt)
    shown.outputMs = Math.max(shown.outputMs, now - headAt)
    const life = this.#life
    this.clock.after(restMs, () => {
      if (life === this.#life) lease.ended({ outcome: 'ok' })
    })
  }

  #cut(
    running: Running,
    { hangs, thinkMs, count }: { hangs: boolean; thinkMs: number; count: number },
  ): void {
    const { lease, route, beganAt } = running
    this.#running.delete(running)
    const { name } = lease.channel
    const at = this.clock.monotonic()
    this.record.cuts.push({
      at,
      channel: name,
      waitedMs: at - beganAt,
      hangs,
      answers: this.#shownOf(name).answers,
      isMoved: lease.moved !== undefined,
    })
    if (lease.moved !== undefined && !hangs) {
      const shown = this.#shownOf(name)
      shown.headMs = Math.max(shown.headMs, lease.moved.waitedMs)
      shown.outputMs = Math.max(shown.outputMs, lease.moved.waitedMs)
    }
    lease.ended({ outcome: 'hard', isRequestSuspect: true })
    this.#attempt(route, thinkMs, count + 1)
  }

  #shownOf(channel: string): Shown {
    let shown = this.#shown.get(channel)
    if (shown === undefined)
      this.#shown.set(channel, (shown = { answers: 0, headMs: 0, outputMs: 0 }))
    return shown
  }

  /** By the words of the contract, and not by the code. */
  #judgeWait({ route, lease, beganAt, headAt }: Running): void {
    if (!route.hasAlternative()) return
    const limitMs = this.#limitMs(lease.channel.name, headAt === undefined)
    const waitedMs = this.clock.monotonic() - (headAt ?? beganAt)
    this.record.worstBeyondMs = Math.max(this.record.worstBeyondMs, waitedMs - limitMs)
  }

  #limitMs(channel: string, isForHead: boolean): number {
    const { answers, headMs, outputMs } = this.#shownOf(channel)
    const { thinks } = this.#plan.model ?? {}
    if (isForHead && thinks === true) return Infinity
    const longestMs = 1.5 * (isForHead ? headMs : outputMs)
    if (answers >= 50) return Math.max(isForHead ? 10 * second : 20 * second, longestMs)
    const reasons = thinks === true || this.#plan.asksReasoning === true
    const unlearnedMs = isForHead ? 30 * second : reasons ? 600 * second : 60 * second
    return longestMs > unlearnedMs ? Infinity : unlearnedMs
  }
}
