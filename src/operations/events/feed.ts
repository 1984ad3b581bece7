/**
 * The live feed of events: one reader for all listeners of this process. It reads the store about once a
 * second, only while somebody listens, and sees what every gateway on the store has written. Invariants:
 * work runs one piece after the other, so a listener that comes back misses nothing; a listener that may no
 * longer listen is ended within two rounds.
 */
import { every, type Clock, type Timer } from '../../base/clock.ts'
import { formatCursor, type EventKind, type FeedEvent, type Positions } from './event.ts'
import { EventReader } from './reader.ts'
import type { Source } from './sources.ts'

export interface Listener {
  readonly kinds: ReadonlySet<EventKind>
  /** Where an earlier connection stopped; undefined = from now on. */
  readonly after: Positions | undefined
  /** Gets events, perhaps none, and the cursor behind them. Must not block. */
  readonly onEvents: (events: readonly FeedEvent[], cursor: string) => void
  /** Nothing has come for a while. */
  readonly onQuiet: () => void
  /** Called once, where the feed ends the listener; resolves when its reader has all it can get. */
  readonly onEnd: () => Promise<void>
  /** Whether it may still listen. */
  readonly isAllowed: () => Promise<boolean>
}

export interface Listening {
  /** No call follows. */
  stop(): void
}

export interface FeedParts {
  readonly clock: Clock
  readonly sources: readonly Source[]
  readonly onError: (error: unknown) => void
}

const roundMs = 1_000
const quietMs = 15_000
export const listenersMax = 32

export class EventFeed {
  readonly #parts: FeedParts
  /** Monotonic time of what each listener got last. */
  readonly #listeners = new Map<Listener, number>()
  #reader: EventReader | undefined
  #timer: Timer | undefined
  /** Listeners that wait for their first call count too. */
  #joiningCount = 0
  #isClosed = false
  #work: Promise<void> = Promise.resolve()

  constructor(parts: FeedParts) {
    this.#parts = parts
  }

  /**
   * Resolves when the listener has got its first call: what it missed since `after`, and a cursor. From
   * then on it gets everything. Undefined where there are too many listeners, or the feed is closed. Rejects
   * where the store does not answer.
   */
  async listen(listener: Listener): Promise<Listening | undefined> {
    if (this.#isClosed || this.#listeners.size + this.#joiningCount >= listenersMax)
      return undefined
    this.#joiningCount++
    try {
      await this.#enqueue(() => this.#join(listener))
    } finally {
      this.#joiningCount--
      this.#restIfUnused()
    }
    return {
      stop: () => {
        this.#listeners.delete(listener)
        this.#restIfUnused()
      },
    }
  }

  /** Ends all listeners; no other can come. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#listeners.keys()].map((listener) => this.#end(listener)))
  }

  /** Runs a round now. */
  round(): Promise<void> {
    return this.#enqueue(() => this.#round())
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work)
    // The caller reports its failure; the next piece of work must still run.
    this.#work = done.catch(() => undefined)
    return done
  }

  async #join(listener: Listener): Promise<void> {
    const { clock, sources, onError } = this.#parts
    const reader = (this.#reader ??= await EventReader.open(clock, sources))
    const { after, kinds } = listener
    const missed = after === undefined ? [] : await reader.since(after, kinds)
    if (this.#isClosed) return listener.onEnd()
    this.#listeners.set(listener, clock.monotonic())
    listener.onEvents(missed, formatCursor(reader.positions()))
    this.#timer ??= every(clock, roundMs, () => this.round(), onError)
  }

  async #round(): Promise<void> {
    await this.#endForbidden()
    const reader = this.#reader
    if (reader === undefined || this.#listeners.size === 0) return
    try {
      const events = await reader.step()
      const cursor = formatCursor(reader.positions())
      for (const listener of this.#listeners.keys()) this.#tell(listener, events, cursor)
    } finally {
      this.#tellQuiet()
    }
  }

  #tell(listener: Listener, events: readonly FeedEvent[], cursor: string): void {
    const wanted = events.filter(({ kind }) => listener.kinds.has(kind))
    if (wanted.length === 0) return
    this.#listeners.set(listener, this.#parts.clock.monotonic())
    listener.onEvents(wanted, cursor)
  }

  #tellQuiet(): void {
    const nowMs = this.#parts.clock.monotonic()
    for (const [listener, toldMs] of this.#listeners) {
      if (nowMs - toldMs < quietMs) continue
      this.#listeners.set(listener, nowMs)
      listener.onQuiet()
    }
  }

  async #endForbidden(): Promise<void> {
    for (const listener of this.#listeners.keys()) {
      // Where the store does not answer, it is not known; the next round asks again.
      const isAllowed = await listener.isAllowed().catch(() => true)
      if (!isAllowed) void this.#end(listener)
    }
  }

  async #end(listener: Listener): Promise<void> {
    const isListening = this.#listeners.delete(listener)
    this.#restIfUnused()
    if (isListening) await listener.onEnd()
  }

  /** Without listeners nothing is read, and the next one begins at the then newest rows. */
  #restIfUnused(): void {
    if (this.#listeners.size > 0 || this.#joiningCount > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
    this.#reader = undefined
  }
}
