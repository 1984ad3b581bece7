/**
 * The ledger's side of the writer thread: sends batches and questions to it and passes on its
 * answers, in their order. Knows nothing of balances, and does not decide when to commit.
 *
 *     starting ──▶ running ── disk, file or thread fails ──▶ dead    (final; the process ends)
 */
import { startService, type ThreadService } from '../../base/thread.ts'
import { storeError, type SqliteFault } from '../../storage/sqlite/connection.ts'
import { storeHeapMbMax } from '../../storage/sqlite/thread.ts'
import { toEndedExchange, type EndedExchange } from '../exchange-row.ts'
import type { LimitsQuestion, UsageSummary } from '../ledger.ts'
import { unavailable, type CommitOutcome, type Settlement } from '../settlement-queue.ts'
import type { UsageQuestion } from '../usage.ts'
import type { AccountFacts, LoadedAccount } from './account-state.ts'
import type { Booked } from './booking.ts'

// What the ledger asks its writer thread. Plain data only: it crosses threads.

export type WriterQuestion =
  /** Answered once the store is open. */
  | { readonly kind: 'open' }
  | { readonly kind: 'settle'; readonly exchanges: readonly EndedExchange[] }
  /** Asks for an account and, where the key has limits, for the figures of the key. */
  | ({ readonly kind: 'load' } & LimitsQuestion)
  | { readonly kind: 'refresh'; readonly accountIds: readonly string[] }
  | ({ readonly kind: 'usage' } & UsageQuestion)
  | { readonly kind: 'close' }

/** The value of the answer to each kind of question. */
interface Values {
  open: undefined
  settle: Booked
  load: LoadedAccount | undefined
  refresh: readonly AccountFacts[]
  usage: UsageSummary | undefined
  close: undefined
}

export interface FailedAnswer {
  readonly kind: 'failed'
  readonly fault: SqliteFault
  readonly error: Error
}

export type WriterAnswer =
  | { readonly kind: 'done'; readonly value: Values[keyof Values] }
  | FailedAnswer

/** What the thread is started with. */
export interface WriterThreadData {
  readonly path: string
  readonly pagesMax: number | undefined
}

/** The writer as the ledger sees it: a thread, or a simulation that runs it on its own clock. */
export type OpenWriter = (
  data: WriterThreadData,
  onLost: (error: Error) => void,
) => ThreadService<WriterQuestion, WriterAnswer>

export interface WriterOptions {
  readonly path: string
  readonly pagesMax?: number
  /** Where the writer runs; a separate thread by default. */
  readonly openWriter?: OpenWriter
  /** The store cannot be used any more by this process. */
  readonly onDead: (error: Error) => void
}

export class LedgerWriter {
  readonly started: Promise<void>
  readonly #service: ThreadService<WriterQuestion, WriterAnswer>
  readonly #onDead: (error: Error) => void
  #state: 'starting' | 'running' | 'dead' | 'closed' = 'starting'

  constructor({ path, pagesMax, openWriter = openThread, onDead }: WriterOptions) {
    this.#onDead = onDead
    this.#service = openWriter({ path, pagesMax }, (error) => this.#die(error))
    this.started = this.#start()
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** `done` is called within the thread's message, so before any later answer is used. */
  commit(batch: readonly Settlement[], done: (outcome: CommitOutcome<Booked>) => void): void {
    const exchanges = batch.map(({ record }) => toEndedExchange(record))
    const use = (answer: WriterAnswer): void => {
      if (answer.kind === 'failed') return this.#reportFailure(answer, done)
      const booked = answer.value as Booked
      done({ decidedCount: batch.length, refused: new Map(booked.refused), booked })
    }
    // The loss of the thread is reported once, by `onDead`.
    this.#service.ask({ kind: 'settle', exchanges }, [], use).catch(() => undefined)
  }

  /**
   * Asks the thread. `use` gets the answer before any batch that was booked after it is
   * acknowledged. The promise does not guarantee that: its continuation may run after the next
   * message.
   */
  async ask<Kind extends keyof Values>(
    question: WriterQuestion & { kind: Kind },
    use?: (answer: Values[Kind]) => void,
  ): Promise<Values[Kind]> {
    if (this.#state === 'dead' || this.#state === 'closed') throw unavailable()
    const useValue = (answer: WriterAnswer): void => {
      if (answer.kind === 'done') use?.(answer.value as Values[Kind])
    }
    const answer = await this.#service.ask(question, [], useValue).catch((cause: unknown) => {
      throw unavailable(cause)
    })
    if (answer.kind === 'failed') throw storeError(answer.fault, answer.error)
    return answer.value as Values[Kind]
  }

  /** Ends the thread after everything it has been sent. */
  async close(): Promise<void> {
    if (this.#state !== 'dead') {
      this.#state = 'closed'
      // A thread that fails now has written everything or reported that it could not.
      await this.#service.ask({ kind: 'close' }).catch(() => undefined)
    }
    await this.#service.end()
  }

  async #start(): Promise<void> {
    await this.#service.ask({ kind: 'open' }, [], () => {
      this.#state = 'running'
    })
  }

  /** The batch was rolled back; only a lock or a lack of space can be cured by trying again. */
  #reportFailure(
    { fault, error }: FailedAnswer,
    done: (outcome: CommitOutcome<Booked>) => void,
  ): void {
    const outage = storeError(fault, error)
    if (fault === 'broken' || fault === 'statement') {
      this.#die(outage)
      void this.#service.end()
    } else done({ decidedCount: 0, refused: new Map(), booked: nothingBooked, outage })
  }

  #die(cause: Error): void {
    if (this.#state === 'dead' || this.#state === 'closed') return
    const hadStarted = this.#state !== 'starting'
    this.#state = 'dead'
    if (hadStarted) this.#onDead(unavailable(cause))
  }
}

const nothingBooked: Booked = { balances: [], repeatedAccountIds: [], refused: [] }

const openThread: OpenWriter = (data, onLost) =>
  startService(new URL('./writer-thread.ts', import.meta.url), {
    data,
    heapMbMax: storeHeapMbMax,
    // A charge may wait for the next try, and nothing else may keep the process then.
    isKept: true,
    onLost,
  })
