/**
 * Sends the checks that health asks for: a request of the gateway's own settles what traffic leaves
 * in doubt. A check counts like an attempt and is charged to no account; what it costs is told, so
 * that it can be booked to the operator. The invariant: single checks of one channel stay within
 * `checksPerMinuteMax`; only the few that decide about a channel in doubt go beyond it.
 */
import type { Clock } from '../base/clock.ts'
import type { Snapshot } from './channel.ts'
import { checkChannel, type CheckResult } from './check.ts'
import type { HealthBook } from './health-book.ts'
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
  /** Checks one model on one channel so many times at once, unless it must not be checked. */
  probe(place: HealthPlace, count?: number): void
  /** Takes the catalogue in: what was asked of a channel before it was renewed is of no account. */
  follow(previous: Snapshot, next: Snapshot): void
}

/** What is known of the checks of one channel. */
interface CheckLine {
  /** Under way, by model. */
  readonly running: Map<string, number>
  /** When the last ones were sent, oldest first. */
  sent: number[]
}

const checkTimeoutMs = 30_000
const checksPerMinuteMax = 12
const minuteMs = 60_000

export function createProber(parts: ProberParts): Prober {
  const lines = new Map<string, CheckLine>()

  function lineOf(channel: string): CheckLine {
    let line = lines.get(channel)
    if (line === undefined) lines.set(channel, (line = { running: new Map(), sent: [] }))
    return line
  }

  function maySend(line: CheckLine, count: number): boolean {
    const now = parts.clock.monotonic()
    const recent = line.sent.filter((at) => now - at < minuteMs)
    const isAllowed = count > 1 || recent.length < checksPerMinuteMax
    if (isAllowed) for (let index = 0; index < count; index++) recent.push(now)
    line.sent = recent
    return isAllowed
  }

  async function check(place: HealthPlace): Promise<void> {
    const { vendors, channels } = parts.snapshot()
    const channel = channels.get(place.channel)
    const vendor = channel === undefined ? undefined : vendors.get(channel.vendor)
    if (channel === undefined || vendor === undefined) return
    if (channel.check === 'none' || channel.override === 'disabled') return
    const { model } = place
    const health = parts.health()
    const attempt = health.begin(channel, model, { isProbe: true })
    const request = { vendor, channel, model, by: channel.check, timeoutMs: checkTimeoutMs }
    const result = await checkChannel(request, parts)
    const { outcome, retryAfterMs } = result
    // A listing is no measure of how long a model takes.
    if (outcome === 'ok' && channel.check === 'request') health.answered(attempt)
    health.end(attempt, { outcome, retryAfterMs, caller: undefined })
    parts.onChecked?.(place, result)
  }

  function start({ running }: CheckLine, place: HealthPlace): void {
    const { model } = place
    running.set(model, (running.get(model) ?? 0) + 1)
    void check(place)
      .catch(parts.onError)
      .finally(() => {
        const left = (running.get(model) ?? 1) - 1
        if (left > 0) running.set(model, left)
        else running.delete(model)
      })
  }

  return {
    probe(place, count = 1) {
      const line = lineOf(place.channel)
      // One that is under way answers for a second one; a burst is asked for on purpose.
      if (count === 1 && line.running.has(place.model)) return
      if (!maySend(line, count)) return
      for (let index = 0; index < count; index++) start(line, place)
    },
    follow(previous, next) {
      for (const name of lines.keys()) {
        const channel = next.channels.get(name)
        const isRenewed =
          channel === undefined || renewalOf(previous.channels.get(name), channel) !== undefined
        if (isRenewed) lines.delete(name)
      }
    },
  }
}
