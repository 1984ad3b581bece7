/** The thread that owns the ledger's connection: hands messages to the store's writer, and its answers back. */
import { parentPort, workerData } from 'node:worker_threads'
import { invariant } from '../../base/errors.ts'
import { openConnection } from '../../storage/sqlite-connection.ts'
import type { FromWriter, ToWriter, WriterThreadData } from './messages.ts'
import { StoreWriter } from './store-writer.ts'

invariant(parentPort !== null, 'this file is started as a thread')
const port = parentPort
const { path, pagesMax } = workerData as WriterThreadData
const writer = new StoreWriter(openConnection(path, pagesMax === undefined ? {} : { pagesMax }))

port.on('message', (message: ToWriter) => {
  const answer = writer.handle(message)
  if (answer instanceof Promise) void answer.then(send)
  else send(answer)
  if (message.kind === 'close') port.close()
})
send({ kind: 'ready' })

function send(message: FromWriter): void {
  port.postMessage(message)
}
