/**
 * Keeps one gateway process running: starts it, starts it again with a growing delay when it dies, and
 * replaces it by a new one.
 *
 *     starting ─▶ serving ─▶ (ends) ─▶ waiting ─▶ starting …     1 s, doubled up to 30 s
 *     serving ─▶ replacing: a second process starts; when it is ready the first one retires
 */
import type { Logger } from 'pino'
import { minuteMs, type Clock, type Timer } from '../base/clock.ts'
import type { Exit, GatewayChild } from './gateway-child.ts'

/** What a slot needs of a process. */
export type SlotChild = Pick<
  GatewayChild,
  'pid' | 'startedAtMs' | 'ready' | 'ended' | 'isReady' | 'isRetiring' | 'send' | 'kill'
>

export interface SlotOptions<Child extends SlotChild> {
  readonly number: number
  /** The node's name in log lines. */
  readonly name: string
  readonly clock: Clock
  readonly log: Logger
  readonly start: (slot: number) => Child
  /** Called once for each process that ended. */
  readonly onEnded: (child: Child) => void
}

const firstDelayMs = 1_000
const lastDelayMs = 30_000
/** A process that has served for this time has started well. */
const settledMs = minuteMs
/** The time that a new process has until it serves. */
const readyTimeoutMs = 120_000

export class Slot<Child extends SlotChild> {
  /** All that run: usually one, and while it is replaced two. */
  readonly children = new Set<Child>()
  readonly #options: SlotOptions<Child>
  #current: Child | undefined
  #isReplacing = false
  #isStopping = false
  #restart: Timer | undefined
  #delayMs = firstDelayMs

  constructor(options: SlotOptions<Child>) {
    this.#options = options
  }

  /** Starts the first process. It is started again when it dies, unless it was never ready. */
  start(): Promise<'ready' | Exit> {
    const child = this.#launch()
    this.#current = child
    return Promise.race([child.ready, child.ended])
  }

  /** From now on a process that ends is started again, also one that was never ready. */
  keep(): void {
    const child = this.#current
    if (child === undefined) this.#startLater()
    else void child.ended.then((exit) => this.#onLost(child, exit))
  }

  /** Starts a new process and lets the earlier one finish. Resolves when that has ended. */
  async replace(): Promise<{ readonly kind: 'replaced' } | Failed> {
    this.#isReplacing = true
    this.#restart?.cancel()
    this.#restart = undefined
    const next = this.#launch()
    const failure = await this.#failureOf(next)
    // From here on the new process counts, which may itself end while the earlier one finishes.
    this.#isReplacing = false
    const earlier = this.#current
    if (failure !== undefined) {
      if (earlier === undefined) this.#startLater()
      return failure
    }
    this.#current = next
    this.keep()
    if (earlier !== undefined) {
      earlier.isRetiring = true
      earlier.send({ kind: 'retire' })
      await earlier.ended
    }
    return { kind: 'replaced' }
  }

  /** Starts none from now on. */
  stop(): void {
    this.#isStopping = true
    this.#restart?.cancel()
  }

  async #failureOf(next: Child): Promise<Failed | undefined> {
    const late = Promise.withResolvers<'late'>()
    const timer = this.#options.clock.after(readyTimeoutMs, () => late.resolve('late'))
    const outcome = await Promise.race([next.ready, next.ended, late.promise])
    timer.cancel()
    // It may end as soon as it is ready.
    if (outcome === 'ready' && this.children.has(next)) return undefined
    next.kill()
    const { reason } = await next.ended
    return { kind: 'failed', reason: outcome === 'late' ? 'it was not ready in time' : reason }
  }

  #launch(): Child {
    const { number, onEnded } = this.#options
    const child = this.#options.start(number)
    this.children.add(child)
    const forget = (): void => {
      this.children.delete(child)
      if (this.#current === child) this.#current = undefined
      onEnded(child)
    }
    void child.ended.then(forget)
    return child
  }

  #onLost(child: Child, { reason }: Exit): void {
    if (child.isRetiring || this.#isStopping) return
    const { name, clock, log } = this.#options
    if (child.isReady && clock.monotonic() - child.startedAtMs >= settledMs)
      this.#delayMs = firstDelayMs
    log.error({ process: name, pid: child.pid, reason, delayMs: this.#delayMs }, 'process ended')
    this.#startLater()
  }

  #startLater(): void {
    if (this.#isStopping || this.#isReplacing || this.#restart !== undefined) return
    this.#restart = this.#options.clock.after(this.#delayMs, () => {
      this.#restart = undefined
      this.#delayMs = Math.min(this.#delayMs * 2, lastDelayMs)
      this.#current = this.#launch()
      this.keep()
    })
  }
}

interface Failed {
  readonly kind: 'failed'
  readonly reason: string
}
