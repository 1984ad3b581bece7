/**
 * The connections of one channel address. The most recently used one serves next, so that those no
 * longer needed run out of time. Nothing ever waits behind another: one exchange more than allowed
 * is refused.
 */
import type { Watchdog } from '../base/watchdog.ts'
import { Connection, type Home, type OpenSocket } from './upstream-connection.ts'

export interface PoolParts {
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  readonly openSocket: OpenSocket
  readonly connectTimeoutMs: number
  readonly connectionsMax: number
  readonly keepAliveMs: number
}

export class ChannelPool implements Home {
  readonly url: string
  readonly connections = new Set<Connection>()
  readonly idle: Connection[] = []
  readonly isTls: boolean
  /** Name or address, without the brackets of a URL. */
  readonly host: string
  readonly port: number
  /** Value of the `Host` header. */
  readonly hostHeader: string
  readonly basePath: string
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  readonly openSocket: OpenSocket
  readonly connectTimeoutMs: number
  readonly keepAliveMs: number
  tlsSession: Buffer | undefined
  readonly #connectionsMax: number
  #isRetired = false

  constructor(url: string, base: URL, parts: PoolParts) {
    this.url = url
    this.isTls = base.protocol === 'https:'
    this.host = base.hostname.replace(/^\[(.*)\]$/, '$1')
    this.port = base.port === '' ? (this.isTls ? 443 : 80) : Number(base.port)
    this.hostHeader = base.host
    this.basePath = base.pathname.replace(/\/+$/, '')
    this.watchdog = parts.watchdog
    this.monotonic = parts.monotonic
    this.openSocket = parts.openSocket
    this.connectTimeoutMs = parts.connectTimeoutMs
    this.keepAliveMs = parts.keepAliveMs
    this.#connectionsMax = parts.connectionsMax
  }

  take(): Connection | undefined {
    for (;;) {
      const free = this.idle.pop()
      if (free === undefined) break
      if (free.isUsable) return free
      free.discard()
    }
    if (this.connections.size >= this.#connectionsMax) return undefined
    const connection = new Connection(this)
    this.connections.add(connection)
    return connection
  }

  giveBack(connection: Connection): void {
    if (this.#isRetired) connection.discard()
    else this.idle.push(connection)
  }

  remove(connection: Connection): void {
    this.connections.delete(connection)
    const index = this.idle.lastIndexOf(connection)
    if (index !== -1) this.idle.splice(index, 1)
  }

  /** A retired pool keeps no idle connection; one whose channel has come back does again. */
  setRetired(isRetired: boolean): void {
    this.#isRetired = isRetired
    if (isRetired) this.discardIdle()
  }

  discardIdle(): void {
    for (const connection of this.idle.splice(0)) connection.discard()
  }
}
