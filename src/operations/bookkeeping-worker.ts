/**
 * The thread behind bookkeeping.ts: one round on a connection of its own and at a low priority, so
 * that neither the event loop nor a charge waits for it. It ends with the round. Not at the lowest
 * priority: a transaction of this thread must not starve while charges wait for its lock.
 */
import { setPriority, constants } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { sleep, systemClock } from '../base/clock.ts'
import { InvariantError } from '../base/errors.ts'
import { removeOldExchanges } from '../ledger/exchange-retention.ts'
import { openStore } from '../storage/open.ts'
import { auditSinceCheckpoints } from './audit.ts'
import type { RoundOrder, RoundResult } from './bookkeeping.ts'

if (parentPort === null) throw new InvariantError('bookkeeping runs as a worker thread')
const port = parentPort
const order = workerData as RoundOrder

// On Linux a priority is a thread's own; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)

// Timers of the clock do not keep a thread alive; this does, until the round is over.
port.ref()
const database = await openStore(order.store)
try {
  const { nowMs, keepMs } = order
  const audit = await auditSinceCheckpoints(database, nowMs)
  tell({ kind: 'audit', audit, isLast: keepMs === undefined })
  // After the audit, so that what goes has been looked at once more.
  if (keepMs !== undefined) {
    const report = await removeOldExchanges(database, { nowMs, keepMs, pause })
    tell({ kind: 'retention', report, isLast: true })
  }
} finally {
  await database.close()
  port.close()
}

function tell(result: RoundResult): void {
  port.postMessage(result)
}

/** Several times as long as a transaction takes: charges have the store most of the time. */
function pause(): Promise<void> {
  return sleep(systemClock, 20)
}
