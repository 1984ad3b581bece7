/**
 * Work in threads, in two forms. A task is one job: its thread ends with it. A service stays and answers
 * questions, in their order. What crosses threads is plain data, copied or moved; an error keeps its message
 * and, as a `GatewayError`, its code.
 */
import { addAbortListener } from 'node:events'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, Worker, workerData, type Transferable } from 'node:worker_threads'
import { systemClock } from './clock.ts'
import { errorCatalogue } from './error-catalogue.ts'
import { GatewayError, invariant, type ErrorCode } from './errors.ts'

/** Thrown where a task needs more memory than its thread may have. */
export class ThreadMemoryError extends Error {}

/** Thrown where a task takes longer than it may. */
export class ThreadTimeError extends Error {}

interface Task {
  readonly order: unknown
  /** Memory that moves to the thread with the order, and is not copied. */
  readonly moved?: readonly ArrayBuffer[]
  readonly heapMbMax: number
  readonly limitMs?: number
  /** Its abort ends the thread, and the task fails. */
  readonly signal?: AbortSignal
}

/**
 * Runs the module at `url` with this order, and resolves with what its `answerOrder` returns. Rejects with
 * the error of the task, and once the thread has ended where that was too early.
 */
export function runInThread<Result>(
  url: URL,
  { order, moved = [], heapMbMax, limitMs, signal }: Task,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const thread = startThread(url, { data: order, heapMbMax, moved })
    const listening = signal && addAbortListener(signal, () => void thread.terminate())
    const late =
      limitMs === undefined
        ? undefined
        : systemClock.after(limitMs, () => {
            reject(new ThreadTimeError('out of time'))
            void thread.terminate()
          })
    thread.once('message', (result: Result) => {
      if (signal?.aborted !== true) resolve(result)
    })
    thread.once('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      reject(isMemory ? new ThreadMemoryError('out of memory', { cause: error }) : restored(error))
    })
    thread.once('exit', () => {
      listening?.[Symbol.dispose]()
      late?.cancel()
      reject(new Error('the thread ended before its work was over'))
    })
  })
}

/** Called by the module of a task: does the work with the order and posts its result. */
export async function answerOrder(work: (order: unknown) => unknown): Promise<void> {
  const port = threadPort()
  lowerPriority()
  // The clock's timers do not keep a thread alive, so the port does until the work is over.
  port.ref()
  try {
    port.postMessage(await work(workerData), [])
  } finally {
    port.close()
  }
}

/** Lets the event loop go first, where both want the processor. Only in a thread. */
export function lowerPriority(): void {
  // On Linux each thread has its own priority; elsewhere this would change the whole process.
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
}

interface Service {
  /** What the module finds as `workerData`. */
  readonly data?: unknown
  readonly heapMbMax: number
  /** True = the process stays until the thread has ended; else only open questions keep it. */
  readonly isKept?: boolean
  /** Called once where the thread ends by itself; its open questions are rejected with the same error. */
  readonly onLost?: (error: Error) => void
}

interface Asked<Answer> {
  readonly answered: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** A service as its callers use it. */
export interface ThreadService<Question, Answer> {
  /**
   * Rejects where the thread fails or has ended. The objects in `moved` are not usable after the call. `use`
   * gets the answer before any later answer is used; the promise does not guarantee that.
   */
  ask(
    question: Question,
    moved?: readonly Transferable[],
    use?: (answer: Answer) => void,
  ): Promise<Answer>
  /** Ends the thread whatever it is doing, and rejects the open questions. */
  end(): Promise<unknown>
}

/** Starts the module at `url`, which calls `answerQuestions`. */
export function startService<Question, Answer>(
  url: URL,
  { data, heapMbMax, isKept = false, onLost }: Service,
): ThreadService<Question, Answer> {
  const thread = startThread(url, { data, heapMbMax })
  const asked = new Map<number, Asked<Answer>>()
  let lastId = 0
  let failure: Error | undefined

  function fail(error: Error): void {
    failure = error
    for (const { reject } of asked.values()) reject(error)
    asked.clear()
  }

  function lose(error: Error): void {
    if (failure !== undefined) return
    fail(error)
    onLost?.(error)
  }

  if (!isKept) thread.unref()
  thread.on('message', ({ id, answer }: { readonly id: number; readonly answer: Answer }) => {
    const question = asked.get(id)
    asked.delete(id)
    if (asked.size === 0 && !isKept) thread.unref()
    question?.answered(answer)
  })
  thread.on('error', (error) => lose(restored(error)))
  thread.on('exit', () => lose(new Error('the thread has ended')))

  return {
    ask(question, moved = [], use) {
      if (failure !== undefined) return Promise.reject(failure)
      return new Promise((resolve, reject) => {
        const id = ++lastId
        thread.postMessage({ id, question }, [...moved])
        const answered = (answer: Answer): void => {
          use?.(answer)
          resolve(answer)
        }
        asked.set(id, { answered, reject })
        thread.ref()
      })
    },
    end() {
      if (failure === undefined) fail(new Error('the thread was ended'))
      return thread.terminate()
    },
  }
}

/** Called by the module of a service. The parts of an answer that `movedIn` lists are moved, not copied. */
export function answerQuestions<Answer>(
  work: (question: never) => Answer | Promise<Answer>,
  movedIn: (answer: Answer) => readonly Transferable[] = () => [],
): void {
  const port = threadPort()
  port.on('message', ({ id, question }: { readonly id: number; readonly question: never }) => {
    const post = (answer: Answer): void => port.postMessage({ id, answer }, [...movedIn(answer)])
    const answer = work(question)
    if (answer instanceof Promise) void answer.then(post)
    else post(answer)
  })
}

interface ThreadOptions {
  readonly data: unknown
  readonly heapMbMax: number
  readonly moved?: readonly ArrayBuffer[]
}

function startThread(url: URL, { data, heapMbMax, moved = [] }: ThreadOptions): Worker {
  return new Worker(url, {
    // The operating system shows the first 15 letters beside the thread.
    name: basename(url.pathname, '.ts'),
    workerData: data,
    transferList: [...moved],
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
  })
}

function threadPort(): NonNullable<typeof parentPort> {
  invariant(parentPort !== null, 'this module must run as a thread')
  return parentPort
}

/** Returns an error that has crossed threads with its class: it keeps its fields alone. */
export function restored(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('the thread failed', { cause: error })
  const code = 'code' in error ? String(error.code) : ''
  if (!Object.hasOwn(errorCatalogue, code)) return error
  return new GatewayError(code as ErrorCode, error.message, { cause: error })
}
