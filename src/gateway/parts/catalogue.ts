/**
 * Opens the catalogue: its snapshot in force, and the loading of a newer one.
 */
import type { Logger } from 'pino'
import { createSnapshotHolder, loadSnapshot, type LoadedSnapshot } from '../../channels/snapshot.ts'
import { readRevisions, type Revisions } from '../../storage/changes.ts'
import type { Database } from '../../storage/database.ts'
import type { Opening } from './opening.ts'

export interface Catalogue {
  /** What the store had when the catalogue was read. */
  readonly since: Revisions
  readonly snapshot: () => LoadedSnapshot
  /** Loads a newer revision. Loads run one after the other, so that an older one never wins. */
  load(revision: number, onSwap: OnSwap): Promise<void>
}

type OnSwap = (previous: LoadedSnapshot, current: LoadedSnapshot) => void

export async function openCatalogue({ effects }: Opening, database: Database): Promise<Catalogue> {
  const { masterKey, environment, log, place } = effects
  const read = (revision: number): Promise<LoadedSnapshot> =>
    loadSnapshot(database, { masterKey, environment, revision, processCount: place?.count })
  // Revisions before contents: a change between the two reads is loaded again, never missed.
  const since = await readRevisions(database)
  const holder = createSnapshotHolder(await read(since.catalogue))
  reportOutOfService(holder.current, log)
  async function swap(revision: number, onSwap: OnSwap): Promise<void> {
    const previous = holder.current
    holder.swap(await read(revision))
    onSwap(previous, holder.current)
    reportOutOfService(holder.current, log)
  }
  let lastLoad: Promise<void> = Promise.resolve()
  return {
    since,
    snapshot: () => holder.current,
    load(revision, onSwap) {
      const loaded = lastLoad.then(() => swap(revision, onSwap))
      // The caller of this load reports its failure; the next load must still run.
      lastLoad = loaded.catch(() => undefined)
      return loaded
    },
  }
}

function reportOutOfService(snapshot: LoadedSnapshot, log: Logger): void {
  for (const { kind, name, reason } of snapshot.outOfService)
    log.warn({ kind, name, reason }, 'out of service')
}
