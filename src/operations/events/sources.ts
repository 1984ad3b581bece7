/**
 * Where the live feed reads its events: tables whose rows are numbered as they are written. A source decides
 * nothing: it lists the rows behind a position, and shows them in the form of their lists.
 */
import { findKeyNames } from '../../access/key-store.ts'
import { listChangesAfter, newestChange } from '../../channels/cluster/channel-history.ts'
import {
  exchangeTables,
  listRecordNumbers,
  listRecords,
  newestRecordNumber,
} from '../../ledger/exchange-store.ts'
import { readRevisions } from '../../storage/changes.ts'
import { revisionAreas, type Database } from '../../storage/database.ts'
import { listActionsAfter, newestAction } from '../actions.ts'
import { listAlertChanges, newestAlertChangeMs } from '../alerts/alert-store.ts'
import { viewAlertChange } from '../alerts/log.ts'
import { viewChange } from '../channels/channel-health.ts'
import { viewRequest } from '../requests/view.ts'
import { viewRun } from '../store/audit-runs.ts'
import { listAuditsAfter, newestAudit } from '../store/audit-store.ts'
import type { EventKind, SourceName } from './event.ts'

export interface Item {
  readonly position: number
  /** Tells the items of a source apart. */
  readonly key: string
}

export interface Source<Found extends Item = Item> {
  readonly name: SourceName
  readonly kind: EventKind
  /** Returns the position behind everything that is there; 0 for an empty table. */
  latest(): Promise<number>
  /** Lists the items behind a position, newest first. */
  list(after: number, countMax: number): Promise<readonly Found[]>
  /** Reads what events show of items, in their order; leaves out one that is gone. */
  view(items: readonly Found[]): Promise<readonly object[]>
}

interface Shown extends Item {
  readonly data: object
}

export function createSources(database: Database): readonly Source[] {
  return [
    ...exchangeTables.map((table) => requestSource(database, table)),
    shownSource({
      name: 'channel_change',
      kind: 'channel',
      latest: () => newestChange(database),
      list: async (after, countMax) =>
        (await listChangesAfter(database, { after, countMax })).map((change) => ({
          position: change.sequence,
          key: String(change.sequence),
          data: viewChange(change),
        })),
    }),
    shownSource({
      name: 'operator_action',
      kind: 'action',
      latest: () => newestAction(database),
      list: async (after, countMax) =>
        (await listActionsAfter(database, { after, countMax })).map((action) => ({
          position: action.sequence,
          key: String(action.sequence),
          data: action,
        })),
    }),
    shownSource({
      name: 'alert',
      kind: 'alert',
      latest: () => newestAlertChangeMs(database),
      list: async (afterMs, countMax) =>
        (await listAlertChanges(database, { afterMs, countMax })).map((change) => ({
          position: change.atMs,
          key: `${change.alert.id} ${change.event}`,
          data: viewAlertChange(change),
        })),
    }),
    shownSource({
      name: 'ledger_audit',
      kind: 'audit',
      latest: () => newestAudit(database),
      list: async (after, countMax) =>
        (await listAuditsAfter(database, { after, countMax })).map((run) => ({
          position: run.sequence,
          key: run.id,
          data: viewRun(run),
        })),
    }),
    ...revisionAreas.map((area) => revisionSource(database, area)),
  ]
}

function requestSource(database: Database, table: (typeof exchangeTables)[number]): Source {
  return {
    name: table,
    kind: 'request',
    latest: () => newestRecordNumber(database, table),
    async list(after, countMax) {
      const numbers = await listRecordNumbers(database, table, { after, countMax })
      return numbers.map((position) => ({ position, key: String(position) }))
    },
    async view(items) {
      const numbers = items.map(({ position }) => position)
      const rows = await listRecords(database, table, numbers)
      const keyNames = await findKeyNames(
        database,
        rows.map(({ keyId }) => keyId),
      )
      return rows.map((row) => viewRequest(row, keyNames))
    },
  }
}

function shownSource(parts: Omit<Source<Shown>, 'view'>): Source<Shown> {
  return { ...parts, view: (items) => Promise.resolve(items.map(({ data }) => data)) }
}

/** What operators change without an event of its kind, such as accounts: a hint to read again. */
function revisionSource(database: Database, area: (typeof revisionAreas)[number]): Source {
  const latest = async (): Promise<number> => (await readRevisions(database))[area]
  return shownSource({
    name: area,
    kind: 'changed',
    latest,
    async list(after) {
      const position = await latest()
      return position > after ? [{ position, key: String(position), data: { area } }] : []
    },
  })
}
