/**
 * A TCP proxy that breaks connections at a chosen moment: between a gateway and its database, or its
 * vendor. It acts on bytes and calls, never on time, so a test decides what the two ends have seen of
 * each other: whether a COMMIT arrived, whether its answer did.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

type Direction = 'to_server' | 'to_client'

/**
 * `before`: the bytes do not arrive. `after`: they arrive, nothing that follows does. `answered`:
 * they arrive and the other end answers them, and that answer does not arrive.
 */
export type Moment = 'before' | 'after' | 'answered'

interface CutRule {
  readonly direction: Direction
  /** When these bytes have passed on one connection, however they are split … */
  readonly pattern?: string
  /** … behind these on the same connection … */
  readonly behind?: string
  /** … or when that many bytes have passed on one connection since the rule was armed. */
  readonly bytes?: number
  readonly moment: Moment
}

export interface FaultProxy {
  readonly port: number
  readonly connectionCount: number
  /** Resets every connection, both ends. */
  cut(): void
  /** The next connection that fits is cut; resolves when that has happened. One rule at a time. */
  cutNext(rule: CutRule): Promise<void>
  disarm(): void
  /** From now on nothing passes and nothing is lost: the ends are silent to each other. */
  stall(): void
  resume(): void
  /** Resets open and new connections until `accept`. */
  refuse(): void
  accept(): void
  /** Takes the server's end away without a word to the client, as a lost route does. */
  loseServer(): void
  close(): Promise<void>
}

export async function startFaultProxy(target: {
  readonly port: number
  readonly host?: string
}): Promise<FaultProxy> {
  const links = new Set<Link>()
  const state: ProxyState = { armed: undefined, isStalled: false }
  let isRefusing = false
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isRefusing) {
      reset(client)
      return
    }
    const host = target.host ?? '127.0.0.1'
    const link = new Link(client, connect({ host, port: target.port, allowHalfOpen: true }), state)
    links.add(link)
    link.onOver = () => links.delete(link)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  function cut(): void {
    for (const link of links) link.cut()
  }
  return {
    port,
    get connectionCount() {
      return links.size
    },
    cut,
    cutNext: (rule) =>
      new Promise((resolve) => {
        for (const link of links) link.forgetSeen()
        state.armed = { rule, resolve }
      }),
    disarm: () => void (state.armed = undefined),
    stall() {
      state.isStalled = true
      for (const link of links) link.pause()
    },
    resume() {
      state.isStalled = false
      for (const link of links) link.resume()
    },
    refuse() {
      isRefusing = true
      cut()
    },
    accept: () => void (isRefusing = false),
    loseServer() {
      for (const link of links) link.loseServer()
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

interface ProxyState {
  armed: { readonly rule: CutRule; readonly resolve: () => void } | undefined
  isStalled: boolean
}

/** What has passed in one direction since a rule was armed. */
interface Seen {
  bytes: number
  /** The end of it, as long as a pattern may begin there. */
  tail: Buffer
  /** What the rule's pattern must be behind has passed. */
  isBehind: boolean
}

const patternBytesMax = 256

/** One connection: two sockets and what passes between them. */
class Link {
  /** Both ends are closed. */
  onOver: () => void = () => undefined
  readonly #client: Socket
  readonly #server: Socket
  readonly #state: ProxyState
  readonly #seen: Readonly<Record<Direction, Seen>> = {
    to_server: { bytes: 0, tail: Buffer.alloc(0), isBehind: false },
    to_client: { bytes: 0, tail: Buffer.alloc(0), isBehind: false },
  }
  /** The next bytes in this direction are an answer that must not arrive. */
  #isAnswerDropped: Direction | undefined
  #onDropped: () => void = () => undefined
  /** Its receiver has yet to read it: that end closes by itself, when the receiver does. */
  #isLastDelivered = false

  constructor(client: Socket, server: Socket, state: ProxyState) {
    this.#client = client
    this.#server = server
    this.#state = state
    for (const socket of [client, server]) {
      socket.setNoDelay(true)
      socket.on('error', () => this.cut())
    }
    this.#pass('to_server', client, server)
    this.#pass('to_client', server, client)
    if (state.isStalled) this.pause()
  }

  cut(): void {
    reset(this.#client)
    reset(this.#server)
  }

  loseServer(): void {
    this.#server.removeAllListeners('close')
    this.#server.destroy()
  }

  pause(): void {
    this.#client.pause()
    this.#server.pause()
  }

  resume(): void {
    this.#client.resume()
    this.#server.resume()
  }

  forgetSeen(): void {
    for (const seen of Object.values(this.#seen)) {
      seen.bytes = 0
      seen.tail = Buffer.alloc(0)
      seen.isBehind = false
    }
  }

  #pass(direction: Direction, from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      if (this.#isAnswerDropped === direction) {
        this.cut()
        this.#onDropped()
        return
      }
      const armed = this.#state.armed
      if (armed?.rule.direction === direction && this.#fits(armed.rule, chunk)) {
        this.#state.armed = undefined
        this.#breakAt(armed.rule.moment, { direction, to, chunk, resolve: armed.resolve })
        return
      }
      if (!to.writable) return
      if (!to.write(chunk)) {
        from.pause()
        to.once('drain', () => {
          if (!this.#state.isStalled) from.resume()
        })
      }
    })
    from.on('end', () => to.end())
    from.on('close', () => {
      if (to.destroyed) this.onOver()
      else if (!this.#isLastDelivered) to.destroySoon()
    })
  }

  #fits(rule: CutRule, chunk: Buffer): boolean {
    const seen = this.#seen[rule.direction]
    seen.bytes += chunk.length
    const text = Buffer.concat([seen.tail, chunk])
    seen.tail = text.subarray(Math.max(0, text.length - patternBytesMax))
    if (rule.behind !== undefined && !seen.isBehind) {
      seen.isBehind = text.includes(rule.behind)
      return false
    }
    if (rule.pattern !== undefined) return text.includes(rule.pattern)
    return seen.bytes >= (rule.bytes ?? 0)
  }

  #breakAt(
    moment: Moment,
    { direction, to, chunk, resolve }: Break & { readonly direction: Direction },
  ): void {
    switch (moment) {
      case 'before':
        this.cut()
        resolve()
        return
      case 'after':
        this.#deliverLast(to, chunk, resolve)
        return
      case 'answered':
        this.#isAnswerDropped = direction === 'to_server' ? 'to_client' : 'to_server'
        this.#onDropped = resolve
        to.write(chunk)
    }
  }

  /** A reset would take back what the receiver has not read yet, so its end is closed in order. */
  #deliverLast(to: Socket, chunk: Buffer, resolve: () => void): void {
    const other = to === this.#server ? this.#client : this.#server
    this.#isLastDelivered = true
    to.end(chunk)
    reset(other)
    resolve()
  }
}

/** The system resets no connection on which we have said that we are done; such a one is closed. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

interface Break {
  readonly to: Socket
  readonly chunk: Buffer
  readonly resolve: () => void
}
