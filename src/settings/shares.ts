/**
 * Divides the limits of the settings, which hold for all processes of a supervisor, among these. Part of
 * the composition root. A share is rounded up, and a limit of zero (none) stays zero.
 */
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { GatewayError } from '../base/errors.ts'
import type { Config } from './list.ts'

/** The share of one process. */
export interface ProcessLimits {
  readonly connectionsMax: number
  readonly adminConnectionsMax: number
  /** To all vendors together. */
  readonly upstreamConnectionsMax: number
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

/** Of the files that a process may have open, these are not for clients and vendors. */
const openFilesKept = 256
/** Of those kept, for the admin listener. */
const adminConnectionsMax = 128
const openFilesMin = 512

/** Returns how many files this process may have open, where Linux says it. Node has raised the soft limit. */
function readOpenFilesMax(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}

/** Half of them for connections of clients, half for those to vendors: each request may need one of both. */
function connectionsWithin(openFilesMax: number): number {
  if (openFilesMax < openFilesMin)
    throw new GatewayError(
      'operations.invalid',
      `This process may have ${openFilesMax} files open, and a gateway needs ${openFilesMin}. Raise the limit: ulimit -n, or LimitNOFILE in systemd.`,
    )
  return Math.floor((openFilesMax - openFilesKept) / 2)
}

function shareOf(total: number, processCount: number): number {
  return Math.ceil(total / processCount)
}

export function shareLimits(
  config: Config,
  processCount: number,
  openFilesMax = readOpenFilesMax(),
): ProcessLimits {
  const share = (total: number): number => shareOf(total, processCount)
  const upstreamConnectionsMax = connectionsWithin(openFilesMax)
  const connectionsMax = Math.min(share(config.connectionsMax), upstreamConnectionsMax)
  return {
    connectionsMax,
    adminConnectionsMax: Math.min(connectionsMax, adminConnectionsMax),
    upstreamConnectionsMax,
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
