/**
 * Counts the tokens of delivered text for the rare charge without a count from the vendor. It always
 * answers, and soon: where the tokenizer's thread is missing, overloaded, slow or dead, it answers with
 * the estimate by kind of character. It knows no money.
 */
import type { Clock } from '../base/clock.ts'
import { startService, type ThreadService } from '../base/thread.ts'
import { estimateTokens } from './token-estimate.ts'

export interface TokenCounter {
  /** Tokens in the o200k vocabulary. Never rejects. */
  count(text: string): Promise<number>
  /** Ends the thread; counts that wait, and later ones, get the estimate. */
  close(): Promise<void>
}

export interface TokenCounterOptions {
  readonly clock: Clock
  /** Called once for each thread that died unexpectedly. */
  readonly onWorkerLost?: (error: unknown) => void
  /** The program of the thread; tests replace it. */
  readonly workerUrl?: URL
}

/** Bounds of the queue; beyond them a text is estimated. Sizes are in UTF-16 units. */
const textUnitsMax = 1_000_000
const queuedUnitsMax = 4_000_000
const queuedCountMax = 256
/** Loading the vocabulary takes a fraction of this on a slow machine. */
const answerTimeoutMs = 5_000
/** After this many starts the thread is not started again. */
const startsMax = 5
/** The vocabulary takes about 110 MB. */
const workerHeapMb = 512

export function createTokenCounter(options: TokenCounterOptions): TokenCounter {
  const { clock, onWorkerLost } = options
  const workerUrl = options.workerUrl ?? new URL('./token-counter-worker.ts', import.meta.url)
  let thread: ThreadService<string, number> | undefined
  let startsLeft = startsMax
  let queuedCount = 0
  let queuedUnits = 0

  /** Where no thread can start, counts are estimated: a charge must not be lost. */
  function start(): void {
    if (startsLeft === 0) return
    startsLeft--
    const onLost = (error: unknown): void => {
      thread = undefined
      onWorkerLost?.(error)
    }
    try {
      thread = startService(workerUrl, { heapMbMax: workerHeapMb, onLost })
    } catch (error) {
      onLost(error)
    }
  }

  async function count(text: string): Promise<number> {
    if (text === '') return 0
    const hasRoom = queuedCount < queuedCountMax && fitsQueue(text, queuedUnits)
    if (hasRoom && thread === undefined) start()
    if (!hasRoom || thread === undefined) return estimateTokens(text)
    const late = Promise.withResolvers<undefined>()
    const timer = clock.after(answerTimeoutMs, () => late.resolve(undefined))
    queuedCount++
    queuedUnits += text.length
    try {
      return (await Promise.race([thread.ask(text), late.promise])) ?? estimateTokens(text)
    } catch {
      // `onWorkerLost` has been told of a lost thread.
      return estimateTokens(text)
    } finally {
      timer.cancel()
      queuedCount--
      queuedUnits -= text.length
    }
  }

  async function close(): Promise<void> {
    startsLeft = 0
    const ended = thread
    thread = undefined
    await ended?.end()
  }

  return { count, close }
}

function fitsQueue(text: string, queuedUnits: number): boolean {
  return text.length <= textUnitsMax && queuedUnits + text.length <= queuedUnitsMax
}
