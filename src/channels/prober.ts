/**
 * Sends the checks that health asks for: a request of the gateway's own settles what traffic leaves
 * in doubt. A check counts like an attempt and is charged to no account; what it costs is told, so
 * that it can be booked to the operator. The invariant: what is asked for is sent, in the order and
 * at the pace of the channel's line (`check-line.ts`), unless it must not be or no longer applies.
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { Snapshot } from './channel.ts'
import { checkChannel, type CheckResult } from './check.ts'
import { createCheckLine, type CheckLine } from './check-line.ts'
import type { HealthBook } from './health-book.ts'
import { isInUse, type Outcome } from './health-event.ts'
import { renewalOf, type HealthPlace } from './health-place.ts'
import type { Upstream } from './upstream.ts'

export interface ProberParts {
  readonly clock: Clock
  readonly upstream: Upstream
  readonly snapshot: () => Snapshot
  readonly health: () => HealthBook
  readonly onError: (error: unknown) => void
  /** Told of each check that has ended, after health has. */
  readonly onChecked?: (place: HealthPlace, result: CheckResult) => void
}

export interface Prober {
  /** Checks one model on one channel so many times, as soon as it may, unless it must not be checked. */
  probe(place: HealthPlace, count?: number): void
  /** Takes the catalogue in: what was asked of a channel before it was renewed is of no account. */
  follow(previous: Snapshot, next: Snapshot): void
  /** Nothing that waits is sent any more. */
  close(): void
}

/** One channel's line, and the timer for whoever is next in it. */
interface Served {
  readonly channel: string
  readonly line: CheckLine
  timer: Timer | undefined
}

const checkTimeoutMs = 30_000

export function createProber(parts: ProberParts): Prober {
  const { clock } = parts
  const served = new Map<string, Served>()

  function servedOf(channel: string): Served {
    let one = served.get(channel)
    if (one === undefined) {
      const line = createCheckLine({
        isInUse: (model) => isInUse(parts.health().state(channel, model)),
        hasRoom: () => parts.health().mayProbe(channel),
      })
      served.set(channel, (one = { channel, line, timer: undefined }))
    }
    return one
  }

  function forget(one: Served): void {
    one.timer?.cancel()
    served.delete(one.channel)
  }

  /** Undefined where it must not be checked. */
  async function check(place: HealthPlace): Promise<Outcome | undefined> {
    const { vendors, channels } = parts.snapshot()
    const channel = channels.get(place.channel)
    const vendor = channel === undefined ? undefined : vendors.get(channel.vendor)
    if (channel === undefined || vendor === undefined) return undefined
    if (channel.check === 'none' || channel.override === 'disabled') return undefined
    const { model } = place
    if (!channel.models.has(model)) return undefined
    const health = parts.health()
    const request = { vendor, channel, model, by: channel.check, timeoutMs: checkTimeoutMs }
    const attempt = health.begin(channel, model, { isProbe: true })
    let result: CheckResult | undefined
    try {
      result = await checkChannel(request, parts)
    } finally {
      const { outcome = 'nobody', retryAfterMs } = result ?? {}
      // A listing is no measure of how long a model takes.
      if (outcome === 'ok' && channel.check === 'request') health.answered(attempt)
      health.end(attempt, { outcome, retryAfterMs, caller: undefined })
    }
    if (result.outcome === 'nobody') return undefined
    parts.onChecked?.(place, result)
    return result.outcome
  }

  async function send(one: Served, model: string): Promise<void> {
    let outcome: Outcome | undefined
    try {
      outcome = await check({ channel: one.channel, model })
    } catch (error) {
      parts.onError(error)
    }
    one.line.ended(model, outcome === 'ok' || outcome === 'client', clock.monotonic())
    sendNext(one)
  }

  function sendNext(one: Served): void {
    one.timer?.cancel()
    // A channel that has been renewed has another line.
    if (served.get(one.channel) !== one) return
    const now = clock.monotonic()
    for (let model = one.line.take(now); model !== undefined; model = one.line.take(now))
      void send(one, model)
    const nextAt = one.line.nextAt(now)
    if (nextAt < Number.POSITIVE_INFINITY)
      one.timer = clock.after(nextAt - now, () => sendNext(one))
  }

  return {
    probe({ channel, model }, count = 1) {
      const one = servedOf(channel)
      one.line.ask(model, count)
      sendNext(one)
    },
    follow(previous, next) {
      for (const one of served.values()) {
        const channel = next.channels.get(one.channel)
        const isRenewed =
          channel === undefined ||
          renewalOf(previous.channels.get(one.channel), channel) !== undefined
        if (isRenewed) forget(one)
      }
    },
    close() {
      for (const one of served.values()) forget(one)
    },
  }
}
