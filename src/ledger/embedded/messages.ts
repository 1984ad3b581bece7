/** What the ledger and its writer thread say to each other. Plain data only: it crosses threads. */
import type { UsageFigures } from '../ledger.ts'
import type { UsageQuestion } from '../usage.ts'
import type { SqliteFault } from '../../storage/sqlite-connection.ts'
import type { AccountFacts, LoadedAccount } from './admission.ts'
import type { Booked } from './booking.ts'
import type { EndedExchange } from './exchange-row.ts'

export type Question =
  | { readonly kind: 'load'; readonly accountId: string; readonly atMs: number }
  | { readonly kind: 'refresh'; readonly accountIds: readonly string[] }
  | ({ readonly kind: 'usage' } & UsageQuestion)

/** Which answer belongs to which question. */
export interface Answers {
  load: LoadedAccount | undefined
  refresh: readonly AccountFacts[]
  usage: UsageFigures | undefined
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

/** The writer as the ledger sees it: a thread, unless a simulation runs it by its own clock. */
export interface WriterLink {
  post(message: ToWriter): void
  /** Ends the other side whatever it is doing; `onEnded` follows. */
  terminate(): void
}

export interface WriterLinkEvents {
  onMessage(message: FromWriter): void
  /** It failed in a way it cannot tell of itself. */
  onError(error: unknown): void
  onEnded(): void
}

/** Calls no event before it has returned. */
export type OpenWriterLink = (data: WriterThreadData, events: WriterLinkEvents) => WriterLink
