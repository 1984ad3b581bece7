/**
 * Reads the sources of the live feed one step after the other. PostgreSQL commits numbered rows out of
 * order, so each step looks back over the last seconds and leaves out what it has seen. Invariants: a step
 * that fails has changed nothing; a step reads a bounded number of rows and says what it leaves out.
 */
import type { Clock } from '../../base/clock.ts'
import {
  gapOf,
  positionsOf,
  type EventKind,
  type FeedEvent,
  type Positions,
  type SourceName,
} from './event.ts'
import type { Item, Source } from './sources.ts'

/** Longer than a transaction of a charge takes. */
const lookBackMs = 3_000
/** Rows of a source that a step looks at. */
const lookMax = 1_000
/** Events of a source in one step, and for a reader that comes back. */
const eventsPerStepMax = 200
const eventsPerReturnMax = 500

/** Where a source stands. */
interface Place {
  readonly position: number
  /** Everything up to here is settled: no row with a smaller number comes any more. */
  readonly floor: number
  /** Positions of the last seconds, oldest first. */
  readonly trail: readonly { readonly atMs: number; readonly position: number }[]
  /** Keys of items above the floor that are reported, with their positions. */
  readonly seen: ReadonlyMap<string, number>
}

interface Step {
  readonly place: Place
  readonly events: readonly FeedEvent[]
}

export class EventReader {
  readonly #clock: Clock
  readonly #sources: readonly Source[]
  readonly #places: Map<SourceName, Place>

  private constructor(clock: Clock, sources: readonly Source[], places: Map<SourceName, Place>) {
    this.#clock = clock
    this.#sources = sources
    this.#places = places
  }

  /** Begins behind everything that is there. */
  static async open(clock: Clock, sources: readonly Source[]): Promise<EventReader> {
    const places = new Map<SourceName, Place>()
    for (const source of sources) {
      const position = await source.latest()
      places.set(source.name, placeAt(position))
    }
    return new EventReader(clock, sources, places)
  }

  /** From where a reader goes on later: what it gets then may overlap by seconds, and lacks nothing. */
  positions(): Positions {
    return positionsOf((name) => this.#placeOf(name).floor)
  }

  /** Returns the events since the last step. */
  async step(): Promise<readonly FeedEvent[]> {
    const nowMs = this.#clock.monotonic()
    const steps: (readonly [SourceName, Step])[] = []
    for (const source of this.#sources) {
      const place = this.#placeOf(source.name)
      const found = await source.list(place.floor, lookMax + 1)
      const restarted = await this.#restarted(source, place, found)
      steps.push([source.name, restarted ?? (await stepOf(source, { place, found, nowMs }))])
    }
    for (const [name, { place }] of steps) this.#places.set(name, place)
    return steps.flatMap(([, { events }]) => events)
  }

  /** Returns the events of these kinds from earlier positions up to the last step. */
  async since(positions: Positions, kinds: ReadonlySet<EventKind>): Promise<readonly FeedEvent[]> {
    const events: FeedEvent[] = []
    for (const source of this.#sources) {
      if (!kinds.has(source.kind)) continue
      const { position } = this.#placeOf(source.name)
      const after = positions[source.name]
      // The store is another one, or was put back from a backup.
      if (after > position) events.push(gapOf(source.kind))
      else if (after < position) {
        const found = await source.list(after, lookMax + 1)
        const missed = found.filter((item) => item.position <= position)
        events.push(...(await eventsOf(source, missed, eventsPerReturnMax)))
      }
    }
    return events
  }

  /**
   * Where the newest rows are gone, SQLite gives their numbers to other rows: the reader goes on behind those
   * that are there now. Undefined where nothing like that has happened.
   */
  async #restarted(
    source: Source,
    place: Place,
    found: readonly Item[],
  ): Promise<Step | undefined> {
    if ((found[0]?.position ?? 0) >= place.position) return undefined
    const newest = await source.latest()
    if (newest >= place.position) return undefined
    return { place: placeAt(newest), events: [gapOf(source.kind)] }
  }

  #placeOf(name: SourceName): Place {
    const place = this.#places.get(name)
    if (place === undefined) throw new RangeError(`the feed has no source ${name}`)
    return place
  }
}

function placeAt(position: number): Place {
  return { position, floor: position, trail: [], seen: new Map() }
}

interface Found {
  readonly place: Place
  /** Newest first. */
  readonly found: readonly Item[]
  readonly nowMs: number
}

async function stepOf(source: Source, { place, found, nowMs }: Found): Promise<Step> {
  const news = found.filter(({ key }) => !place.seen.has(key))
  const position = Math.max(place.position, ...found.map((item) => item.position))
  const events = await eventsOf(source, news, eventsPerStepMax)
  const trail = [...place.trail, { atMs: nowMs, position }]
  const settled = trail.findLastIndex(({ atMs }) => atMs <= nowMs - lookBackMs)
  const floor = settled < 0 ? place.floor : (trail[settled]?.position ?? place.floor)
  const seen = [...place.seen, ...news.map((item) => [item.key, item.position] as const)]
  return {
    events,
    place: {
      position,
      floor,
      trail: trail.slice(settled + 1),
      seen: new Map(seen.filter(([, at]) => at > floor)),
    },
  }
}

/** Views the newest items, oldest first, behind a gap for those before. */
async function eventsOf(
  source: Source,
  news: readonly Item[],
  countMax: number,
): Promise<readonly FeedEvent[]> {
  if (news.length === 0) return []
  const shown = await source.view(news.slice(0, countMax).toReversed())
  const events = shown.map((data): FeedEvent => ({ name: source.kind, kind: source.kind, data }))
  const skipped = news.length - countMax
  if (skipped <= 0) return events
  return [gapOf(source.kind, news.length > lookMax ? undefined : skipped), ...events]
}
