/**
 * A gateway's side of its supervisor: which place it has, which orders it gets, and what it reports. Signals
 * are the supervisor's matter while it lives: a terminal or systemd sends them to all processes at once. When
 * the supervisor dies, the gateway retires, so that no process without one keeps the port; a signal then ends
 * it.
 */
import type { Logger } from 'pino'
import { GatewayError } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import { uniteMetrics, type MetricsReport } from '../telemetry/united-metrics.ts'
import { order, placeVariable, readPlace, type Notice, type Order } from './messages.ts'

/** What the gateway does on orders. */
export interface Orders {
  readonly drain: () => Promise<void>
  readonly retire: () => Promise<void>
  readonly reportMetrics: () => Promise<MetricsReport>
  readonly log: Logger
}

/** The supervisor answers within a second; it may have died. */
const collectTimeoutMs = 3_000
/** A signal that comes just before the supervisor's end was meant for a gateway without one. */
const lateSignalMs = 2_000

/** Undefined where this process has no supervisor. */
export function findSupervisor(
  environment: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): SupervisorLink | undefined {
  const text = environment[placeVariable]
  if (text === undefined) return undefined
  const place = readPlace(text)
  if (place === undefined)
    throw new GatewayError(
      'operations.conflict',
      'The supervisor that started this process is of another version. Restart it: stop turnpike serve, then start it again.',
    )
  // Missing packages were installed just now, which started the program a second time.
  if (process.send === undefined)
    throw new GatewayError(
      'operations.conflict',
      `This process has no connection to its supervisor. Replace the processes again; by hand, remove the variable ${placeVariable}.`,
    )
  return new SupervisorLink(place, clock)
}

export class SupervisorLink {
  readonly slot: number
  readonly count: number
  readonly listenDescriptor: number
  readonly adminListenDescriptor: number
  readonly announces: boolean
  readonly #clock: Clock
  readonly #ending = Promise.withResolvers<number>()
  readonly #collecting = new Map<number, (found: Collected | undefined) => void>()
  #questionCount = 0
  #isEnding = false
  #isAlone = false
  #signalledAtMs = Number.NEGATIVE_INFINITY

  constructor(place: NonNullable<ReturnType<typeof readPlace>>, clock: Clock) {
    this.slot = place.slot
    this.count = place.count
    this.listenDescriptor = place.listen
    this.adminListenDescriptor = place.adminListen
    this.announces = place.announces
    this.#clock = clock
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => this.#onSignal())
    process.on('SIGUSR2', () => undefined)
  }

  /** Says that the gateway serves, and follows orders from now on. Resolves with the exit code. */
  follow(orders: Orders): Promise<number> {
    process.on('message', (message: unknown) => {
      const parsed = order.safeParse(message)
      if (parsed.success) this.#onOrder(parsed.data, orders)
    })
    process.on('disconnect', () => this.#onSupervisorLost(orders))
    // The connection must not keep a gateway that has ended alive.
    process.channel?.unref()
    if (process.connected) void this.#send({ kind: 'ready' })
    else this.#onSupervisorLost(orders)
    return this.#ending.promise
  }

  /** Ends the gateway with this code. */
  end(code: number): void {
    this.#ending.resolve(code)
  }

  /** Leaves the last metrics to the supervisor and parts from it. */
  async part(metrics: MetricsReport): Promise<void> {
    await this.#send({ kind: 'reported', metrics })
    this.#isEnding = true
    if (process.connected) process.disconnect?.()
  }

  /** Returns the metrics of all processes, or this one's where the supervisor does not answer. */
  async uniteMetrics(reportOwn: () => Promise<MetricsReport>): Promise<string> {
    const { reports, ended } = (await this.#collect()) ?? {
      reports: [{ process: String(this.slot), metrics: await reportOwn() }],
      ended: [],
    }
    return uniteMetrics(reports, ended)
  }

  async #collect(): Promise<Collected | undefined> {
    if (!process.connected) return undefined
    const id = ++this.#questionCount
    const { promise, resolve } = Promise.withResolvers<Collected | undefined>()
    this.#collecting.set(id, resolve)
    const timer = this.#clock.after(collectTimeoutMs, () => resolve(undefined))
    void this.#send({ kind: 'collect', id })
    const found = await promise
    timer.cancel()
    this.#collecting.delete(id)
    return found
  }

  #onOrder(given: Order, orders: Orders): void {
    if (given.kind === 'drain') this.#finish(orders.drain)
    else if (given.kind === 'retire') this.#finish(orders.retire)
    else if (given.kind === 'end') this.end(1)
    else if (given.kind === 'collected') this.#collecting.get(given.id)?.(given)
    else void this.#report(given.id, orders)
  }

  async #report(id: number, { reportMetrics, log }: Orders): Promise<void> {
    try {
      await this.#send({ kind: 'reported', id, metrics: await reportMetrics() })
    } catch (error) {
      log.error({ error }, 'metrics not reported')
    }
  }

  /** A drain may follow while the gateway retires. */
  #finish(work: () => Promise<void>): void {
    this.#isEnding = true
    work().then(
      () => this.end(0),
      (error: unknown) => this.#ending.reject(error),
    )
  }

  #onSignal(): void {
    if (this.#isAlone) this.end(1)
    this.#signalledAtMs = this.#clock.monotonic()
  }

  #onSupervisorLost({ retire, log }: Orders): void {
    for (const resolve of this.#collecting.values()) resolve(undefined)
    this.#isAlone = true
    if (this.#isEnding) return
    log.error('supervisor has ended, retiring')
    if (this.#clock.monotonic() - this.#signalledAtMs < lateSignalMs) this.end(1)
    else this.#finish(retire)
  }

  /** Resolves when the message is on its way, or cannot be sent. */
  #send(notice: Notice): Promise<void> {
    return new Promise((resolve) => {
      if (process.send === undefined) resolve()
      else process.send(notice, undefined, undefined, () => resolve())
    })
  }
}

type Collected = Pick<Extract<Order, { kind: 'collected' }>, 'reports' | 'ended'>
