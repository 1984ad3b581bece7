/**
 * Connection pools to vendors over HTTP/1.1: one pool of kept-alive connections per channel address. The
 * most recently used connection serves next, so that idle ones time out. No exchange waits for another: one
 * more than allowed is refused. This file knows no format, no verdict and no timeout but that of connecting.
 */
import { connect } from 'node:net'
import { systemClock, type Clock } from '../../base/clock.ts'
import { createWatchdog } from '../../base/watchdog.ts'
import { requestHead } from '../wire/message-writer.ts'
import {
  Connection,
  type ConnectionParts,
  type ConnectionPool,
  type OpenSocket,
} from './connection.ts'
import { RoundTrip } from './round-trip.ts'
import type {
  FailureKind,
  Upstream,
  UpstreamCall,
  UpstreamReceiver,
  UpstreamRequest,
  UpstreamTarget,
} from './upstream.ts'

export interface UpstreamOptions {
  /** Name look-up, TCP and TLS together. */
  readonly connectTimeoutMs: number
  /** One more exchange than this fails as `connect`. */
  readonly maxConnectionsPerChannel?: number
  /** How long an idle connection is kept, unless the vendor says less. */
  readonly keepAliveMs?: number
  /** For timeouts, which are checked a few times a second. */
  readonly clock?: Clock
  /** Opens connections without TLS; a simulation replaces it. */
  readonly openSocket?: OpenSocket
}

interface PoolStats {
  /** Connections open or being opened. */
  readonly connectionCount: number
  readonly exchangeCount: number
}

/** Below the 60 s after which common load balancers silently drop an idle connection. */
const defaultKeepAliveMs = 30_000
const defaultConnectionsMax = 10_000

export class UpstreamPools implements Upstream {
  readonly #pools = new Map<string, ChannelPool[]>()
  readonly #connectionsMax: number
  readonly #parts: ConnectionParts
  #isClosed = false

  constructor(options: UpstreamOptions) {
    const clock = options.clock ?? systemClock
    this.#connectionsMax = options.maxConnectionsPerChannel ?? defaultConnectionsMax
    this.#parts = {
      watchdog: createWatchdog(clock),
      monotonic: () => clock.monotonic(),
      openSocket: options.openSocket ?? connect,
      connectTimeoutMs: options.connectTimeoutMs,
      keepAliveMs: options.keepAliveMs ?? defaultKeepAliveMs,
    }
  }

  send(target: UpstreamTarget, request: UpstreamRequest, receiver: UpstreamReceiver): UpstreamCall {
    const roundTrip = new RoundTrip(receiver)
    const failure = this.#begin(roundTrip, target, request)
    if (failure !== undefined) roundTrip.failUnsent(failure)
    return roundTrip
  }

  /** Returns connections and running exchanges by channel name. */
  stats(): ReadonlyMap<string, PoolStats> {
    const byChannel = new Map<string, PoolStats>()
    for (const [name, ofChannel] of this.#pools) {
      let connectionCount = 0
      let exchangeCount = 0
      for (const pool of ofChannel) {
        connectionCount += pool.connections.size
        exchangeCount += pool.connections.size - pool.idle.length
      }
      byChannel.set(name, { connectionCount, exchangeCount })
    }
    return byChannel
  }

  /** Closes the pools of all other channels once they are idle. */
  retain(names: ReadonlySet<string>): void {
    for (const [name, ofChannel] of this.#pools) {
      const isGone = !names.has(name)
      for (const pool of ofChannel) pool.setRetired(isGone)
      const inUse = ofChannel.filter((pool) => pool.connections.size > 0)
      if (inUse.length > 0) this.#pools.set(name, inUse)
      else this.#pools.delete(name)
    }
  }

  /** Fails what still runs as `aborted` and closes every connection. */
  async close(): Promise<void> {
    this.#isClosed = true
    const all = [...this.#pools.values()].flat().flatMap((pool) => [...pool.connections])
    await Promise.all(all.map((connection) => connection.close()))
    this.#parts.watchdog.close()
  }

  /** Sends the request on a connection; otherwise returns why it cannot. */
  #begin(
    roundTrip: RoundTrip,
    target: UpstreamTarget,
    request: UpstreamRequest,
  ): FailureKind | undefined {
    if (this.#isClosed) return 'aborted'
    const pool = this.#findPool(target)
    if (pool === undefined) return 'connect'
    const { method, body } = request
    const head = requestHead({
      method,
      target: pool.basePath + request.path,
      host: pool.hostHeader,
      headers: request.headers,
      body,
    })
    if (head === undefined) return 'protocol'
    const connection = pool.take()
    if (connection === undefined) return 'connect'
    connection.send(roundTrip, { head, body })
    return undefined
  }

  /** A channel whose address has changed has two pools until the old one is idle. */
  #findPool({ name, url }: UpstreamTarget): ChannelPool | undefined {
    const ofChannel = this.#pools.get(name) ?? []
    for (const pool of ofChannel) if (pool.url === url) return pool
    const base = URL.parse(url)
    if (base === null || (base.protocol !== 'https:' && base.protocol !== 'http:')) return undefined
    const connectionsMax = this.#connectionsMax
    const pool = new ChannelPool(base, { url, connectionsMax, parts: this.#parts })
    this.#pools.set(name, [...ofChannel, pool])
    return pool
  }
}

class ChannelPool implements ConnectionPool {
  readonly url: string
  readonly connections = new Set<Connection>()
  readonly idle: Connection[] = []
  readonly isTls: boolean
  readonly host: string
  readonly port: number
  /** Value of the `Host` header. */
  readonly hostHeader: string
  readonly basePath: string
  readonly parts: ConnectionParts
  tlsSession: Buffer | undefined
  readonly #connectionsMax: number
  #isRetired = false

  constructor(
    base: URL,
    pool: {
      readonly url: string
      readonly connectionsMax: number
      readonly parts: ConnectionParts
    },
  ) {
    this.url = pool.url
    this.isTls = base.protocol === 'https:'
    this.host = base.hostname.replace(/^\[(.*)\]$/, '$1')
    this.port = base.port === '' ? (this.isTls ? 443 : 80) : Number(base.port)
    this.hostHeader = base.host
    this.basePath = base.pathname.replace(/\/+$/, '')
    this.parts = pool.parts
    this.#connectionsMax = pool.connectionsMax
  }

  take(): Connection | undefined {
    for (;;) {
      const free = this.idle.pop()
      if (free === undefined) break
      if (free.isUsable) return free
      free.discard()
    }
    if (this.connections.size >= this.#connectionsMax) return undefined
    const connection = new Connection(this, this.parts)
    this.connections.add(connection)
    return connection
  }

  release(connection: Connection): void {
    if (this.#isRetired) connection.discard()
    else this.idle.push(connection)
  }

  remove(connection: Connection): void {
    this.connections.delete(connection)
    const index = this.idle.lastIndexOf(connection)
    if (index !== -1) this.idle.splice(index, 1)
  }

  /** A retired pool keeps no idle connection. It may be used again when its channel comes back. */
  setRetired(isRetired: boolean): void {
    this.#isRetired = isRetired
    if (isRetired) this.discardIdle()
  }

  discardIdle(): void {
    for (const connection of this.idle.splice(0)) connection.discard()
  }
}
