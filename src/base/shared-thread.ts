/**
 * A service that several askers share and that runs only while it is used. It answers one question at a
 * time, and of each asker one waits for it, so that an asker with many keeps the others waiting for one at
 * most. Invariant: a question that takes too long, or that the thread does not survive, is without an answer,
 * and no other is.
 */
import type { Clock, Timer } from './clock.ts'
import type { ThreadService } from './thread.ts'

export interface SharedThreadOptions<Question, Answer> {
  readonly clock: Clock
  readonly open: (onLost: (error: unknown) => void) => ThreadService<Question, Answer>
  /** Called for each thread that died unexpectedly or took too long. */
  readonly onLost: (error: unknown) => void
}

/** A question, and the memory that moves to the thread with it. */
export interface Asking<Question> {
  readonly question: Question
  readonly moved: readonly ArrayBuffer[]
}

/** The largest body, of the worst shape, takes a tenth of this on a slow machine. */
const questionLimitMs = 60_000
/** A thread without work gives its memory back after this time. */
const idleMs = 30_000

export class SharedThread<Question, Answer> {
  readonly #options: SharedThreadOptions<Question, Answer>
  /** By asker: settles when its last question has been answered. */
  readonly #turns = new Map<string, Promise<unknown>>()
  #last: Promise<unknown> = Promise.resolve()
  #waitingCount = 0
  #thread: ThreadService<Question, Answer> | undefined
  #idle: Timer | undefined
  #isClosed = false

  constructor(options: SharedThreadOptions<Question, Answer>) {
    this.#options = options
  }

  /**
   * Asks in turn. `prepare` is called when the thread is free, and returns undefined where no answer is
   * needed any more. Resolves with undefined where there is no answer.
   */
  ask(
    asker: string,
    prepare: () => Asking<Question> | undefined | Promise<Asking<Question> | undefined>,
  ): Promise<Answer | undefined> {
    const askNext = (): Promise<Answer | undefined> => this.#askNext(prepare)
    const before = this.#turns.get(asker) ?? Promise.resolve()
    const turn = before.then(askNext, askNext)
    this.#turns.set(asker, turn)
    return turn.finally(() => {
      if (this.#turns.get(asker) === turn) this.#turns.delete(asker)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#idle?.cancel()
    await this.#endThread()
  }

  #askNext(
    prepare: Parameters<SharedThread<Question, Answer>['ask']>[1],
  ): Promise<Answer | undefined> {
    this.#waitingCount++
    this.#idle?.cancel()
    const asked = this.#last.then(async () => {
      const asking = this.#isClosed ? undefined : await prepare()
      return asking && this.#askThread(asking)
    })
    this.#last = asked
      .catch(() => undefined)
      .finally(() => {
        this.#waitingCount--
        if (this.#waitingCount === 0) this.#endWhenIdle()
      })
    return asked
  }

  async #askThread({ question, moved }: Asking<Question>): Promise<Answer | undefined> {
    const { clock, onLost } = this.#options
    const late = clock.after(questionLimitMs, () => {
      onLost(new Error('the thread took too long'))
      void this.#endThread()
    })
    try {
      const thread = (this.#thread ??= this.#open())
      return await thread.ask(question, moved)
    } catch (error) {
      // A thread that is lost has been reported.
      if (this.#thread !== undefined) throw error
      return undefined
    } finally {
      late.cancel()
    }
  }

  /** Where no thread can start, that is reported as its loss. */
  #open(): ThreadService<Question, Answer> {
    const { open, onLost } = this.#options
    const lose = (error: unknown): void => {
      this.#thread = undefined
      onLost(error)
    }
    try {
      return open(lose)
    } catch (error) {
      lose(error)
      throw error
    }
  }

  #endWhenIdle(): void {
    if (this.#isClosed || this.#thread === undefined) return
    this.#idle = this.#options.clock.after(idleMs, () => void this.#endThread())
  }

  async #endThread(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.end()
  }
}
