/**
 * Runs several gateways as processes on the same addresses. It holds the bound sockets and hands them on to
 * each process, so the queue of connections is one and outlives every process; it accepts none itself. It
 * knows no store and no request. It starts and restarts processes, passes signals on, replaces all one after
 * the other, and gathers their metrics.
 */
import { lookup } from 'node:dns/promises'
import { BoundSocket } from 'node:net'
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { addEnded, type MetricsReport } from '../telemetry/united-metrics.ts'
import { GatewayChild, type Launch } from './gateway-child.ts'
import type { Order } from './messages.ts'
import { nodeNameOf } from './node-name.ts'
import { Slot } from './slot.ts'

export interface SupervisorOptions {
  readonly launch: Omit<Launch, 'listen' | 'adminListen'>
  readonly listen: Address
  readonly adminListen: Address
  /** The nodes are `NAME-1`, `NAME-2` and so on. */
  readonly nodeName: string
  /** Its timers keep the process alive. */
  readonly clock: Clock
  readonly log: Logger
}

interface Address {
  readonly host: string
  readonly port: number
}

/** The supervisor ends this long after its second signal, whatever its processes do. */
const forcedEndMs = 1_000

/** Serves until a signal and resolves with the exit code. Rejects where an address cannot be bound. */
export async function supervise(options: SupervisorOptions): Promise<number> {
  using sockets = new DisposableStack()
  const listen = sockets.use(await bind(options.listen))
  const adminListen = sockets.use(await bind(options.adminListen))
  const { launch } = options
  const descriptors = { listen: listen.fd(), adminListen: adminListen.fd() }
  return await new Supervisor({ ...options, launch: { ...launch, ...descriptors } }).run()
}

async function bind({ host, port }: Address): Promise<BoundSocket> {
  const { address } = await lookup(host)
  return new BoundSocket({ host: address, port })
}

class Supervisor {
  readonly #options: SupervisorOptions & { readonly launch: Launch }
  readonly #slots: readonly Slot<GatewayChild>[]
  readonly #ending = Promise.withResolvers<number>()
  #hasAnnounced = false
  #isStarting = true
  #isReplacing = false
  #isStopping = false
  /** The counts of the processes that have ended. */
  #ended: Promise<MetricsReport> = Promise.resolve([])

  constructor(options: SupervisorOptions & { readonly launch: Launch }) {
    this.#options = options
    const { launch, nodeName, clock, log } = options
    this.#slots = Array.from({ length: launch.count }, (_, index) => {
      const number = index + 1
      return new Slot({
        number,
        name: nodeNameOf(nodeName, number),
        clock,
        log,
        start: (slot) => this.#start(slot),
        onEnded: (child) => this.#onEnded(child),
      })
    })
  }

  async run(): Promise<number> {
    this.#listenForSignals()
    const code = await this.#startAll()
    if (code !== undefined) return code
    const exitCode = await this.#ending.promise
    this.#options.log.info({ exitCode }, 'ended')
    return exitCode
  }

  /**
   * The first process starts alone: it migrates the store and makes the first admin token. Where it fails,
   * no other would start either; it has printed why. Returns its exit code then.
   */
  async #startAll(): Promise<number | undefined> {
    const { log, launch } = this.#options
    const [first, ...others] = this.#slots
    const outcome = await first?.start()
    if (outcome !== 'ready') return this.#isStopping ? undefined : (outcome?.code ?? 1)
    this.#hasAnnounced = true
    first?.keep()
    await Promise.all(
      others.map(async (slot) => {
        if (this.#isStopping) return
        const started = slot.start()
        slot.keep()
        await started
      }),
    )
    this.#isStarting = false
    const runningCount = this.#children().filter(({ isReady }) => isReady).length
    log.info({ processes: runningCount, of: launch.count }, 'processes started')
    return undefined
  }

  #start(slot: number): GatewayChild {
    const { launch, clock, log, nodeName } = this.#options
    const facts = { slot, announces: !this.#hasAnnounced }
    const started = new GatewayChild(launch, facts, {
      clock,
      onCollect: (child, id) => void this.#collect(child, id),
    })
    void started.ready.then(() =>
      log.info({ process: nodeNameOf(nodeName, slot), pid: started.pid }, 'process ready'),
    )
    return started
  }

  #listenForSignals(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => this.#onSignal(signal))
    process.on('SIGUSR2', () => void this.#replaceAll())
  }

  #onSignal(signal: NodeJS.Signals): void {
    const { log, clock } = this.#options
    if (this.#isStopping) {
      this.#sendAll({ kind: 'end' })
      clock.after(forcedEndMs, () => {
        for (const child of this.#children()) child.kill()
        this.#ending.resolve(1)
      })
      return
    }
    this.#isStopping = true
    log.info({ signal }, 'draining')
    for (const slot of this.#slots) slot.stop()
    const ends = this.#children().map(({ ended }) => ended)
    this.#sendAll({ kind: 'drain' })
    void Promise.all(ends).then((exits) =>
      this.#ending.resolve(exits.every(({ code }) => code === 0) ? 0 : 1),
    )
  }

  async #replaceAll(): Promise<void> {
    const { log, nodeName } = this.#options
    if (this.#isStopping) return log.warn('draining, no process is replaced')
    if (this.#isStarting) return log.warn('starting, no process is replaced')
    if (this.#isReplacing)
      return log.warn('processes are being replaced already; send SIGUSR2 again after that')
    this.#isReplacing = true
    log.info('replacing processes')
    for (const [index, slot] of this.#slots.entries()) {
      const outcome = await slot.replace()
      if (this.#isStopping) return
      const process = nodeNameOf(nodeName, index + 1)
      if (outcome.kind === 'failed') {
        log.error({ process, reason: outcome.reason }, 'replacement stopped, processes serve on')
        break
      }
      log.info({ process }, 'process replaced')
    }
    this.#isReplacing = false
  }

  #onEnded(child: GatewayChild): void {
    const { lastReport } = child
    if (lastReport === undefined) return
    const { log } = this.#options
    this.#ended = this.#ended.then(async (sum) => {
      try {
        return await addEnded(sum, lastReport)
      } catch (error) {
        log.error({ error }, 'counters of an ended process lost')
        return sum
      }
    })
  }

  /** Sends the metrics of all processes to the one that was asked for them. */
  async #collect(asker: GatewayChild, id: number): Promise<void> {
    const asked = this.#children().filter(({ isReady }) => isReady)
    await Promise.all(asked.map((child) => child.report()))
    // Both of one moment: a process that ends is in one of them, never in both.
    const ended = this.#ended
    const reports = this.#children().flatMap(({ lastReport, isRetiring, slot }) => {
      if (lastReport === undefined) return []
      return [{ process: isRetiring ? `${slot}-draining` : String(slot), metrics: lastReport }]
    })
    asker.send({ kind: 'collected', id, reports, ended: await ended })
  }

  #children(): readonly GatewayChild[] {
    return this.#slots.flatMap(({ children }) => [...children])
  }

  #sendAll(order: Order): void {
    for (const child of this.#children()) child.send(order)
  }
}
