/** The thread behind thread.ts: one connection, requests answered in the order they come. */
import { parentPort, workerData } from 'node:worker_threads'
import { invariant } from '../../base/errors.ts'
import type { Row } from '../database.ts'
import { faultOf, openConnection } from './connection.ts'
import type { StoreAnswer, StoreRequest } from './thread.ts'

invariant(parentPort !== null, 'this file is started as a thread')
const port = parentPort
const { path } = workerData as { path: string }
const connection = openConnection(path)

port.on('message', (request: StoreRequest) => {
  send(answer(request))
})
send({ kind: 'opened' })

function answer(request: StoreRequest): StoreAnswer {
  try {
    return { kind: 'rows', id: request.id, rows: perform(request) }
  } catch (error) {
    const cause = error instanceof Error ? error : new Error('the store failed')
    return { kind: 'failed', id: request.id, fault: faultOf(cause), error: cause }
  }
}

function perform(request: StoreRequest): Row[] {
  switch (request.kind) {
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

function send(message: StoreAnswer): void {
  port.postMessage(message)
}
