/**
 * One task in a thread: for work that takes long and would keep the event loop from everything else. The
 * thread ends with its task. Order and result are copied, so they are plain data.
 */
import { constants, setPriority } from 'node:os'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { InvariantError } from './errors.ts'

/** Thrown where a task needs more memory than its thread may have. */
export class ThreadMemoryError extends Error {}

/**
 * Runs the module at `url` with this order, and resolves with what its `answerOrder` returns. Rejects with
 * the error of the task.
 */
export function runInThread<Result>(
  url: URL,
  { order, heapMbMax }: { readonly order: unknown; readonly heapMbMax: number },
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(url, {
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
    })
    thread.once('message', (result: Result) => resolve(result))
    thread.once('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      reject(isMemory ? new ThreadMemoryError('out of memory', { cause: error }) : error)
    })
    thread.once('exit', () => reject(new Error('the thread ended before its task was done')))
  })
}

/** Called by the module of a thread: does the task with the order and posts its result. */
export function answerOrder(work: (order: unknown) => unknown): void {
  if (parentPort === null) throw new InvariantError('this module must run as a thread')
  // On Linux each thread has its own priority; elsewhere this would change the whole process.
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
  parentPort.postMessage(work(workerData), [])
}
