/**
 * Counts the tokens of delivered text for the rare charge without a count from the vendor. It always
 * answers, and soon: where the tokenizer's thread is missing, overloaded, slow or dead, it answers with
 * the estimate by kind of character. It knows no money.
 */
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../base/clock.ts'
import { estimateTokens } from './token-estimate.ts'
import type { CountAnswer, CountQuestion } from './token-counter-worker.ts'

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

interface Awaited {
  readonly text: string
  readonly timer: Timer
  readonly resolve: (tokens: number) => void
}

export function createTokenCounter(options: TokenCounterOptions): TokenCounter {
  const workerUrl = options.workerUrl ?? new URL('./token-counter-worker.ts', import.meta.url)
  const awaited = new Map<number, Awaited>()
  let worker: Worker | undefined
  let startsLeft = startsMax
  let queuedUnits = 0
  let nextId = 0

  function settle(id: number, tokens: number | undefined): void {
    const entry = awaited.get(id)
    if (entry === undefined) return
    awaited.delete(id)
    entry.timer.cancel()
    queuedUnits -= entry.text.length
    // An idle thread must not keep the process alive; a waiting count must.
    if (awaited.size === 0) worker?.unref()
    entry.resolve(tokens ?? estimateTokens(entry.text))
  }

  function settleAll(): void {
    for (const id of awaited.keys()) settle(id, undefined)
  }

  function start(): Worker | undefined {
    if (startsLeft === 0) return undefined
    startsLeft--
    const started = spawn(workerUrl, options.onWorkerLost)
    if (started === undefined) return undefined
    started.on('message', ({ id, tokens }: CountAnswer) => settle(id, tokens))
    started.on('error', (error) => lose(started, error))
    started.on('exit', () => lose(started, undefined))
    return started
  }

  function lose(lost: Worker, error: unknown): void {
    if (worker !== lost) return
    worker = undefined
    options.onWorkerLost?.(error)
    settleAll()
  }

  function count(text: string): Promise<number> {
    if (text === '') return Promise.resolve(0)
    const hasRoom = awaited.size < queuedCountMax && fitsQueue(text, queuedUnits)
    if (hasRoom) worker ??= start()
    const thread = worker
    if (thread === undefined || !hasRoom) return Promise.resolve(estimateTokens(text))
    const id = nextId++
    return new Promise((resolve) => {
      const timer = options.clock.after(answerTimeoutMs, () => settle(id, undefined))
      awaited.set(id, { text, timer, resolve })
      queuedUnits += text.length
      thread.ref()
      const question: CountQuestion = { id, text }
      thread.postMessage(question, [])
    })
  }

  async function close(): Promise<void> {
    startsLeft = 0
    const ended = worker
    worker = undefined
    settleAll()
    await ended?.terminate()
  }

  return { count, close }
}

function fitsQueue(text: string, queuedUnits: number): boolean {
  return text.length <= textUnitsMax && queuedUnits + text.length <= queuedUnitsMax
}

/** Where no thread can start, counts are estimated: a charge must not be lost. */
function spawn(url: URL, onLost: TokenCounterOptions['onWorkerLost']): Worker | undefined {
  try {
    return new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: workerHeapMb } })
  } catch (error) {
    onLost?.(error)
    return undefined
  }
}
