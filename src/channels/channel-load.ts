/**
 * How many attempts run on each channel. They are counted by the channel's name alone: what an
 * operator's change leaves running still takes room at the vendor, until it ends.
 */
export interface ChannelLoad {
  begin(channel: string): void
  /** Exactly once for each `begin`. */
  end(channel: string): void
  running(channel: string): number
}

export function createChannelLoad(): ChannelLoad {
  const counts = new Map<string, number>()
  return {
    begin(channel) {
      counts.set(channel, (counts.get(channel) ?? 0) + 1)
    },
    end(channel) {
      const left = (counts.get(channel) ?? 0) - 1
      if (left > 0) counts.set(channel, left)
      else counts.delete(channel)
    },
    running: (channel) => counts.get(channel) ?? 0,
  }
}
