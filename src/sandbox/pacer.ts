/**
 * Stops one exchange in time: delays by the sandbox's clock, gates that a test opens. Every wait
 * ends at once when the exchange is over.
 */
import type { Clock } from '../base/clock.ts'
import type { Faults } from './faults.ts'

/** Where a gate may stand; all after `after_head` are between whole events. */
export const gatePoints = [
  'before_head',
  'after_head',
  'first_event',
  'mid',
  'before_usage',
  'before_terminal',
] as const

export type GatePoint = (typeof gatePoints)[number]

export interface PacerOptions {
  readonly clock: Clock
  readonly faults: Faults
  readonly closed: Promise<void>
  /** The `hold` directive: `id@point[,id@point]`; without a point, `before_head`. */
  readonly hold: string | undefined
}

export class Pacer {
  readonly #options: PacerOptions
  readonly #gates: readonly { readonly id: string; readonly point: string }[]

  #endDelay: () => void = () => undefined

  constructor(options: PacerOptions) {
    this.#options = options
    void options.closed.then(() => this.#endDelay())
    this.#gates = (options.hold ?? '').split(',').flatMap((text) => {
      const [id = '', point = 'before_head'] = text.trim().split('@')
      return id === '' ? [] : [{ id, point }]
    })
  }

  hasGate(point: GatePoint): boolean {
    return this.#gates.some((gate) => gate.point === point)
  }

  get hasGates(): boolean {
    return this.#gates.length > 0
  }

  async gate(point: GatePoint): Promise<void> {
    for (const gate of this.#gates) {
      if (gate.point === point) await this.#options.faults.wait(gate.id, this.#options.closed)
    }
  }

  /** Waits that long; 0 is one turn of the event loop, undefined nothing at all. */
  async delay(delayMs: number | undefined): Promise<void> {
    if (delayMs === undefined) return
    if (delayMs === 0) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      return
    }
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(delayMs, resolve)
      this.#endDelay = () => {
        timer.cancel()
        resolve()
      }
    })
  }
}

/** What is wrong with a `hold` directive; undefined when it can be used. */
export function findHoldFault(hold: string): string | undefined {
  const points: readonly string[] = gatePoints
  const wrong = hold
    .split(',')
    .find((text) => !points.includes(text.split('@')[1] ?? 'before_head'))
  return wrong === undefined ? undefined : `hold "${wrong}" is not at one of ${points.join(', ')}`
}
