/**
 * The lists whose changes the live feed tells, and how it notices them: each has a sign, a short text that
 * differs after a change by any gateway or command. Signs cost one small read each. A sign may move
 * shortly before its change can be read: PostgreSQL gives numbers before it commits. So a list counts as
 * changed for one more look after its sign has moved.
 */
import { newestChange } from '../../channels/cluster/channel-history.ts'
import { readRecordSign } from '../../ledger/exchange-store.ts'
import { readRevisions } from '../../storage/changes.ts'
import type { Database } from '../../storage/database.ts'
import { newestAction } from '../actions.ts'
import { readAlertSign } from '../alerts/alert-store.ts'
import { newestAudit } from '../store/audit-store.ts'

export const watchedLists = [
  'requests',
  'channels',
  'actions',
  'alerts',
  'audits',
  'keys',
  'accounts',
  'balances',
  'catalogue',
] as const
export type WatchedList = (typeof watchedLists)[number]

type Signs = Readonly<Record<WatchedList, string>>

async function readSigns(database: Database): Promise<Signs> {
  const { access, accounts, balances, catalogue } = await readRevisions(database)
  return {
    requests: await readRecordSign(database),
    channels: String(await newestChange(database)),
    actions: String(await newestAction(database)),
    alerts: await readAlertSign(database),
    audits: String(await newestAudit(database)),
    keys: String(access),
    accounts: String(accounts),
    balances: String(balances),
    catalogue: String(catalogue),
  }
}

/** Returns the lists that have changed since its last call. A call that rejects has noticed nothing. */
export type FindChanged = () => Promise<readonly WatchedList[]>

/** Resolves when everything that changes from now on will be found. */
export async function watchLists(database: Database): Promise<FindChanged> {
  let seen = await readSigns(database)
  let moved: readonly WatchedList[] = []
  return async () => {
    const signs = await readSigns(database)
    const before = moved
    moved = watchedLists.filter((list) => signs[list] !== seen[list])
    seen = signs
    return watchedLists.filter((list) => moved.includes(list) || before.includes(list))
  }
}
