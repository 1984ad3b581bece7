/**
 * The thread of bookkeeping.ts: one task, with its own connection and a low priority, so that neither the
 * event loop nor a charge waits for it. Not the lowest priority: its transactions must not starve while
 * charges wait for its lock.
 */
import { sleep, systemClock } from '../../base/clock.ts'
import { Secret } from '../../base/secret.ts'
import { answerOrder } from '../../base/thread.ts'
import { removeOldCredentials } from '../../channels/former-credential-store.ts'
import { removeExpiredStates } from '../../ledger/answer-state-store.ts'
import { removeOldExchanges } from '../../ledger/exchange-retention.ts'
import { sealHours } from '../../ledger/proof/sealing.ts'
import type { Database } from '../../storage/database.ts'
import { openStore } from '../../storage/open.ts'
import { attempt } from '../operation.ts'
import { auditLedger, auditSinceCheckpoints } from './audit.ts'
import type { AuditView } from './audit-forms.ts'
import { copyChecked, digestOf } from './backup.ts'
import type { BookkeepingOrder, BookkeepingResults, BookkeepingTask } from './bookkeeping.ts'
import type { CheckedCopy } from './open-copy.ts'

await answerOrder(async (given) => {
  const { store, ...task } = given as BookkeepingOrder
  const database = await openStore(store)
  try {
    return await carryOut(database, task)
  } finally {
    await database.close()
  }
})

function carryOut(
  database: Database,
  task: BookkeepingTask,
): Promise<BookkeepingResults[BookkeepingTask['kind']]> {
  switch (task.kind) {
    case 'audit_new':
      return auditNew(database, task.nowMs)
    case 'remove_old':
      return removeOldExchanges(database, { nowMs: task.nowMs, keepMs: task.keepMs, pause })
    case 'full_audit':
      return auditLedger({ database })
    case 'seal':
      return sealHours(database, {
        nowMs: task.nowMs,
        masterKey: new Secret(task.masterKey),
        pause,
      })
    case 'copy':
      return attempt(() => copyTo(database, task.path))
  }
}

async function auditNew(database: Database, nowMs: number): Promise<AuditView> {
  await removeExpiredStates(database, { nowMs, pause })
  await database.transact((transaction) => removeOldCredentials(transaction, nowMs))
  return auditSinceCheckpoints(database, nowMs)
}

async function copyTo(database: Database, path: string): Promise<CheckedCopy> {
  const { audit } = await copyChecked(database, path)
  return { ...(await digestOf(path)), isClean: audit.clean }
}

/** Longer than a transaction takes, so that charges get the store most of the time. */
function pause(): Promise<void> {
  return sleep(systemClock, 20)
}
