/** What an answer tells whoever writes it, as promises and counts. */
import type { ResponseWriter } from '../../src/http/response-writer.ts'

export interface AnswerNews {
  readonly gone: Promise<void>
  readonly drained: Promise<void>
  readonly goneCount: () => number
}

/** Takes the place of whoever watched the answer before. */
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
