/**
 * Follows the changes that commands and other nodes make while a gateway runs: polls the counters of
 * table `revision`, which triggers raise, and reports each area that moved until the caller has
 * followed the change. Knows areas and numbers, not their meaning. Where the store sends
 * notifications, it polls at once; it polls anyway, so a lost notification costs only a moment. Where the
 * store's file shows that nothing was committed, it does not ask.
 *
 * It reads the counters themselves: `PRAGMA data_version` would move with every charge and would
 * hide changes made through the same connection, and four rows cost as little to read.
 */
import { every, type Clock } from '../base/clock.ts'
import { revisionAreas, type Queryable, type RevisionArea } from './database.ts'

/** A gateway follows a change within one second. */
const pollIntervalMs = 250

export type Revisions = Readonly<Record<RevisionArea, number>>

export interface RevisionWatch {
  /**
   * Resolves when all changes committed so far are followed, or `onError` has got why one cannot be. Rejects
   * where the store does not answer.
   */
  catchUp(): Promise<void>
  close(): void
}

export interface RevisionWatchOptions {
  readonly database: Queryable
  readonly clock: Clock
  /** The revisions that the caller has read; only later changes are reported. */
  readonly since: Revisions
  /**
   * Resolves when the change is followed; where it rejects, the area is reported again with the next
   * poll. Called again for an area only after it has settled.
   */
  readonly onChange: (area: RevisionArea, revision: number) => Promise<void>
  /**
   * Called for each failed poll; polling goes on. Called once when an area's changes cannot be followed,
   * until they can be.
   */
  readonly onError: (error: unknown) => void
  /** Changes of the area are followed again. */
  readonly onRecovered: (area: RevisionArea) => void
  /** Calls `hint` whenever counters may have moved, until closed. */
  readonly listen?: (hint: () => void) => { close(): void }
  /** False = nothing was committed since the last call, so that the counters need not be read. */
  readonly mayHaveChanged?: () => boolean
}

export async function readRevisions(database: Queryable): Promise<Revisions> {
  const revisions = { access: 0, accounts: 0, balances: 0, catalogue: 0 }
  for (const row of await database.query('SELECT area, number FROM revision')) {
    const area = revisionAreas.find((known) => known === row['area'])
    if (area !== undefined) revisions[area] = Number(row['number'])
  }
  return revisions
}

/** Watches until closed. Read `since` before the data that is to be kept current, never after. */
export function watchRevisions(options: RevisionWatchOptions): RevisionWatch {
  const { database, clock, onChange, onError, onRecovered, listen, mayHaveChanged } = options
  const seen = { ...options.since }
  let latest = options.since
  /** All that was committed before the last look is in `latest`. */
  let isLatest = false
  const following = new Map<RevisionArea, Promise<void>>()
  const failing = new Set<RevisionArea>()
  let isClosed = false

  /** A later poll sees changes that come meanwhile, so an early read never replaces a later one. */
  async function report(area: RevisionArea, revision: number): Promise<void> {
    try {
      await onChange(area, revision)
      seen[area] = revision
      if (failing.delete(area) && !isClosed) onRecovered(area)
    } catch (error) {
      if (!failing.has(area) && !isClosed) onError(error)
      failing.add(area)
    }
  }
  /** Counters only grow, so an older reading of them has smaller numbers. */
  function follow(area: RevisionArea, now: Revisions): Promise<void> | undefined {
    if (isClosed || now[area] <= seen[area] || following.has(area)) return following.get(area)
    const reported = report(area, now[area]).finally(() => following.delete(area))
    following.set(area, reported)
    return reported
  }
  const poll = async (): Promise<void> => {
    if (mayHaveChanged?.() !== false) isLatest = false
    if (isLatest && revisionAreas.every((area) => latest[area] <= seen[area])) return
    latest = await readRevisions(database)
    isLatest = true
    for (const area of revisionAreas) void follow(area, latest)
  }
  const timer = every(clock, pollIntervalMs, poll, onError)
  const listener = listen?.(() => void poll().catch(onError))
  return {
    async catchUp() {
      const now = await readRevisions(database)
      for (const area of revisionAreas) {
        // One that runs may have begun before the change.
        await following.get(area)
        await follow(area, now)
      }
    },
    close() {
      isClosed = true
      timer.cancel()
      listener?.close()
    },
  }
}
