/**
 * Gathers what is asked at about the same time into groups, so that one statement and one commit
 * serve many exchanges. Each kind waits in a lane of its own, and a trip to the server takes a group
 * from every lane. While one is under way the next groups grow; a second one is sent beside it only
 * when it is worth a connection. Order is kept within a group, not between groups.
 */

const groupSizeMax = 128
const tripsMax = 2
const sizeForSecondTrip = 32

/** What waits to be sent, and whether it may be. */
export class Lane<Item> {
  readonly #onAdded: () => void
  #waiting: Item[] = []
  #groupsUnderWay = 0
  #isPaused = false

  /** `onAdded` is told whenever there is something to send. */
  constructor(onAdded: () => void) {
    this.#onAdded = onAdded
  }

  /** Bounded by whoever asks: nobody asks again before being answered. */
  add(item: Item): void {
    this.#waiting.push(item)
    this.#onAdded()
  }

  /** Puts back what could not be sent, before everything else. */
  putBack(group: readonly Item[]): void {
    this.#waiting = [...group, ...this.#waiting]
  }

  get waiting(): readonly Item[] {
    return this.#waiting
  }

  get sendableCount(): number {
    return this.#isPaused ? 0 : this.#waiting.length
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#groupsUnderWay === 0
  }

  /** Nothing is sent, and nothing is under way. */
  get isStopped(): boolean {
    return this.#isPaused && this.#groupsUnderWay === 0
  }

  /** Sends nothing until `resume`. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#onAdded()
  }

  /** The next group, on its way until `finish`; empty where there is nothing to send. */
  take(): readonly Item[] {
    const group = this.#waiting.slice(0, this.#isPaused ? 0 : groupSizeMax)
    this.#waiting = this.#waiting.slice(group.length)
    this.#groupsUnderWay++
    return group
  }

  /** What became of each item of a group has been said. */
  finish(): void {
    this.#groupsUnderWay--
  }
}

/** When to go, and how many at once. */
export class Trips {
  readonly #countSendable: () => number
  readonly #go: () => Promise<void>
  #underWay = 0
  #isScheduled = false

  /** `go` takes a group of every lane before it first waits, and never rejects. */
  constructor(countSendable: () => number, go: () => Promise<void>) {
    this.#countSendable = countSendable
    this.#go = go
  }

  schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After the events of this turn, so that all that are asked in it share one statement.
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#mayGo()) void this.#travel()
    })
  }

  #mayGo(): boolean {
    const count = this.#countSendable()
    if (count === 0) return false
    return this.#underWay === 0 || (this.#underWay < tripsMax && count >= sizeForSecondTrip)
  }

  async #travel(): Promise<void> {
    this.#underWay++
    try {
      await this.#go()
    } finally {
      this.#underWay--
    }
    this.schedule()
  }
}
