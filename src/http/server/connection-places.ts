/**
 * Who may hold a connection of a listener. A connection that has shown a valid key is limited by the limits
 * of that key and its account. One that has not is limited by its client's address, and is the first to be
 * closed when places run out. Some places are left for `/health`, however many requests are under way.
 *
 *     without a key   spare while no complete request of it is being served
 *     with a key      spare while idle
 */
import { unwatched, type Watchdog, type Watched } from '../../base/watchdog.ts'
import type { Peer } from './client-address.ts'

export interface ConnectionPlacesOptions {
  readonly connectionsMax: number
  /** Connections of one address that have shown no valid key; 0 = no limit. */
  readonly keylessPerAddressMax: number
  readonly monotonic: () => number
  readonly watchdog: Watchdog
  /** One was closed because of its address, or for another; or a new one was not accepted. */
  readonly onConnectionClosed: (why: ClosedFor) => void
}

export type ClosedFor = 'address' | 'another' | 'full'

/** A connection that holds a place. */
export interface PlaceHolder {
  /** Closes the connection, unless an answer could be lost. Returns whether it did. */
  giveWay(): boolean
}

/** Who has connected, and the place that the connection got. */
export interface Arrival {
  readonly peer: Peer
  readonly place: Place
}

/** A new connection has this long to show its key. */
const graceMs = 1_000

/** Places for `/health` only: one in a hundred, eight at least, but not more than one in eight. */
function healthPlacesOf(connectionsMax: number): number {
  return Math.floor(Math.min(connectionsMax / 8, Math.max(8, connectionsMax / 100)))
}

export class ConnectionPlaces {
  readonly #options: ConnectionPlacesOptions
  readonly #usualMax: number
  readonly #keyless = new PlaceList()
  readonly #keyed = new PlaceList()
  /** Keyless connections by address. */
  readonly #byGroup = new Map<string, number>()
  readonly #surplusCheck: Watched
  #count = 0

  constructor(options: ConnectionPlacesOptions) {
    this.#options = options
    const { connectionsMax } = options
    this.#usualMax = connectionsMax - healthPlacesOf(connectionsMax)
    this.#surplusCheck = {
      dueMs: Infinity,
      watchIndex: unwatched,
      onDue: () => this.#closeSurplus(),
      cut: () => undefined,
    }
  }

  /** Returns a place for a new connection; undefined where there is none. */
  take(peer: Peer): Place | undefined {
    if (this.#count >= this.#usualMax) this.#makeRoom()
    if (this.#count >= this.#options.connectionsMax) {
      this.#options.onConnectionClosed('full')
      return undefined
    }
    const isForHealthOnly = this.#count >= this.#usualMax
    const place = new Place(this, { group: peer.group, isForHealthOnly, sinceMs: this.#nowMs })
    this.#count++
    if (place.group !== undefined) this.#countUp(place.group)
    this.onSpare(place)
    return place
  }

  onSpare(place: Place): void {
    place.list ??= place.hasKey ? this.#keyed.add(place) : this.#keyless.add(place)
    const isSurplus = place.group !== undefined && !place.hasKey && this.#isOver(place.group)
    if (isSurplus && this.#surplusCheck.dueMs === Infinity) this.#checkSurplusLater()
  }

  onKeyShown({ group }: Place): void {
    if (group !== undefined) this.#countDown(group)
  }

  onReleased({ group, hasKey }: Place): void {
    this.#count--
    if (group !== undefined && !hasKey) this.#countDown(group)
  }

  get #nowMs(): number {
    return this.#options.monotonic()
  }

  /** Closes the connection that has been spare for longest: one without a key, else one with. */
  #makeRoom(): void {
    for (const list of [this.#keyless, this.#keyed])
      for (const place of list.oldestFirst()) if (this.#close(place, 'another')) return
  }

  #close(place: Place, why: ClosedFor): boolean {
    if (place.holder?.giveWay() !== true) return false
    place.release()
    this.#options.onConnectionClosed(why)
    return true
  }

  #checkSurplusLater(): void {
    this.#surplusCheck.dueMs = this.#nowMs + graceMs
    this.#options.watchdog.watch(this.#surplusCheck)
  }

  /** Closes the oldest keyless connections of each address that has too many. */
  #closeSurplus(): void {
    let isLater = false
    for (const place of this.#keyless.oldestFirst()) {
      if (place.group === undefined || !this.#isOver(place.group)) continue
      if (this.#nowMs - place.sinceMs < graceMs) isLater = true
      else this.#close(place, 'address')
    }
    this.#options.watchdog.unwatch(this.#surplusCheck)
    this.#surplusCheck.dueMs = Infinity
    if (isLater) this.#checkSurplusLater()
  }

  #isOver(group: string): boolean {
    const { keylessPerAddressMax } = this.#options
    return keylessPerAddressMax > 0 && (this.#byGroup.get(group) ?? 0) > keylessPerAddressMax
  }

  #countUp(group: string): void {
    this.#byGroup.set(group, (this.#byGroup.get(group) ?? 0) + 1)
  }

  #countDown(group: string): void {
    const count = (this.#byGroup.get(group) ?? 0) - 1
    if (count > 0) this.#byGroup.set(group, count)
    else this.#byGroup.delete(group)
  }
}

interface PlaceFacts {
  readonly group: string | undefined
  readonly isForHealthOnly: boolean
  readonly sinceMs: number
}

/** The place of one connection. */
export class Place {
  /** As in `Peer`. */
  readonly group: string | undefined
  /** Too many connections are in use: no request but for `/health` is served on this one. */
  readonly isForHealthOnly: boolean
  readonly sinceMs: number
  holder: PlaceHolder | undefined
  /** The list of spare places that it is in, and its neighbours there. */
  list: PlaceList | undefined
  older: Place | undefined
  newer: Place | undefined
  readonly #places: ConnectionPlaces
  #hasKey: boolean
  #isReleased = false

  constructor(places: ConnectionPlaces, { group, isForHealthOnly, sinceMs }: PlaceFacts) {
    this.#places = places
    this.group = group
    this.isForHealthOnly = isForHealthOnly
    this.sinceMs = sinceMs
    this.#hasKey = group === undefined
  }

  get hasKey(): boolean {
    return this.#hasKey
  }

  /** A request with a valid key is being served. */
  showKey(): void {
    this.onBusy()
    if (this.#hasKey || this.#isReleased) return
    this.#hasKey = true
    this.#places.onKeyShown(this)
  }

  /** A complete request is being served. */
  onBusy(): void {
    this.list?.remove(this)
  }

  /** It may be closed for another connection. */
  onSpare(): void {
    if (!this.#isReleased) this.#places.onSpare(this)
  }

  /** Idempotent. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.list?.remove(this)
    this.#places.onReleased(this)
  }
}

/** In the order in which they became spare. Linked, so that a busy listener makes no garbage of it. */
class PlaceList {
  #oldest: Place | undefined
  #newest: Place | undefined

  add(place: Place): this {
    place.older = this.#newest
    if (this.#newest === undefined) this.#oldest = place
    else this.#newest.newer = place
    this.#newest = place
    return this
  }

  remove(place: Place): void {
    const { older, newer } = place
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    place.list = place.older = place.newer = undefined
  }

  /** The place at hand may be removed meanwhile. */
  *oldestFirst(): Generator<Place> {
    for (let place = this.#oldest; place !== undefined;) {
      const { newer } = place
      yield place
      place = newer
    }
  }
}
