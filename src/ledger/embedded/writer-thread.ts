/**
 * The thread that owns the ledger's connection: passes messages to the store's writer and its answers
 * back, and keeps the write-ahead log short after each commit.
 */
import { workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { answerQuestions } from '../../base/thread.ts'
import { openConnection } from '../../storage/sqlite/connection.ts'
import { openSqliteThread } from '../../storage/sqlite/thread.ts'
import { WalCheckpoints } from '../../storage/sqlite/wal-checkpoints.ts'
import type { WriterAnswer, WriterQuestion, WriterThreadData } from './writer.ts'
import { StoreWriter } from './store-writer.ts'

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

answerQuestions((question: WriterQuestion) => {
  if (question.kind === 'close') return close(question)
  const answer = writer.handle(question)
  // Behind the answer: no durable charge waits for a checkpoint.
  if (question.kind === 'settle') {
    const { length } = question.exchanges
    queueMicrotask(() => checkpoints.afterCommit(length))
  }
  return answer
})

async function close(question: WriterQuestion): Promise<WriterAnswer> {
  await checkpoints.close()
  return writer.handle(question)
}
