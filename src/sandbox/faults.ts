/**
 * What tests set while the sandbox runs: directives per channel, and the gates at which exchanges
 * wait. Knows nothing of sockets. A gate once released stays open, so a test may release before
 * or after the exchange arrives.
 */
import type { FormatName, OperationName } from '../formats/format.ts'
import { parseDirectives } from './directives.ts'
import type { Directives } from './directives.ts'

export interface FaultSubject {
  readonly format: FormatName
  readonly operation: OperationName
  readonly model: string
  readonly isStream: boolean
}

/** Called with the number of the channel's request since `set`, from 0. */
export type FaultRule = (index: number, subject: FaultSubject) => Directives | string | undefined

export interface FaultControl {
  /**
   * Sets what happens to a channel's requests from now on; `*` is every channel without a setting
   * of its own. An array gives one entry to each request in turn, and nothing to those after.
   */
  set(channel: string, fault: Directives | string | readonly string[] | FaultRule): void
  /** Back to health: one channel, or all of them. */
  clear(channel?: string): void
  /** Opens the gate for good: whoever waits there goes on, later comers do not stop. */
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

  /** Used by the sandbox: waits at a gate, but no longer than the exchange lives. */
  async wait(id: string, closed: Promise<void>): Promise<void> {
    const gate = this.#gate(id)
    gate.reach()
    await Promise.race([gate.released, closed])
  }

  /** Used by the sandbox: what the channel's setting says about its next request. */
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
