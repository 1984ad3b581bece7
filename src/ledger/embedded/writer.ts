/**
 * The ledger's side of the writer thread: gathers ended exchanges into batches, one message each,
 * and tells what became of them. Knows nothing of balances. It keeps: an exchange is acknowledged
 * only after its batch is durable, and one that is not acknowledged is handed in again until it is,
 * or until the store is beyond use.
 *
 *     running ── no space, or locked ──▶ blocked ── the same batch succeeds ──▶ running
 *        └──────── disk or thread fails ───┴──▶ dead      (nothing leads back; the process ends)
 */
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../base/clock.ts'
import { GatewayError, invariant } from '../../base/errors.ts'
import { storeError, type SqliteFault } from '../../storage/sqlite-connection.ts'
import type { ExchangeRecord } from '../ledger.ts'
import { withhold } from '../withholding.ts'
import type { Booked } from './booking.ts'
import { toEndedExchange } from './exchange-row.ts'
import type {
  Answers,
  FromWriter,
  OpenWriterLink,
  Question,
  ToWriter,
  WriterLink,
} from './messages.ts'

const recordsPerBatchMax = 256
/** While one batch is being written, a second one is worth its message only from this size on. */
const recordsForSecondBatch = 64
const batchesInFlightMax = 2
/**
 * A commit costs the same whether it carries one exchange or thirty, so a batch waits for others that
 * are about to end: until so many turns of the event loop have brought none, or so many have passed.
 * Where few others run there is little to share, and an answer that is ready would wait for nothing.
 */
const quietTurns = 2
const gatheringTurnsMax = 16
const othersWorthWaiting = 5
const firstRetryMs = 250
const lastRetryMs = 5_000

/** One ended exchange on its way into the store. */
export interface Settlement {
  /** Becomes an uncharged one where its charge could not be made durable when it was asked for. */
  record: ExchangeRecord
  resolve(): void
  /** Called while the store is out of order; what is left to record goes on being tried. */
  reject(error: Error): void
}

export interface WriterEvents {
  /** A batch is durable; called before any of its promises is resolved. */
  onBooked(batch: readonly Settlement[], booked: Booked): void
  /** The store will never take this one; its hold must not be freed. */
  onRefused(settlement: Settlement, error: Error): void
  /** A batch is durable after others were not. */
  onRecovered(): void
  /** The store cannot be used any more by this process. */
  onDead(error: Error): void
}

export interface WriterOptions {
  readonly path: string
  readonly clock: Clock
  readonly pagesMax?: number
  /** Exchanges that are under way or not yet acknowledged. */
  readonly openCount: () => number
  /** Where the writer runs; a thread of its own unless told. */
  readonly openLink?: OpenWriterLink
}

interface Waiting {
  answered(value: Answers[keyof Answers]): void
  reject(error: Error): void
}

export class LedgerWriter {
  readonly started: Promise<void>
  readonly #link: WriterLink
  readonly #clock: Clock
  readonly #events: WriterEvents
  readonly #openCount: () => number
  readonly #starting = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #waiting = new Map<number, Waiting>()
  /** Bounded by the number of holds: nothing is admitted while this cannot shrink. */
  #queue: Settlement[] = []
  readonly #inFlight: Settlement[][] = []
  /** Why it is blocked, as the batch that failed last has it. */
  #outage: Error | undefined
  #state: 'starting' | 'running' | 'blocked' | 'dead' | 'closed' = 'starting'
  #isGathering = false
  #retryTimer: Timer | undefined
  #retryMs = firstRetryMs
  #lastQuestion = 0
  /** Set by close(): told when nothing is left to write, or nothing more can be. */
  #onQuiet: (() => void) | undefined

  constructor(options: WriterOptions, events: WriterEvents) {
    this.#clock = options.clock
    this.#events = events
    this.#openCount = options.openCount
    this.started = this.#starting.promise
    const openLink = options.openLink ?? openThread
    this.#link = openLink(
      { path: options.path, pagesMax: options.pagesMax },
      {
        onMessage: (message) => this.#receive(message),
        onError: (error) => this.#die(asError(error)),
        onEnded: () => {
          this.#ended.resolve()
          this.#die(new Error('the thread has ended'))
        },
      },
    )
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** Takes the settlement; where the store is out of order its promise is rejected at once. */
  add(settlement: Settlement): void {
    if (this.#state === 'dead' || this.#state === 'closed') {
      settlement.reject(unavailable())
      return
    }
    this.#queue.push(settlement)
    if (this.#state === 'blocked') withhold(settlement, unavailable(this.#outage))
    else this.#scheduleFlush()
  }

  /**
   * Asks the thread. `use` gets the answer before any batch that was booked after it is
   * acknowledged; the promise does not promise that, because nothing says that its continuation
   * runs between two messages.
   */
  ask<Kind extends keyof Answers>(
    question: Question & { kind: Kind },
    use?: (answer: Answers[Kind]) => void,
  ): Promise<Answers[Kind]> {
    if (this.#state === 'dead' || this.#state === 'closed') return Promise.reject(unavailable())
    return new Promise((resolve, reject) => {
      const id = ++this.#lastQuestion
      const answered = (value: Answers[keyof Answers]): void => {
        const answer = value as Answers[Kind]
        use?.(answer)
        resolve(answer)
      }
      this.#waiting.set(id, { answered, reject })
      this.#send({ kind: 'ask', id, question })
    })
  }

  /**
   * Writes what is left, then ends the thread. Rejects where something still waits for space; what a
   * dead store took with it has been reported as such.
   */
  async close(): Promise<void> {
    if (this.#state === 'blocked') this.#retry()
    if (this.#hasWork() && this.#state !== 'dead') {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#onQuiet = resolve
      this.#flush()
      await promise
    }
    const unwritten = this.#queue.length
    this.#retryTimer?.cancel()
    if (this.#state !== 'dead') {
      this.#state = 'closed'
      this.#send({ kind: 'close' })
    }
    await this.#ended.promise
    if (unwritten > 0)
      throw new GatewayError(
        'ledger.unavailable',
        `${unwritten} ended exchanges could not be stored; their answers were not completed.`,
      )
  }

  /** Behind the events of this turn, so that all exchanges that end in it share one message. */
  #scheduleFlush(): void {
    if (this.#isGathering || !this.#mayFlush()) return
    this.#isGathering = true
    let turns = 0
    let lastGrowth = 0
    let length = this.#queue.length
    const gather = (): void => {
      turns++
      if (this.#queue.length > length) lastGrowth = turns
      length = this.#queue.length
      if (turns - lastGrowth < quietTurns && turns < gatheringTurnsMax && this.#isWorthWaiting()) {
        setImmediate(gather)
        return
      }
      this.#isGathering = false
      this.#flush()
    }
    setImmediate(gather)
  }

  #isWorthWaiting(): boolean {
    if (this.#queue.length >= recordsForSecondBatch) return false
    const inFlight = this.#inFlight.reduce((count, batch) => count + batch.length, 0)
    return this.#openCount() - this.#queue.length - inFlight >= othersWorthWaiting
  }

  #mayFlush(): boolean {
    if (this.#state !== 'running' || this.#queue.length === 0) return false
    if (this.#inFlight.length === 0) return true
    return this.#inFlight.length < batchesInFlightMax && this.#queue.length >= recordsForSecondBatch
  }

  #flush(): void {
    while (this.#mayFlush()) this.#sendBatch()
  }

  #sendBatch(): void {
    const batch =
      this.#queue.length <= recordsPerBatchMax
        ? this.#queue
        : this.#queue.slice(0, recordsPerBatchMax)
    this.#queue = batch === this.#queue ? [] : this.#queue.slice(recordsPerBatchMax)
    this.#inFlight.push(batch)
    const exchanges = batch.map(({ record }) => toEndedExchange(record))
    this.#send({ kind: 'settle', exchanges })
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case 'ready':
        this.#state = 'running'
        this.#starting.resolve()
        break
      case 'settled':
        this.#acknowledge(this.#nextAnswered(), message.booked)
        break
      case 'not_settled':
        this.#handBack(this.#nextAnswered(), message.fault, message.error)
        break
      case 'answer':
        this.#takeWaiting(message.id)?.answered(message.value)
        break
      case 'no_answer':
        this.#takeWaiting(message.id)?.reject(storeError(message.fault, message.error))
        break
      case 'closed':
        break
    }
  }

  #acknowledge(batch: readonly Settlement[], booked: Booked): void {
    if (this.#state === 'blocked' && this.#retryTimer === undefined) {
      this.#state = 'running'
      this.#outage = undefined
      this.#events.onRecovered()
    }
    this.#retryMs = firstRetryMs
    const refused = new Map(booked.refused)
    const accepted = batch.filter((_, index) => !refused.has(index))
    this.#events.onBooked(accepted, booked)
    for (const [index, settlement] of batch.entries()) {
      const refusal = refused.get(index)
      if (refusal === undefined) settlement.resolve()
      else this.#refuse(settlement, refusal)
    }
    this.#scheduleFlush()
    this.#tellWhenQuiet()
  }

  #refuse(settlement: Settlement, cause: Error): void {
    const error = new GatewayError('gateway.internal', 'The exchange could not be recorded.', {
      cause,
    })
    this.#events.onRefused(settlement, error)
    settlement.reject(error)
  }

  /**
   * The batch was rolled back. Nobody is kept waiting for it: the answers are withheld, so nothing
   * is charged for them, and only what they cost the operator stays first in the queue.
   */
  #handBack(batch: readonly Settlement[], fault: SqliteFault, cause: Error): void {
    this.#queue = [...batch, ...this.#queue]
    const error = storeError(fault, cause)
    if (fault === 'broken' || fault === 'statement') {
      this.#die(error)
      this.#link.terminate()
      return
    }
    this.#state = 'blocked'
    this.#outage = error
    for (const settlement of this.#queue) withhold(settlement, error)
    if (this.#retryTimer === undefined) {
      this.#retryTimer = this.#clock.after(this.#retryMs, () => this.#retry())
      this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs)
    }
    this.#tellWhenQuiet()
  }

  #retry(): void {
    this.#retryTimer?.cancel()
    this.#retryTimer = undefined
    if (this.#state === 'blocked' && this.#queue.length > 0 && this.#inFlight.length === 0)
      this.#sendBatch()
  }

  #die(cause: Error): void {
    if (this.#state === 'dead' || this.#state === 'closed') return
    const hadStarted = this.#state !== 'starting'
    this.#state = 'dead'
    this.#retryTimer?.cancel()
    this.#starting.reject(cause)
    const error = unavailable(cause)
    for (const settlement of [...this.#inFlight.flat(), ...this.#queue]) settlement.reject(error)
    this.#inFlight.length = 0
    this.#queue = []
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
    if (hadStarted) this.#events.onDead(error)
    this.#tellWhenQuiet()
  }

  #tellWhenQuiet(): void {
    const isStuck =
      this.#state === 'dead' || (this.#state === 'blocked' && this.#inFlight.length === 0)
    if (!this.#hasWork() || isStuck) this.#onQuiet?.()
  }

  #hasWork(): boolean {
    return this.#queue.length > 0 || this.#inFlight.length > 0
  }

  #nextAnswered(): Settlement[] {
    const batch = this.#inFlight.shift()
    invariant(batch !== undefined, 'every answer of the writer belongs to a batch')
    return batch
  }

  #takeWaiting(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  #send(message: ToWriter): void {
    this.#link.post(message)
  }
}

const openThread: OpenWriterLink = (data, events) => {
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: data })
  worker.on('message', (message: FromWriter) => events.onMessage(message))
  worker.on('error', (error) => events.onError(error))
  worker.on('exit', () => events.onEnded())
  return {
    post: (message) => worker.postMessage(message, []),
    terminate: () => void worker.terminate(),
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('the thread failed', { cause: thrown })
}

function unavailable(cause?: Error): GatewayError {
  return new GatewayError('ledger.unavailable', 'The ledger cannot store charges at the moment.', {
    cause,
  })
}
