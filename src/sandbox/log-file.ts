/**
 * The sandbox's log on the disk: one JSON line for each phase of each exchange, synced before the
 * phase goes on, so that a killed sandbox or a killed gateway can be reconciled afterwards. Bodies
 * are never written. Several runs may append to one file; each has a number of its own.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { ServedRecord } from './served-record.ts'

/** A record as it stands in the file. */
export type LoggedRecord = Omit<ServedRecord, 'requestBody' | 'responseBody' | 'rawHeaders'> & {
  /** Which run of the sandbox wrote it, counted from 0 per file. */
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
    // A torn last line of a killed run must not swallow this one, hence the line end in front.
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

/** The newest state of every exchange in the file, in the order they were received. */
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
    return undefined // The line a killed run was writing; its phase had not been told to anyone.
  }
}
