/**
 * The worker thread of bookkeeping.ts: one round, one full audit or one copy, with its own connection and a
 * low priority, so that neither the event loop nor a charge waits for it. Not the lowest priority: its
 * transactions must not starve while charges wait for its lock. The thread ends with its work.
 */
import { setPriority, constants } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { sleep, systemClock } from '../../base/clock.ts'
import { InvariantError } from '../../base/errors.ts'
import { removeExpiredStates } from '../../ledger/answer-state-store.ts'
import { removeOldExchanges } from '../../ledger/exchange-retention.ts'
import type { Database } from '../../storage/database.ts'
import { openStore } from '../../storage/open.ts'
import { attempt } from '../operation.ts'
import { auditLedger, auditSinceCheckpoints } from './audit.ts'
import { copyChecked, digestOf } from './backup.ts'
import type { BookkeepingOrder, BookkeepingResult, CopyOrder, RoundOrder } from './bookkeeping.ts'
import type { CheckedCopy } from './open-copy.ts'

if (parentPort === null)
  throw new InvariantError('bookkeeping-worker.ts must run as a worker thread')
const port = parentPort
const order = workerData as BookkeepingOrder

// On Linux each thread has its own priority; elsewhere this would change the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)

// The clock's timers do not keep a thread alive, so the port does until the work is over.
port.ref()
const database = await openStore(order.store)
try {
  await carryOut(order)
} finally {
  await database.close()
  port.close()
}

async function carryOut(given: BookkeepingOrder): Promise<void> {
  switch (given.kind) {
    case 'round':
      return runRound(database, given)
    case 'full_audit':
      return send({ kind: 'audit', audit: await auditLedger({ database }), isLast: true })
    case 'copy':
      return send({
        kind: 'copy',
        outcome: await attempt(() => copyTo(database, given)),
        isLast: true,
      })
  }
}

async function copyTo(store: Database, { path }: CopyOrder): Promise<CheckedCopy> {
  const { audit } = await copyChecked(store, path)
  return { ...(await digestOf(path)), isClean: audit.clean }
}

async function runRound(store: Database, { nowMs, keepMs }: RoundOrder): Promise<void> {
  await removeExpiredStates(store, { nowMs, pause })
  const audit = await auditSinceCheckpoints(store, nowMs)
  send({ kind: 'audit', audit, isLast: false })
  // After the audit, so that exchanges are audited before they are removed.
  const report = await removeOldExchanges(store, { nowMs, keepMs, pause })
  send({ kind: 'retention', report, isLast: true })
}

function send(result: BookkeepingResult): void {
  port.postMessage(result)
}

/** Longer than a transaction takes, so that charges get the store most of the time. */
function pause(): Promise<void> {
  return sleep(systemClock, 20)
}
