/**
 * Round trips to vendors over HTTP/1.1, with a pool of kept-alive connections per channel. It knows
 * no format, no verdict and no time limit beyond connecting; those are the relay's.
 */
import { connect } from 'node:net'
import { systemClock, type Clock } from '../base/clock.ts'
import { createWatchdog } from '../base/watchdog.ts'
import { requestHead } from '../http/wire/request-writer.ts'
import { Exchange } from './upstream-exchange.ts'
import type { OpenSocket } from './upstream-connection.ts'
import type { FailureKind } from './upstream-failure.ts'
import { ChannelPool, type PoolParts } from './upstream-pool.ts'
import type { Upstream, UpstreamRequest, UpstreamStats, UpstreamTarget } from './upstream.ts'

export interface UpstreamOptions {
  /** Name look-up, TCP and TLS together. */
  readonly connectTimeoutMs: number
  /** One more exchange than this fails as `connect`: nothing ever waits behind another. */
  readonly maxConnectionsPerChannel?: number
  /** How long an idle connection is kept, unless the vendor says less. */
  readonly keepAliveMs?: number
  /** For time limits, which are looked at a few times a second. */
  readonly clock?: Clock
  /** How a vendor without TLS is reached; a simulation puts another way in its place. */
  readonly openSocket?: OpenSocket
}

/** Below the 60 s after which common load balancers silently drop an idle connection. */
const defaultKeepAliveMs = 30_000
const defaultConnectionsMax = 10_000

export function createUpstream(options: UpstreamOptions): Upstream {
  const pools = new Map<string, ChannelPool[]>()
  const clock = options.clock ?? systemClock
  const watchdog = createWatchdog(clock)
  const parts: PoolParts = {
    watchdog,
    monotonic: () => clock.monotonic(),
    openSocket: options.openSocket ?? connect,
    connectTimeoutMs: options.connectTimeoutMs,
    connectionsMax: options.maxConnectionsPerChannel ?? defaultConnectionsMax,
    keepAliveMs: options.keepAliveMs ?? defaultKeepAliveMs,
  }
  let isClosed = false

  /** A channel whose address changed has two pools for a while; the old one dries out by itself. */
  function findPool(target: UpstreamTarget): ChannelPool | undefined {
    const ofChannel = pools.get(target.name) ?? []
    for (const pool of ofChannel) if (pool.url === target.url) return pool
    const base = URL.parse(target.url)
    if (base === null || (base.protocol !== 'https:' && base.protocol !== 'http:')) return undefined
    const pool = new ChannelPool(target.url, base, parts)
    pools.set(target.name, [...ofChannel, pool])
    return pool
  }

  /** Puts an exchange on a connection; otherwise tells why it cannot begin. */
  function begin(
    exchange: Exchange,
    target: UpstreamTarget,
    request: UpstreamRequest,
  ): FailureKind | undefined {
    if (isClosed) return 'aborted'
    const pool = findPool(target)
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
    connection.carry(exchange, { head, body })
    return undefined
  }

  return {
    send(target, request, receiver) {
      const exchange = new Exchange(receiver)
      const failure = begin(exchange, target, request)
      if (failure !== undefined) exchange.failUnsent(failure)
      return exchange
    },
    stats() {
      const byChannel = new Map<string, UpstreamStats>()
      for (const [name, ofChannel] of pools) {
        let connectionCount = 0
        let exchangeCount = 0
        for (const pool of ofChannel) {
          connectionCount += pool.connections.size
          exchangeCount += pool.connections.size - pool.idle.length
        }
        byChannel.set(name, { connectionCount, exchangeCount })
      }
      return byChannel
    },
    retain(names) {
      for (const [name, ofChannel] of pools) {
        const isGone = !names.has(name)
        for (const pool of ofChannel) pool.setRetired(isGone)
        const inUse = ofChannel.filter((pool) => pool.connections.size > 0)
        if (inUse.length > 0) pools.set(name, inUse)
        else pools.delete(name)
      }
    },
    async close() {
      isClosed = true
      const all = [...pools.values()].flat().flatMap((pool) => [...pool.connections])
      await Promise.all(all.map((connection) => connection.close()))
      watchdog.close()
    },
  }
}
