/**
 * The thread that owns the ledger's connection: passes messages to the store's writer and its answers
 * back, and keeps the write-ahead log short after each commit.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import { openConnection } from '../../storage/sqlite/connection.ts'
import { openSqliteThread } from '../../storage/sqlite/thread.ts'
import { WalCheckpoints } from '../../storage/sqlite/wal-checkpoints.ts'
import type { FromWriter, ToWriter, WriterThreadData } from './writer.ts'
import { StoreWriter } from './store-writer.ts'

invariant(parentPort !== null, 'this file is started as a thread')
const port = parentPort
const { path, pagesMax } = workerData as WriterThreadData
/**
 * A charge changes about nine pages. With SQLite's 2 MB a batch of some thousand accounts reads most of
 * them again.
 */
const cacheBytes = 16 * 1_048_576
const connection = openConnection(path, {
  autoCheckpoint: false,
  cacheBytes,
  ...(pagesMax !== undefined && { pagesMax }),
})
const writer = new StoreWriter(connection)
const checkpoints = new WalCheckpoints({
  connection,
  openThread: () => openSqliteThread(path),
  monotonic: () => systemClock.monotonic(),
})

port.on('message', (message: ToWriter) => {
  if (message.kind === 'close') {
    void close(message)
    return
  }
  const answer = writer.handle(message)
  if (answer instanceof Promise) {
    void answer.then(send)
    return
  }
  send(answer)
  // After the answer: no durable charge waits for a checkpoint. After a fault nothing is written.
  if (answer.kind === 'settled') checkpoints.afterCommit()
})
send({ kind: 'ready' })

async function close(message: ToWriter): Promise<void> {
  await checkpoints.close()
  send(await writer.handle(message))
  port.close()
}

function send(message: FromWriter): void {
  port.postMessage(message)
}
