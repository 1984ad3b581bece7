/**
 * Follows what commands and other nodes change while a gateway runs: polls the counters of table
 * `revision`, which triggers raise, and reports each area that moved, again and again until the
 * caller has taken the change over. It knows areas and numbers, not what they mean. Where the store
 * can say that something moved, it is asked at once; polling goes on all the same, so that a word
 * that was lost costs a moment and nothing else.
 *
 * The counters are read outright: `PRAGMA data_version` would move with every charge and would
 * hide changes made through the same connection, and four rows cost as little to read.
 */
import { every, type Clock } from '../base/clock.ts'
import { revisionAreas, type Queryable, type RevisionArea } from './database.ts'

/** Well inside the second that a change may take to be followed. */
const pollIntervalMs = 250

export type Revisions = Readonly<Record<RevisionArea, number>>

export interface RevisionWatch {
  close(): void
}

export interface RevisionWatchOptions {
  readonly database: Queryable
  readonly clock: Clock
  /** What the caller has read already; the first change reported is one after these. */
  readonly since: Revisions
  /**
   * Resolves when the change is taken over; where it rejects, the area is reported again with the
   * next poll. Never asked about an area of which it has a change in hand.
   */
  readonly onChange: (area: RevisionArea, revision: number) => Promise<void>
  /**
   * Hears of a poll that failed; the next one is made all the same. Of an area's changes that cannot
   * be taken over it hears once, until they can be.
   */
  readonly onError: (error: unknown) => void
  /** Changes of the area are taken over again. */
  readonly onRecovered: (area: RevisionArea) => void
  /** Calls `hint` whenever counters may have moved, until closed. */
  readonly listen?: (hint: () => void) => { close(): void }
}

export async function readRevisions(database: Queryable): Promise<Revisions> {
  const revisions = { access: 0, accounts: 0, balances: 0, catalogue: 0 }
  for (const row of await database.query('SELECT area, number FROM revision')) {
    const area = revisionAreas.find((known) => known === row['area'])
    if (area !== undefined) revisions[area] = Number(row['number'])
  }
  return revisions
}

/** Watches until closed. Read `since` before reading what is to be kept current, never after. */
export function watchRevisions(options: RevisionWatchOptions): RevisionWatch {
  const { database, clock, onChange, onError, onRecovered, listen } = options
  const seen = { ...options.since }
  const inHand = new Set<RevisionArea>()
  const failing = new Set<RevisionArea>()
  let isClosed = false

  /** What moves meanwhile is seen by a later poll: what was read early never undoes what was read late. */
  async function follow(area: RevisionArea, revision: number): Promise<void> {
    inHand.add(area)
    try {
      await onChange(area, revision)
      seen[area] = revision
      if (failing.delete(area) && !isClosed) onRecovered(area)
    } catch (error) {
      if (!failing.has(area) && !isClosed) onError(error)
      failing.add(area)
    } finally {
      inHand.delete(area)
    }
  }
  const poll = async (): Promise<void> => {
    const now = await readRevisions(database)
    if (isClosed) return
    // Two polls may overlap; counters only grow, so the older of two readings is told by them.
    for (const area of revisionAreas)
      if (now[area] > seen[area] && !inHand.has(area)) void follow(area, now[area])
  }
  const timer = every(clock, pollIntervalMs, poll, onError)
  const listener = listen?.(() => void poll().catch(onError))
  return {
    close() {
      isClosed = true
      timer.cancel()
      listener?.close()
    },
  }
}
