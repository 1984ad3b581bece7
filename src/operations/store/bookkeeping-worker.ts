/**
 * The worker thread of bookkeeping.ts: one round, with its own connection and a low priority, so that
 * neither the event loop nor a charge waits for it. Not the lowest priority: its transactions must not
 * starve while charges wait for its lock. The thread ends with the round.
 */
import { setPriority, constants } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { sleep, systemClock } from '../../base/clock.ts'
import { InvariantError } from '../../base/errors.ts'
import { removeExpiredStates } from '../../ledger/answer-state-store.ts'
import { removeOldExchanges } from '../../ledger/exchange-retention.ts'
import { openStore } from '../../storage/open.ts'
import { auditSinceCheckpoints } from './audit.ts'
import type { RoundOrder, RoundResult } from './bookkeeping.ts'

if (parentPort === null)
  throw new InvariantError('bookkeeping-worker.ts must run as a worker thread')
const port = parentPort
const order = workerData as RoundOrder

// On Linux each thread has its own priority; elsewhere this would change the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)

// The clock's timers do not keep a thread alive, so the port does until the round is over.
port.ref()
const database = await openStore(order.store)
try {
  const { nowMs, keepMs } = order
  await removeExpiredStates(database, { nowMs, pause })
  const audit = await auditSinceCheckpoints(database, nowMs)
  send({ kind: 'audit', audit, isLast: false })
  // After the audit, so that exchanges are audited before they are removed.
  const report = await removeOldExchanges(database, { nowMs, keepMs, pause })
  send({ kind: 'retention', report, isLast: true })
} finally {
  await database.close()
  port.close()
}

function send(result: RoundResult): void {
  port.postMessage(result)
}

/** Longer than a transaction takes, so that charges get the store most of the time. */
function pause(): Promise<void> {
  return sleep(systemClock, 20)
}
