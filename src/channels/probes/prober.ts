/**
 * Sends the probes that health requests. A probe counts like an attempt and is charged to no account; its
 * cost is reported, so that it can be booked to the operator. Invariant: every requested probe is sent,
 * in the order and at the pace of `probe-queue.ts`, unless the channel must not be probed any more.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import type { ForwardedOperation } from '../../formats/format.ts'
import type { Snapshot, Vendor } from '../channel.ts'
import { checkOperation } from '../offer.ts'
import { checkChannel, type CheckResult } from './check.ts'
import { createProbeQueue, type ProbeQueue, type ProbeTarget } from './probe-queue.ts'
import type { HealthBook } from '../health/health-book.ts'
import type { Form, Outcome } from '../health/health-event.ts'
import { renewalOf, type HealthPlace } from '../health/health-place.ts'
import { isInUse } from '../health/health-state.ts'
import { unknownLimitMs } from '../health/timing.ts'
import type { Upstream } from '../../http/client/upstream.ts'

export interface ProberParts {
  readonly clock: Clock
  readonly upstream: Upstream
  readonly snapshot: () => Snapshot
  readonly health: () => HealthBook
  readonly onError: (error: unknown) => void
  /** Receives each probe that has ended, after health has. */
  readonly onChecked?: (place: HealthPlace, result: CheckResult) => void
}

interface ProbeRequest {
  readonly count?: number
  readonly form?: Form
}

/** One channel's queue, and the timer for its next probe. */
interface Served {
  readonly channel: string
  readonly queue: ProbeQueue
  timer: Timer | undefined
}

export class Prober {
  readonly #parts: ProberParts
  readonly #served = new Map<string, Served>()

  constructor(parts: ProberParts) {
    this.#parts = parts
  }

  /**
   * Requests probes of one model on one channel. Without a form they are of the form that can
   * bring the channel back, and whole for a channel in use.
   */
  probe({ channel, model }: HealthPlace, { count = 1, form }: ProbeRequest = {}): void {
    const one = this.#servedOf(channel)
    one.queue.add({ model, form: form ?? this.#usualForm({ channel, model }) }, count)
    this.#sendNext(one)
  }

  /**
   * Checks one model at once, because an operator requests it. Where probes are sent, it is one of them;
   * otherwise health does not learn it. Undefined where the catalogue has no such model.
   */
  async checkNow(place: HealthPlace): Promise<CheckResult | undefined> {
    const { vendors, channels } = this.#parts.snapshot()
    const channel = channels.get(place.channel)
    const vendor = vendors.get(channel?.vendor ?? '')
    if (channel === undefined || vendor === undefined) return undefined
    const { model } = place
    if (!channel.models.has(model)) return undefined
    if (channel.check !== 'none' && channel.override === 'enabled')
      return this.#check(place, this.#usualForm(place))
    const by = channel.check === 'models' ? 'models' : 'request'
    const result = await checkChannel(
      {
        vendor,
        channel,
        model,
        operation: this.#operationFor(vendor, model),
        by,
        timeoutMs: unknownLimitMs,
      },
      this.#parts,
    )
    if (result.outcome !== 'nobody') this.#parts.onChecked?.(place, result)
    return result
  }

  #usualForm({ channel, model }: HealthPlace): Form {
    const state = this.#parts.health().state(channel, model)
    return isInUse(state) ? 'whole' : state.form
  }

  #operationFor(vendor: Vendor, model: string): ForwardedOperation {
    const { snapshot, clock } = this.#parts
    return checkOperation(vendor, model, { models: snapshot().models, nowMs: clock.now() })
  }

  /** Takes over a new catalogue: requests from before an operator renewed the channel are dropped. */
  follow(previous: Snapshot, next: Snapshot): void {
    for (const one of this.#served.values()) {
      const channel = next.channels.get(one.channel)
      const isRenewed =
        channel === undefined ||
        renewalOf(previous.channels.get(one.channel), channel) !== undefined
      if (isRenewed) this.#forget(one)
    }
  }

  /** Drops all requests; a probe that has been sent still ends. */
  close(): void {
    for (const one of this.#served.values()) this.#forget(one)
  }

  #servedOf(channel: string): Served {
    let one = this.#served.get(channel)
    if (one === undefined) {
      const parts = this.#parts
      const queue = createProbeQueue({
        isInUse: (model) => isInUse(parts.health().state(channel, model)),
        hasRoom: () => parts.health().mayProbe(channel),
      })
      this.#served.set(channel, (one = { channel, queue, timer: undefined }))
    }
    return one
  }

  #forget(one: Served): void {
    one.timer?.cancel()
    this.#served.delete(one.channel)
  }

  #sendNext(one: Served): void {
    one.timer?.cancel()
    // A renewed channel has another queue.
    if (this.#served.get(one.channel) !== one) return
    const { clock } = this.#parts
    const now = clock.monotonic()
    for (let next = one.queue.take(now); next !== undefined; next = one.queue.take(now))
      void this.#send(one, next)
    const nextAt = one.queue.nextAt(now)
    if (nextAt < Number.POSITIVE_INFINITY)
      one.timer = clock.after(nextAt - now, () => this.#sendNext(one))
  }

  async #send(one: Served, target: ProbeTarget): Promise<void> {
    let outcome: Outcome | undefined
    try {
      const place = { channel: one.channel, model: target.model }
      outcome = (await this.#check(place, target.form))?.outcome
    } catch (error) {
      this.#parts.onError(error)
    }
    one.queue.ended(target, outcome === 'ok' || outcome === 'client', this.#parts.clock.monotonic())
    this.#sendNext(one)
  }

  /** Undefined where the channel must not be probed. */
  async #check(place: HealthPlace, form: Form): Promise<CheckResult | undefined> {
    const { vendors, channels } = this.#parts.snapshot()
    const channel = channels.get(place.channel)
    const vendor = channel === undefined ? undefined : vendors.get(channel.vendor)
    if (channel === undefined || vendor === undefined) return undefined
    if (channel.check === 'none' || channel.override === 'disabled') return undefined
    const { model } = place
    if (!channel.models.has(model)) return undefined
    const health = this.#parts.health()
    const operation = this.#operationFor(vendor, model)
    const asked = { vendor, channel, model, operation, by: channel.check, form }
    const attempt = health.begin(channel, model, { isProbe: true, form })
    let result: CheckResult | undefined
    try {
      result = await checkChannel({ ...asked, timeoutMs: unknownLimitMs }, this.#parts)
    } finally {
      const { outcome = 'nobody', retryAfterMs } = result ?? {}
      // A listing is no measure of how long a model takes.
      if (outcome === 'ok' && channel.check === 'request') health.answered(attempt)
      health.end(attempt, { outcome, retryAfterMs, caller: undefined })
    }
    if (result.outcome !== 'nobody') this.#parts.onChecked?.(place, result)
    return result
  }
}
