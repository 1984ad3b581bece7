/**
 * The sandbox's exact record of what it served: the oracle money tests compare with. Knows nothing
 * of HTTP. A record is told of before anything it vouches for can be seen from outside: `terminal`
 * is written (and, with a file, on the disk) before the terminal event leaves.
 */
import type { LogFile } from './log-file.ts'
import type { OpenRecord, ServedRecord } from './served-record.ts'

export interface SandboxLog {
  readonly records: readonly ServedRecord[]
  forMarker(marker: string): readonly ServedRecord[]
  forChannel(channel: string): readonly ServedRecord[]
  /** The first record, now or later, that fits; looked at afresh at every change of a record. */
  waitFor(predicate: (record: ServedRecord) => boolean): Promise<ServedRecord>
  /** Requests for no known endpoint, and those whose body never came whole; they have no record. */
  readonly strayCount: number
  /** Forgets all records; those of running exchanges are completed, unseen. */
  clear(): void
}

interface Waiter {
  readonly predicate: (record: ServedRecord) => boolean
  readonly resolve: (record: ServedRecord) => void
  readonly reject: (error: Error) => void
}

/** More records than any test makes; a benchmark that passes it turns recording off. */
const recordsMax = 200_000

export class RecordLog implements SandboxLog {
  strayCount = 0
  #records: ServedRecord[] = []
  readonly #waiters = new Set<Waiter>()
  readonly #file: LogFile | undefined
  readonly #isKept: boolean

  constructor(options: { readonly file: LogFile | undefined; readonly isKept: boolean }) {
    this.#file = options.file
    this.#isKept = options.isKept
  }

  get records(): readonly ServedRecord[] {
    return this.#records
  }

  forMarker(marker: string): readonly ServedRecord[] {
    return this.#records.filter((record) => record.marker === marker)
  }

  forChannel(channel: string): readonly ServedRecord[] {
    return this.#records.filter((record) => record.channel === channel)
  }

  waitFor(predicate: (record: ServedRecord) => boolean): Promise<ServedRecord> {
    const present = this.#records.find(predicate)
    if (present !== undefined) return Promise.resolve(present)
    return new Promise((resolve, reject) => {
      this.#waiters.add({ predicate, resolve, reject })
    })
  }

  clear(): void {
    this.#records = []
    this.strayCount = 0
  }

  received(record: OpenRecord): void {
    if (this.#isKept) {
      if (this.#records.length >= recordsMax) throw new Error('The sandbox log is full.')
      this.#records.push(record)
    }
    this.#tell(record)
  }

  /** To be called before the terminal event is written. */
  terminal(record: OpenRecord): void {
    record.phase = 'terminal'
    this.#tell(record)
  }

  closed(record: OpenRecord): void {
    record.phase = 'closed'
    this.#tell(record)
  }

  /** A record changed within a phase: those who wait may want to look. */
  changed(record: OpenRecord): void {
    if (this.#waiters.size > 0) this.#wake(record)
  }

  close(): void {
    for (const waiter of this.#waiters) {
      waiter.reject(new Error('The sandbox was closed before such a record came.'))
    }
    this.#waiters.clear()
    this.#file?.close()
  }

  #tell(record: OpenRecord): void {
    this.#file?.write(record)
    if (this.#waiters.size > 0) this.#wake(record)
  }

  #wake(record: ServedRecord): void {
    for (const waiter of this.#waiters) {
      if (!waiter.predicate(record)) continue
      this.#waiters.delete(waiter)
      waiter.resolve(record)
    }
  }
}
