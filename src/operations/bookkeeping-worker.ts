/**
 * The thread behind bookkeeping.ts: one round on a connection of its own and at a low priority, so
 * that neither the event loop nor a charge waits for it. It ends with the round. Not at the lowest
 * priority: a transaction of this thread must not starve while charges wait for its lock.
 */
import { setPriority, constants } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { InvariantError } from '../base/errors.ts'
import { parseStoreLocation } from '../storage/location.ts'
import { openSqlite } from '../storage/sqlite.ts'
import { auditSinceCheckpoints } from './audit.ts'
import type { RoundOrder, RoundResult } from './bookkeeping.ts'

if (parentPort === null) throw new InvariantError('bookkeeping runs as a worker thread')
const port = parentPort
const order = workerData as RoundOrder

// On Linux a priority is a thread's own; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)

const database = openSqlite(parseStoreLocation(order.store).path)
try {
  const audit = await auditSinceCheckpoints(database, order.nowMs)
  port.postMessage({ audit } satisfies RoundResult)
} finally {
  await database.close()
}
