/**
 * The live feed: tells its listeners which lists have changed, by any program. One round a second
 * serves all listeners of this process; without listeners nothing is read. Invariant: a listener that
 * may no longer listen is ended within two rounds.
 */
import { every, type Clock, type Timer } from '../../base/clock.ts'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { FindChanged, WatchedList } from './lists.ts'

export interface Listener {
  /** The admin token that it has or that its session is of. */
  readonly tokenId: string
  /** Must not block. */
  readonly onChanged: (lists: readonly WatchedList[]) => void
  /** Nothing has changed for a while. */
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
  /** Resolves when what changes from now on will be found. */
  readonly watch: () => Promise<FindChanged>
  readonly onError: (error: unknown) => void
}

const roundMs = 1_000
const quietMs = 15_000
export const listenersMax = 32
/** Of one token: the tabs of a few browsers. */
export const listenersPerTokenMax = 8

const tooMany = refuse(
  'relay.overloaded',
  `This gateway cannot send events to another reader: it stops, or ${listenersMax} are reading already. Try again later, or at another gateway.`,
  { 'retry-after': '5' },
)
const tooManyOfToken = refuse(
  'access.too_many_running',
  `${listenersPerTokenMax} connections of this token read events already. Close one of them, or use another token.`,
  { 'retry-after': '5' },
)

export class EventFeed {
  readonly #parts: FeedParts
  /** Monotonic time of what each listener got last. */
  readonly #listeners = new Map<Listener, number>()
  #findChanged: Promise<FindChanged> | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor(parts: FeedParts) {
    this.#parts = parts
  }

  /**
   * Resolves when the listener will hear of all later changes. Refuses where there are too many listeners,
   * or the feed is closed. Rejects where the store does not answer.
   */
  async listen(listener: Listener): Promise<Listening | Refusal> {
    if (this.#isClosed || this.#listeners.size >= listenersMax) return tooMany
    const own = [...this.#listeners.keys()].filter(({ tokenId }) => tokenId === listener.tokenId)
    if (own.length >= listenersPerTokenMax) return tooManyOfToken
    const { clock, watch, onError } = this.#parts
    this.#listeners.set(listener, clock.monotonic())
    this.#findChanged ??= watch()
    this.#timer ??= every(clock, roundMs, () => this.#round(), onError)
    try {
      await this.#findChanged
    } catch (error) {
      this.#forget(listener)
      throw error
    }
    return { stop: () => void this.#forget(listener) }
  }

  /** Ends all listeners; no other can come. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#listeners.keys()].map((listener) => this.#end(listener)))
  }

  async #round(): Promise<void> {
    await this.#endForbidden()
    try {
      const lists = (await (await this.#findChanged)?.()) ?? []
      if (lists.length > 0)
        for (const listener of this.#listeners.keys()) this.#tell(listener, lists)
    } finally {
      this.#tellQuiet()
    }
  }

  #tell(listener: Listener, lists: readonly WatchedList[]): void {
    this.#listeners.set(listener, this.#parts.clock.monotonic())
    listener.onChanged(lists)
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
    if (this.#forget(listener)) await listener.onEnd()
  }

  /** Returns whether it was listening. The next one after the last begins anew. */
  #forget(listener: Listener): boolean {
    const isListening = this.#listeners.delete(listener)
    if (this.#listeners.size === 0) {
      this.#timer?.cancel()
      this.#timer = undefined
      this.#findChanged = undefined
    }
    return isListening
  }
}
