/**
 * Connection pools to vendors over HTTP/1.1: one pool of kept-alive connections per channel address. The
 * most recently used connection serves next, so that idle ones time out. No exchange waits for another: where
 * all connections that the gateway may have are in use, one more is refused. This file knows no format, no
 * verdict and no timeout but that of connecting.
 */
import { connect, type LookupFunction } from 'node:net'
import { kindOfAddress } from '../../base/address-kind.ts'
import type { Secret } from '../../base/secret.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import type { Shortage } from '../../base/system-error.ts'
import { createWatchdog } from '../../base/watchdog.ts'
import { requestHead } from '../wire/message-writer.ts'
import {
  Connection,
  type ConnectionParts,
  type ConnectionPool,
  type OpenSocket,
} from './connection.ts'
import { checkedLookup, resolveBySystem, type Resolve } from './checked-lookup.ts'
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
  /** Of all channels together. One more exchange than this fails as `shortage`. */
  readonly connectionsMax?: number
  /** A connection could not be opened because of the gateway itself. */
  readonly onShortage?: (of: Shortage) => void
  /** How long an idle connection is kept, unless the vendor says less. */
  readonly keepAliveMs?: number
  /** For timeouts, which are checked a few times a second. */
  readonly clock?: Clock
  /** Opens connections without TLS; a simulation replaces it. */
  readonly openSocket?: OpenSocket
  /** Replaces the name look-up in tests. */
  readonly resolve?: Resolve
}

interface PoolStats {
  /** Connections open or being opened. */
  readonly connectionCount: number
  readonly exchangeCount: number
}

/** Below the 60 s after which common load balancers silently drop an idle connection. */
const defaultKeepAliveMs = 30_000

export class UpstreamPools implements Upstream {
  readonly #pools = new Map<string, ChannelPool[]>()
  readonly #connectionsMax: number
  readonly #parts: ConnectionParts
  readonly #resolve: Resolve
  #isClosed = false

  constructor(options: UpstreamOptions) {
    const clock = options.clock ?? systemClock
    this.#connectionsMax = options.connectionsMax ?? Infinity
    this.#resolve = options.resolve ?? resolveBySystem
    this.#parts = {
      watchdog: createWatchdog(clock),
      monotonic: () => clock.monotonic(),
      openSocket: options.openSocket ?? connect,
      connectTimeoutMs: options.connectTimeoutMs,
      keepAliveMs: options.keepAliveMs ?? defaultKeepAliveMs,
      onShortage: options.onShortage ?? (() => undefined),
    }
  }

  send(target: UpstreamTarget, request: UpstreamRequest, receiver: UpstreamReceiver): UpstreamCall {
    const roundTrip = new RoundTrip(receiver)
    const failure = this.#begin(roundTrip, target, request)
    if (failure !== undefined) {
      request.onBodyUnused?.()
      roundTrip.failUnsent(failure)
    }
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

  /** Fails running exchanges as `aborted` and closes every connection. */
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
    const { method, body, onBodyUnused } = request
    const head = requestHead({
      method,
      target: pool.basePath + request.path,
      host: pool.hostHeader,
      headers: request.headers,
      body,
    })
    if (head === undefined) return 'protocol'
    const connection = pool.takeIdle() ?? (this.#makeRoom() ? pool.open() : undefined)
    if (connection === undefined) {
      this.#parts.onShortage('open_files')
      return 'shortage'
    }
    connection.send(roundTrip, { head, body, onBodyUnused })
    return undefined
  }

  /** Returns whether one more connection may be opened; an idle one of another channel makes room for it. */
  #makeRoom(): boolean {
    const pools = [...this.#pools.values()].flat()
    const openCount = pools.reduce((sum, { connections }) => sum + connections.size, 0)
    if (openCount < this.#connectionsMax) return true
    const withIdle = pools.find(({ idle }) => idle.length > 0)
    withIdle?.idle.shift()?.discard()
    return withIdle !== undefined
  }

  /** A channel whose address has changed has two pools until the old one is idle. */
  #findPool(target: UpstreamTarget): ChannelPool | undefined {
    const { name, url } = target
    const ofChannel = this.#pools.get(name) ?? []
    for (const pool of ofChannel) if (pool.isFor(target)) return pool
    const base = URL.parse(url)
    if (base === null || (base.protocol !== 'https:' && base.protocol !== 'http:')) return undefined
    const pool = new ChannelPool(base, {
      target,
      parts: this.#parts,
      resolve: this.#resolve,
    })
    this.#pools.set(name, [...ofChannel, pool])
    return pool
  }
}

/**
 * Returns why a channel must not connect to an address of its name. Otherwise anyone who can change the
 * addresses of a name could reach hosts behind the gateway, or read a credential that is sent in plain text.
 */
function addressFault(
  address: string,
  name: string,
  { isTls, allowPrivate }: { readonly isTls: boolean; readonly allowPrivate: boolean },
): string | undefined {
  const kind = kindOfAddress(address)
  if (kind === 'public') return isTls ? undefined : 'plain http to a public address'
  if (kind === 'unusable') return 'an address that no vendor can have'
  const isMeant = kind === 'loopback' && /(^|\.)localhost$/.test(name)
  return isMeant || allowPrivate ? undefined : 'an address that is not public'
}

interface PoolOptions {
  readonly target: UpstreamTarget
  readonly parts: ConnectionParts
  readonly resolve: Resolve
}

class ChannelPool implements ConnectionPool {
  readonly #target: UpstreamTarget
  readonly connections = new Set<Connection>()
  readonly idle: Connection[] = []
  readonly isTls: boolean
  readonly host: string
  readonly port: number
  /** Value of the `Host` header. */
  readonly hostHeader: string
  readonly basePath: string
  readonly parts: ConnectionParts
  readonly lookup: LookupFunction
  readonly proxy: Secret | undefined
  tlsSession: Buffer | undefined
  #isRetired = false

  constructor(base: URL, { target, parts, resolve }: PoolOptions) {
    this.#target = target
    this.isTls = base.protocol === 'https:'
    this.host = base.hostname.replace(/^\[(.*)\]$/, '$1')
    this.port = base.port === '' ? (this.isTls ? 443 : 80) : Number(base.port)
    this.hostHeader = base.host
    this.basePath = base.pathname.replace(/\/+$/, '')
    this.proxy = target.proxy
    this.parts = parts
    const rules = { isTls: this.isTls, allowPrivate: target.allowPrivate === true }
    this.lookup = checkedLookup(resolve, (address, name) => addressFault(address, name, rules))
  }

  isFor({ url, allowPrivate, proxy }: UpstreamTarget): boolean {
    const own = this.#target
    const isSameProxy = own.proxy?.reveal() === proxy?.reveal()
    return own.url === url && own.allowPrivate === allowPrivate && isSameProxy
  }

  takeIdle(): Connection | undefined {
    for (;;) {
      const free = this.idle.pop()
      if (free === undefined || free.isUsable) return free
      free.discard()
    }
  }

  open(): Connection {
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
