/**
 * A gateway with a scripted vendor behind it, reached directly or through a proxy of deploy/proxies, and what
 * each hop has counted: requests that the proxy passed on by its own log, answers of the gateway as they left
 * it, and requests that the vendor received. Every request that a gateway has read gets exactly one answer.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { clientAddress, startProxy, type RunningProxy } from '../deploy/proxy.ts'
import { connectRaw, rawConnection, type RawConnection } from '../support/http-client.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

export const hopNames = ['direct', 'nginx', 'haproxy'] as const
export type HopName = (typeof hopNames)[number]

export interface Counts {
  /** Requests that the proxy has passed on. */
  readonly proxy: number
  readonly gateway: number
  readonly vendor: number
}

export interface Hop {
  connect(): Promise<RawConnection>
  counts(): Counts
  close(): Promise<void>
}

/** The gateway that all hops lead to, one after the other. */
export function startGateway(): Promise<Scenario> {
  return scenario({
    vendors: 'scripted',
    settings: { trusted_proxies: '127.0.0.1', max_attempts: '1' },
  })
}

export async function openHop(name: HopName, gateway: Scenario): Promise<Hop> {
  const tap = await startTap(Number(new URL(gateway.url).port))
  const vendorBefore = gateway.scripted.requestCount
  const vendor = (): number => gateway.scripted.requestCount - vendorBefore
  if (name === 'direct')
    return {
      connect: () => connectRaw(`http://127.0.0.1:${tap.port}`),
      counts: () => ({ proxy: tap.answers(), gateway: tap.answers(), vendor: vendor() }),
      close: () => tap.close(),
    }
  const adminPort = Number(new URL(gateway.adminUrl).port)
  const proxy = await startProxy(name, { port: tap.port, adminPort, logsRequests: true })
  return {
    connect: () => connectTo(proxy),
    counts: () => ({
      proxy: passedOn[name](proxy.output()),
      gateway: tap.answers(),
      vendor: vendor(),
    }),
    async close() {
      await proxy.close()
      await tap.close()
    },
  }
}

/** Counts in a proxy's log the requests that it has sent to a gateway. */
const passedOn: Readonly<Record<Exclude<HopName, 'direct'>, (log: string) => number>> = {
  nginx: (log) => [...log.matchAll(/^".*" \d{3} 127\.0\.0\.1:\d+$/gm)].length,
  haproxy: (log) => [...log.matchAll(/ gateways\/gateway-\d /g)].length,
}

async function connectTo(proxy: RunningProxy): Promise<RawConnection> {
  const { hostname, port } = new URL(proxy.url)
  const plain = connect({
    host: hostname,
    port: Number(port),
    localAddress: clientAddress,
    allowHalfOpen: true,
  })
  const trust = { ca: proxy.certificate, servername: 'gateway.example.com' }
  const socket = connectTls({ socket: plain, ...trust })
  await once(socket, 'secureConnect')
  return rawConnection(socket)
}

interface Tap {
  readonly port: number
  /** Whole or begun answers of the gateway, without interim ones. */
  answers(): number
  close(): Promise<void>
}

/** Passes all bytes on, and counts the answers. */
async function startTap(gatewayPort: number): Promise<Tap> {
  let answers = 0
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const gateway = connect({ host: '127.0.0.1', port: gatewayPort, allowHalfOpen: true })
    let output = ''
    gateway.on('data', (piece: Buffer) => {
      const before = answersIn(output)
      output += piece.toString('latin1')
      answers += answersIn(output) - before
    })
    client.pipe(gateway).pipe(client)
    for (const [one, other] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    answers: () => answers,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function answersIn(output: string): number {
  return [...output.matchAll(/HTTP\/1\.1 [2-5]\d\d [A-Z]/g)].length
}
