/**
 * Attacks on sockets: what one client does to take the gateway from the others. Each starts at once and goes
 * on until it is stopped. They send prepared bytes and read as little as they can.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { launchChromium, openConsoles } from '../growth/pages.ts'
import { formatPaths, models } from '../exchanges.ts'
import { attackerAddress, type Attack, type Stop, type Target } from './attack.ts'
import { callAttacks } from './calls.ts'

const keylessConnections = 9_998
const pipeliningConnections = 200
const pipelinedRequests = 500
const unfinishedBodies = 40
const leavingClients = 50
const tickingStreams = 1_000
const openConsoleCount = 10
const refusedPerSecond = 2_000
const refusedConnections = 20

/** Opens connections that come back when they end. */
function keepOpen(count: number, port: number, begin: (socket: Socket) => void): Stop {
  const sockets = new Set<Socket>()
  let isStopped = false
  const open = (): void => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: attackerAddress })
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      if (!isStopped) setTimeout(() => isStopped || open(), reopenMs)
    })
    begin(socket)
  }
  for (let index = 0; index < count; index++) open()
  return () => {
    isStopped = true
    for (const socket of sockets) socket.destroy()
  }
}

const reopenMs = 20

function head({ key }: Target, length: number): string {
  return (
    `POST /alpha${formatPaths.messages} HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
  )
}

const streamBody = JSON.stringify({
  model: models.stream,
  max_tokens: 1_000,
  stream: true,
  messages: [{ role: 'user', content: 'Hi' }],
})

const health = 'GET /health HTTP/1.1\r\nhost: gateway\r\n\r\n'

export const attacks: readonly Attack[] = [
  { name: 'none', start: () => () => undefined },
  {
    name: `${keylessConnections.toLocaleString('en')} connections without a key from one address`,
    start: ({ port }) => keepOpen(keylessConnections, port, () => undefined),
  },
  {
    name: `${pipeliningConnections} connections with ${pipelinedRequests} pipelined requests each`,
    start({ port }) {
      const requests = Buffer.from(health.repeat(pipelinedRequests))
      return keepOpen(pipeliningConnections, port, (socket) => {
        let answers = 0
        socket.write(requests)
        socket.on('data', (piece: Buffer) => {
          answers += piece.toString('latin1').split('HTTP/1.1 200').length - 1
          if (answers < pipelinedRequests) return
          answers = 0
          socket.write(requests)
        })
      })
    },
  },
  {
    name: `${unfinishedBodies} bodies of 31 MB that never end`,
    start(target) {
      const bytes = Buffer.alloc(31 * 1_000_000, ' ')
      return keepOpen(unfinishedBodies, target.port, (socket) => {
        socket.write(head(target, bytes.length + 1))
        socket.write(bytes)
        socket.resume()
      })
    },
  },
  {
    name: `${refusedPerSecond.toLocaleString('en')} refused requests a second of one key`,
    start(target) {
      const body = '{"model":"none","max_tokens":5,"messages":[1]}'
      const request = head(target, body.length) + body
      const everyMs = (1_000 * refusedConnections) / refusedPerSecond
      return keepOpen(refusedConnections, target.port, (socket) => {
        const timer = setInterval(() => socket.write(request), everyMs)
        socket.on('close', () => clearInterval(timer)).resume()
      })
    },
  },
  {
    name: `${leavingClients} clients that leave streams of a fast vendor, repeatedly`,
    start(target) {
      return keepOpen(leavingClients, target.port, (socket) => {
        socket.write(head(target, streamBody.length) + streamBody)
        socket.once('data', () => socket.destroy())
      })
    },
  },
  {
    name: `${tickingStreams.toLocaleString('en')} streams with an event every 70 ms`,
    paceMs: 70,
    async start(target) {
      const stop = keepOpen(tickingStreams, target.port, (socket) => {
        socket.write(head(target, streamBody.length) + streamBody)
        socket.resume()
      })
      // Until all have begun.
      await delay(4_000)
      return stop
    },
  },
  {
    name: `${openConsoleCount} open consoles`,
    async start({ adminPort, adminToken }) {
      const browser = await launchChromium()
      const origin = `http://127.0.0.1:${adminPort}`
      await openConsoles({ browser, origin, token: adminToken }, openConsoleCount)
      return () => void browser.close()
    },
  },
  ...callAttacks,
]
