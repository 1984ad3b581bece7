/**
 * What a test sets while the sandbox runs: directives for each channel, and gates at which exchanges
 * wait. Knows nothing of sockets. A released gate stays open, so a test may release it before or
 * after the exchange arrives. Every wait ends when the exchange ends.
 */
import type { Clock } from '../src/base/clock.ts'
import { parseDirectives, readGates } from './directives.ts'
import type { Directives, GatePoint } from './directives.ts'
import type { Format, Operation } from './endpoints.ts'

export interface FaultSubject {
  readonly format: Format
  readonly operation: Operation
  readonly model: string
  readonly isStream: boolean
}

/** Called with the number of the channel's request since `set`, from 0. */
export type FaultRule = (index: number, subject: FaultSubject) => Directives | string | undefined

export interface FaultControl {
  /**
   * Sets the directives for a channel's requests from now on; `*` means every channel without its
   * own setting. A list gives one entry to each request in turn, and nothing after that.
   */
  set(channel: string, fault: Directives | string | readonly string[] | FaultRule): void
  /** Removes the setting of one channel, or all settings. */
  clear(channel?: string): void
  /** Opens the gate: exchanges that wait there continue, and later ones do not stop. */
  release(id: string): void
  /** Resolves when an exchange waits at the gate (or has passed it). */
  reached(id: string): Promise<void>
}

interface Setting {
  readonly rule: FaultRule
  count: number
}

class Gate {
  readonly released: Promise<void>
  readonly reached: Promise<void>
  release: () => void = () => undefined
  reach: () => void = () => undefined

  constructor() {
    this.released = new Promise((resolve) => (this.release = resolve))
    this.reached = new Promise((resolve) => (this.reach = resolve))
  }
}

export class Faults implements FaultControl {
  readonly #settings = new Map<string, Setting>()
  readonly #gates = new Map<string, Gate>()

  set(channel: string, fault: Directives | string | readonly string[] | FaultRule): void {
    this.#settings.set(channel, { rule: toRule(fault), count: 0 })
  }

  clear(channel?: string): void {
    if (channel === undefined) this.#settings.clear()
    else this.#settings.delete(channel)
  }

  release(id: string): void {
    this.#gate(id).release()
  }

  reached(id: string): Promise<void> {
    return this.#gate(id).reached
  }

  /** Used by the sandbox: waits at a gate, at most until the exchange ends. */
  async wait(id: string, closed: Promise<void>): Promise<void> {
    const gate = this.#gate(id)
    gate.reach()
    await Promise.race([gate.released, closed])
  }

  /** Used by the sandbox: returns the directives for the channel's next request. */
  take(channel: string, subject: FaultSubject): Directives | undefined {
    if (this.#settings.size === 0) return undefined
    const setting = this.#settings.get(channel) ?? this.#settings.get('*')
    if (setting === undefined) return undefined
    const fault = setting.rule(setting.count++, subject)
    return typeof fault === 'string' ? parseOrThrow(fault) : fault
  }

  #gate(id: string): Gate {
    let gate = this.#gates.get(id)
    if (gate === undefined) {
      gate = new Gate()
      this.#gates.set(id, gate)
    }
    return gate
  }
}

function toRule(fault: Directives | string | readonly string[] | FaultRule): FaultRule {
  if (typeof fault === 'function') return fault
  if (isList(fault)) {
    const parsed = fault.map(parseOrThrow)
    return (index) => parsed[index]
  }
  const directives = typeof fault === 'string' ? parseOrThrow(fault) : fault
  return () => directives
}

function isList(fault: Directives | string | readonly string[]): fault is readonly string[] {
  return Array.isArray(fault)
}

function parseOrThrow(text: string): Directives {
  const { directives, problems } = parseDirectives(text)
  if (problems.length > 0) throw new Error(`Sandbox directives: ${problems.join('; ')}.`)
  return directives
}

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
    this.#gates = readGates(options.hold ?? '')
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

  /** Waits that long. 0 is one turn of the event loop; undefined does not wait. */
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
