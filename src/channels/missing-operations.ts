/**
 * Which channels do not offer an operation: learned from their answers, and forgotten after a while, because
 * a vendor's server may be replaced. It says nothing about a channel's health.
 */
const rememberedMs = 600_000

export class MissingOperations {
  readonly #untilMs = new Map<string, number>()

  get isEmpty(): boolean {
    return this.#untilMs.size === 0
  }

  /** `nowMs` is monotonic. */
  note(channel: string, operation: string, nowMs: number): void {
    this.#untilMs.set(`${channel} ${operation}`, nowMs + rememberedMs)
  }

  has(channel: string, operation: string, nowMs: number): boolean {
    return (this.#untilMs.get(`${channel} ${operation}`) ?? 0) > nowMs
  }
}
