/**
 * Gathers what is asked at about the same time into groups, so that one statement and one commit
 * serve many exchanges. While a group is under way the next one grows; a second one is sent beside it
 * only when it is worth a connection. Order is kept within a group, not between groups.
 */

export const groupSizeMax = 128
const groupsInFlightMax = 2
const sizeForSecondGroup = 32

export interface GroupEvents<Item> {
  /** Never rejects: what becomes of each item is the sender's business. */
  send(group: readonly Item[]): Promise<void>
  /** A group has ended, and whatever `send` did about it is done. */
  onEnded?(): void
}

export class Groups<Item> {
  readonly #events: GroupEvents<Item>
  #waiting: Item[] = []
  #inFlightCount = 0
  #isScheduled = false
  #isPaused = false

  constructor(events: GroupEvents<Item>) {
    this.#events = events
  }

  /** Bounded by whoever asks: nobody asks again before being answered. */
  add(item: Item): void {
    this.#waiting.push(item)
    this.#schedule()
  }

  /** Puts back what could not be sent, before everything else. */
  putBack(group: readonly Item[]): void {
    this.#waiting = [...group, ...this.#waiting]
  }

  get waiting(): readonly Item[] {
    return this.#waiting
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#inFlightCount === 0
  }

  /** Nothing is sent, and nothing is under way. */
  get isStopped(): boolean {
    return this.#isPaused && this.#inFlightCount === 0
  }

  /** Sends nothing until `resume`. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After the events of this turn, so that all that are asked in it share one statement.
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    while (this.#maySend()) void this.#sendGroup()
  }

  #maySend(): boolean {
    if (this.#isPaused || this.#waiting.length === 0) return false
    if (this.#inFlightCount === 0) return true
    return this.#inFlightCount < groupsInFlightMax && this.#waiting.length >= sizeForSecondGroup
  }

  async #sendGroup(): Promise<void> {
    const group = this.#waiting.slice(0, groupSizeMax)
    this.#waiting = this.#waiting.slice(groupSizeMax)
    this.#inFlightCount++
    try {
      await this.#events.send(group)
    } finally {
      this.#inFlightCount--
    }
    this.#events.onEnded?.()
    this.#schedule()
  }
}
