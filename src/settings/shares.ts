/**
 * Shares out among the processes of one supervisor what the settings say for all of them together. Part of
 * the composition root. A share is rounded up, and a limit of zero (none) stays zero.
 */
import { totalmem } from 'node:os'
import type { Config } from './list.ts'

/** What one process may use. */
export interface ProcessLimits {
  readonly connectionsMax: number
  readonly keylessPerAddressMax: number
  readonly failedSignInsMax: number
  readonly runningPerKeyMax: number
  readonly runningPerAccountMax: number
  readonly bodiesBytesMax: number
}

/** Of connections to a store on PostgreSQL. */
export interface StoreConnections {
  readonly money: number
  readonly other: number
  readonly operators: number
}

/** All bodies under way together take at most this part of the memory. */
const bodiesMemoryShare = 4
/** The heaps of all processes together grow to at most this part of the memory. */
const heapsMemoryShare = 2
const heapBytesMin = 201_326_592

function shareOf(total: number, processCount: number): number {
  return Math.ceil(total / processCount)
}

export function shareLimits(config: Config, processCount: number): ProcessLimits {
  const share = (total: number): number => shareOf(total, processCount)
  return {
    connectionsMax: share(config.connectionsMax),
    keylessPerAddressMax: share(config.connectionsPerAddressMax),
    failedSignInsMax: share(config.failedSignInsMax),
    runningPerKeyMax: share(config.runningPerKeyMax),
    runningPerAccountMax: share(config.runningPerAccountMax),
    bodiesBytesMax: share(config.bodiesBytesMax ?? memoryBytes() / bodiesMemoryShare),
  }
}

/** A lease on holds must not wait for two batches of charges, so money has three at least. */
export function shareConnections(processCount: number): StoreConnections {
  return {
    money: Math.max(3, shareOf(4, processCount)),
    other: Math.max(2, shareOf(4, processCount)),
    operators: shareOf(4, processCount),
  }
}

/**
 * Returns the largest heap of one process; undefined where Node's own limit is small enough.
 * `ownLimitBytes` is that limit.
 */
export function shareHeap(processCount: number, ownLimitBytes: number): number | undefined {
  const share = memoryBytes() / heapsMemoryShare / processCount
  return ownLimitBytes <= share ? undefined : Math.max(share, heapBytesMin)
}

/** The memory that the processes may use. */
function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
