/**
 * Counts the attempts that run on each channel, traffic and probes separately. It counts by the channel's
 * name alone: an attempt from before an operator's change still takes room at the vendor until it ends.
 * Invariant: a probe never takes a client's place under the concurrency limit.
 */
import type { Channel } from './channel.ts'

export interface ChannelLoad {
  begin(attempt: Counted): void
  /** Exactly once for each `begin`. */
  end(attempt: Counted): void
  /** Attempts of traffic. */
  running(channel: string): number
  probing(channel: string): number
  /**
   * Whether the concurrency limit leaves room for a probe. One probe at a time is always allowed: a
   * channel that is always full must be checked too.
   */
  mayProbe(channel: Channel): boolean
}

interface Counted {
  readonly channel: Channel
  readonly isProbe: boolean
}

export function createChannelLoad(): ChannelLoad {
  const running = new Map<string, number>()
  const probing = new Map<string, number>()
  const of = (counts: ReadonlyMap<string, number>, name: string): number => counts.get(name) ?? 0
  return {
    begin({ channel: { name }, isProbe }) {
      const counts = isProbe ? probing : running
      counts.set(name, of(counts, name) + 1)
    },
    end({ channel: { name }, isProbe }) {
      const counts = isProbe ? probing : running
      const left = of(counts, name) - 1
      if (left > 0) counts.set(name, left)
      else counts.delete(name)
    },
    running: (name) => of(running, name),
    probing: (name) => of(probing, name),
    mayProbe({ name, maxConcurrent }) {
      if (maxConcurrent === undefined || of(probing, name) === 0) return true
      return of(running, name) + of(probing, name) < maxConcurrent
    },
  }
}
