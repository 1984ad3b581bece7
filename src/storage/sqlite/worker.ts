/** The thread behind thread.ts: one connection, requests answered in the order they come. */
import { workerData } from 'node:worker_threads'
import { answerQuestions, lowerPriority } from '../../base/thread.ts'
import type { Row } from '../database.ts'
import { faultOf, openConnection } from './connection.ts'
import type { StoreAnswer, StoreRequest, StoreThreadData } from './thread.ts'

const { path, isBackground } = workerData as StoreThreadData
if (isBackground) lowerPriority()
const connection = openConnection(path)

answerQuestions((request: StoreRequest): StoreAnswer => {
  try {
    return { kind: 'rows', rows: perform(request) }
  } catch (error) {
    const cause = error instanceof Error ? error : new Error('the store failed')
    return { kind: 'failed', fault: faultOf(cause), error: cause }
  }
})

function perform(request: StoreRequest): Row[] {
  switch (request.kind) {
    case 'open':
      break
    case 'run':
      return connection.all(request.sql, request.parameters)
    case 'script':
      connection.script(request.sql)
      break
    case 'roll_back':
      connection.rollBack()
      break
    case 'close':
      connection.close()
      break
  }
  return []
}
