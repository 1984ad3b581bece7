/**
 * The sandbox's exact record of what it served; money tests compare charges with it. With a file,
 * each phase of each exchange is one JSON line, synced before the phase continues, so that a killed
 * sandbox or gateway can be reconciled afterwards. The phase `terminal` is recorded before the
 * terminal event leaves.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { OpenRecord, ServedRecord } from './served-record.ts'

export interface SandboxLog {
  readonly records: readonly ServedRecord[]
  forMarker(marker: string): readonly ServedRecord[]
  forChannel(channel: string): readonly ServedRecord[]
  /** Returns the first record that fits, now or later; checks again at every change of a record. */
  waitFor(predicate: (record: ServedRecord) => boolean): Promise<ServedRecord>
  /** Requests without a record: unknown endpoints, and bodies that never became complete. */
  readonly strayCount: number
  /** Removes all records, also those of running exchanges. */
  clear(): void
}

interface Waiter {
  readonly predicate: (record: ServedRecord) => boolean
  readonly resolve: (record: ServedRecord) => void
  readonly reject: (error: Error) => void
}

/** More records than any test makes. A benchmark turns recording off. */
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
    this.#publish(record)
  }

  /** Call it before the terminal event is written. */
  terminal(record: OpenRecord): void {
    record.phase = 'terminal'
    this.#publish(record)
  }

  closed(record: OpenRecord): void {
    record.phase = 'closed'
    this.#publish(record)
  }

  /** A record has changed within a phase: checks what waits for it. */
  changed(record: OpenRecord): void {
    if (this.#waiters.size > 0) this.#wake(record)
  }

  close(): void {
    for (const waiter of this.#waiters) {
      waiter.reject(new Error('The sandbox closed before such a record existed.'))
    }
    this.#waiters.clear()
    this.#file?.close()
  }

  #publish(record: OpenRecord): void {
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

/** A record in the file. */
export type LoggedRecord = Omit<ServedRecord, 'requestBody' | 'responseBody' | 'rawHeaders'> & {
  /** The run of the sandbox that wrote it, counted from 0 in each file. */
  readonly run: number
}

export class LogFile {
  readonly #descriptor: number
  readonly #run: number

  constructor(path: string) {
    const earlier = existsSync(path) ? readLines(path) : []
    this.#run = earlier.reduce((run, record) => Math.max(run, record.run + 1), 0)
    this.#descriptor = openSync(path, 'a')
  }

  write(record: ServedRecord): void {
    // The line end in front keeps this line apart from the torn last line of a killed run.
    const line = JSON.stringify({ run: this.#run, ...record }, omitBulk)
    writeSync(this.#descriptor, `\n${line}\n`)
    fsyncSync(this.#descriptor)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

const bulkMembers = new Set(['requestBody', 'responseBody', 'rawHeaders'])

function omitBulk(name: string, value: unknown): unknown {
  return bulkMembers.has(name) ? undefined : value
}

/** Reads the newest state of every exchange in the file, in the order of their requests. */
export function readSandboxLog(path: string): readonly LoggedRecord[] {
  const newest = new Map<string, LoggedRecord>()
  for (const record of readLines(path)) newest.set(`${record.run}/${record.index}`, record)
  return [...newest.values()]
}

function readLines(path: string): LoggedRecord[] {
  const records: LoggedRecord[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const record = parseLine(line)
    if (record !== undefined) records.push(record)
  }
  return records
}

function parseLine(line: string): LoggedRecord | undefined {
  if (line === '') return undefined
  try {
    return JSON.parse(line) as LoggedRecord
  } catch {
    return undefined // A line that a killed run was writing: no client has seen anything of its phase.
  }
}
