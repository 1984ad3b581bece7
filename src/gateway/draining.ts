/**
 * Ends a gateway without breaking running requests: `drain` refuses new requests and lets running ones
 * finish, `retire` leaves new connections to other processes. Both have a bound, and then cut the rest.
 */
import type { RunningLimits } from '../access/limits.ts'
import { sleep, type Clock } from '../base/clock.ts'
import type { Watchdog } from '../base/watchdog.ts'
import type { Listener } from '../http/server/listener.ts'
import type { EventFeed } from '../operations/events/feed.ts'

export interface DrainParts {
  readonly clock: Clock
  readonly running: RunningLimits
  readonly watchdog: Watchdog
  readonly events: EventFeed
  readonly clients: Listener
  readonly operators: Listener
  readonly close: () => Promise<void>
}

/** After the drain timeout: time to settle the cut exchanges, and time to flush written answers. */
const settleTimeMs = 5_000
const pollMs = 50
/** For work that waits for the store, which a large read of an operator can hold. */
const closeTimeMs = 30_000

export async function drain(parts: DrainParts, timeoutMs: number): Promise<void> {
  const { clock, events, clients, watchdog } = parts
  const isIdle = (): boolean => parts.running.runningCount === 0
  // Readers of events go on at another gateway.
  await events.close()
  // The listeners stay open, so that new requests get a refusal and not a closed connection.
  await until(isIdle, timeoutMs, clock)
  watchdog.cutAll()
  await until(isIdle, settleTimeMs, clock)
  await until(() => isUnused(clients), settleTimeMs, clock)
  await closeWithin(parts)
}

/**
 * A kept connection ends with its next answer, which says so, or when its usual keep-alive time is over: a
 * client cannot tell that from any other end of a connection, and no request meets it.
 */
export async function retire(parts: DrainParts, timeoutMs: number): Promise<void> {
  const { clock, events, clients, operators, watchdog } = parts
  const isIdle = (): boolean => parts.running.runningCount === 0
  await events.close()
  clients.stopAccepting()
  void operators.drain()
  const isDone = (): boolean => clients.connectionCount() === 0 && isIdle()
  await until(isDone, timeoutMs, clock)
  watchdog.cutAll()
  await until(() => isUnused(clients) && isIdle(), settleTimeMs, clock)
  await until(() => isUnused(operators), settleTimeMs, clock)
  await closeWithin(parts)
}

/** Closes everything. Parts that do not close in time end with the process. */
async function closeWithin({ clock, close }: DrainParts): Promise<void> {
  await Promise.race([close(), sleep(clock, closeTimeMs)])
}

/** Closes idle connections, and returns whether none is left: slow readers have taken their answers. */
function isUnused(listener: Listener): boolean {
  void listener.drain()
  return listener.connectionCount() === 0
}

/** Waits for the condition, at most `timeoutMs`. */
async function until(isTrue: () => boolean, timeoutMs: number, clock: Clock): Promise<void> {
  const untilMs = clock.monotonic() + timeoutMs
  while (!isTrue() && clock.monotonic() < untilMs) await sleep(clock, pollMs)
}
