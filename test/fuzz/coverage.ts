/** Which parts of the gateway's code have run, by the coverage that V8 itself counts. */
import { Session, type Profiler } from 'node:inspector'

/** By the address of a file: one byte for each character of it, 1 where it has run. */
type Covered = Map<string, Uint8Array>

export class CoverageGuide {
  readonly #session = new Session()
  readonly #known: Covered = new Map()
  #last: Covered = new Map()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Whether code has run since the last question that is not known. */
  hasNew(): boolean {
    this.#last = this.#take()
    for (const [url, covered] of this.#last) {
      const known = this.#known.get(url)
      if (covered.some((one, at) => one === 1 && known?.[at] !== 1)) return true
    }
    return false
  }

  /** The same, and from now on it is known. */
  takeNew(): boolean {
    const isNew = this.hasNew()
    for (const [url, covered] of this.#last) {
      const known = this.#known.get(url) ?? covered
      const longer = known.length < covered.length ? new Uint8Array(covered.length) : known
      if (longer !== known) longer.set(known)
      for (const [at, one] of covered.entries()) if (one === 1) longer[at] = 1
      this.#known.set(url, longer)
    }
    return isNew
  }

  [Symbol.dispose](): void {
    this.#session.post('Profiler.stopPreciseCoverage')
    this.#session.disconnect()
  }

  #take(): Covered {
    const covered: Covered = new Map()
    this.#session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error
      for (const script of answer.result)
        if (script.url.includes('/src/')) covered.set(script.url, paint(script))
    })
    return covered
  }
}

/**
 * Outer functions and blocks come before inner ones. Of a function without counts of its blocks only the
 * beginning is known.
 */
function paint({ functions }: Profiler.ScriptCoverage): Uint8Array {
  const ends = functions.flatMap(({ ranges }) => ranges.map(({ endOffset }) => endOffset))
  const painted = new Uint8Array(Math.max(0, ...ends))
  for (const { ranges, isBlockCoverage } of functions)
    for (const { startOffset, endOffset, count } of ranges) {
      painted.fill(count > 0 && isBlockCoverage ? 1 : 0, startOffset, endOffset)
      if (count > 0) painted[startOffset] = 1
    }
  return painted
}
