/** The events of an answer as its writer sees them, as promises and counts. */
import type { ResponseWriter } from '../../src/http/server/response-writer.ts'

export interface AnswerNews {
  readonly gone: Promise<void>
  readonly drained: Promise<void>
  readonly goneCount: () => number
}

/** Replaces the watcher that the answer had before. */
export function watchAnswer(response: ResponseWriter): AnswerNews {
  const gone = Promise.withResolvers<void>()
  const drained = Promise.withResolvers<void>()
  let goneCount = 0
  response.watcher = {
    onGone() {
      goneCount++
      gone.resolve()
    },
    onDrain: drained.resolve,
  }
  return { gone: gone.promise, drained: drained.promise, goneCount: () => goneCount }
}
