/**
 * The ledger's side of the writer thread: sends batches and questions to it and passes on its
 * answers, in their order. Knows no balances, and does not decide when to commit.
 *
 *     starting ──▶ running ── disk, file or thread fails ──▶ dead    (final; the process ends)
 */
import { Worker } from 'node:worker_threads'
import { invariant } from '../../base/errors.ts'
import type { KeyLimits } from '../../base/key-limits.ts'
import { storeError, type SqliteFault } from '../../storage/sqlite/connection.ts'
import { storeThreadLimits } from '../../storage/sqlite/thread.ts'
import { toEndedExchange, type EndedExchange } from '../exchange-row.ts'
import type { UsageSummary } from '../ledger.ts'
import { unavailable, type CommitOutcome, type Settlement } from '../settlement-queue.ts'
import type { UsageQuestion } from '../usage.ts'
import type { AccountFacts, LoadedAccount } from './account-state.ts'
import type { Booked } from './booking.ts'

// Messages between the ledger and its writer thread. Plain data only: they cross threads.

/** Asks for an account and, where the key has limits, for the amounts of the key. */
export interface LoadQuestion {
  readonly accountId: string
  readonly keyId: string
  readonly keyLimits: KeyLimits
  readonly atMs: number
}

export type Question =
  | ({ readonly kind: 'load' } & LoadQuestion)
  | { readonly kind: 'refresh'; readonly accountIds: readonly string[] }
  | ({ readonly kind: 'usage' } & UsageQuestion)

/** The answer to each kind of question. */
export interface Answers {
  load: LoadedAccount | undefined
  refresh: readonly AccountFacts[]
  usage: UsageSummary | undefined
}

/** What the thread is started with. */
export interface WriterThreadData {
  readonly path: string
  readonly pagesMax: number | undefined
}

export type ToWriter =
  | { readonly kind: 'settle'; readonly exchanges: readonly EndedExchange[] }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | { readonly kind: 'close' }

/** Batches are answered in the order they were sent. */
export type FromWriter =
  | { readonly kind: 'ready' }
  | { readonly kind: 'settled'; readonly booked: Booked }
  | { readonly kind: 'not_settled'; readonly fault: SqliteFault; readonly error: Error }
  | { readonly kind: 'answer'; readonly id: number; readonly value: Answers[keyof Answers] }
  | {
      readonly kind: 'no_answer'
      readonly id: number
      readonly fault: SqliteFault
      readonly error: Error
    }
  | { readonly kind: 'closed' }

/** The writer as the ledger sees it: a thread, or a simulation that runs it on its own clock. */
export interface WriterLink {
  post(message: ToWriter): void
  /** Ends the other side whatever it is doing; `onEnded` follows. */
  terminate(): void
}

export interface WriterLinkEvents {
  onMessage(message: FromWriter): void
  onError(error: unknown): void
  onEnded(): void
}

/** Calls no event before it has returned. */
export type OpenWriterLink = (data: WriterThreadData, events: WriterLinkEvents) => WriterLink

export interface WriterOptions {
  readonly path: string
  readonly pagesMax?: number
  /** Where the writer runs; a separate thread by default. */
  readonly openLink?: OpenWriterLink
  /** The store cannot be used any more by this process. */
  readonly onDead: (error: Error) => void
}

interface Asked {
  answered(value: Answers[keyof Answers]): void
  reject(error: Error): void
}

interface SentBatch {
  readonly count: number
  readonly done: (outcome: CommitOutcome<Booked>) => void
}

export class LedgerWriter {
  readonly started: Promise<void>
  readonly #link: WriterLink
  readonly #onDead: (error: Error) => void
  readonly #starting = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #asked = new Map<number, Asked>()
  readonly #sent: SentBatch[] = []
  #state: 'starting' | 'running' | 'dead' | 'closed' = 'starting'
  #lastId = 0

  constructor({ path, pagesMax, openLink = openThread, onDead }: WriterOptions) {
    this.#onDead = onDead
    this.started = this.#starting.promise
    this.#link = openLink(
      { path, pagesMax },
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

  /** `done` is called within the thread's message, so before any later answer is used. */
  commit(batch: readonly Settlement[], done: (outcome: CommitOutcome<Booked>) => void): void {
    this.#sent.push({ count: batch.length, done })
    const exchanges = batch.map(({ record }) => toEndedExchange(record))
    this.#link.post({ kind: 'settle', exchanges })
  }

  /**
   * Asks the thread. `use` gets the answer before any batch that was booked after it is
   * acknowledged. The promise does not guarantee that: its continuation may run after the next
   * message.
   */
  ask<Kind extends keyof Answers>(
    question: Question & { kind: Kind },
    use?: (answer: Answers[Kind]) => void,
  ): Promise<Answers[Kind]> {
    if (this.#state === 'dead' || this.#state === 'closed') return Promise.reject(unavailable())
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const answered = (value: Answers[keyof Answers]): void => {
        const answer = value as Answers[Kind]
        use?.(answer)
        resolve(answer)
      }
      this.#asked.set(id, { answered, reject })
      this.#link.post({ kind: 'ask', id, question })
    })
  }

  /** Ends the thread after everything it has been sent. */
  async close(): Promise<void> {
    if (this.#state !== 'dead') {
      this.#state = 'closed'
      this.#link.post({ kind: 'close' })
    }
    await this.#ended.promise
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case 'ready':
        this.#state = 'running'
        this.#starting.resolve()
        break
      case 'settled': {
        const { count, done } = this.#nextAnswered()
        const { booked } = message
        done({ decidedCount: count, refused: new Map(booked.refused), booked })
        break
      }
      case 'not_settled':
        this.#reportFailure(this.#nextAnswered(), message.fault, message.error)
        break
      case 'answer':
        this.#takeAsked(message.id)?.answered(message.value)
        break
      case 'no_answer':
        this.#takeAsked(message.id)?.reject(storeError(message.fault, message.error))
        break
      case 'closed':
        break
    }
  }

  /** The batch was rolled back; only a lock or a lack of space can be cured by trying again. */
  #reportFailure({ done }: SentBatch, fault: SqliteFault, cause: Error): void {
    const outage = storeError(fault, cause)
    if (fault === 'broken' || fault === 'statement') {
      this.#die(outage)
      this.#link.terminate()
    } else done({ decidedCount: 0, refused: new Map(), booked: nothingBooked, outage })
  }

  #die(cause: Error): void {
    if (this.#state === 'dead' || this.#state === 'closed') return
    const hadStarted = this.#state !== 'starting'
    this.#state = 'dead'
    this.#starting.reject(cause)
    const error = unavailable(cause)
    for (const asked of this.#asked.values()) asked.reject(error)
    this.#asked.clear()
    if (hadStarted) this.#onDead(error)
  }

  #nextAnswered(): SentBatch {
    const sent = this.#sent.shift()
    invariant(sent !== undefined, 'every answer of the writer belongs to a batch')
    return sent
  }

  #takeAsked(id: number): Asked | undefined {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    return asked
  }
}

const nothingBooked: Booked = { balances: [], repeatedAccountIds: [], refused: [] }

const openThread: OpenWriterLink = (data, events) => {
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), {
    workerData: data,
    resourceLimits: storeThreadLimits,
  })
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
