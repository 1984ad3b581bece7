/**
 * The structured log: JSON lines on stdout. Callers pass ids, classes and numbers; bodies, headers, queries
 * and secrets never go into it, and known names are redacted in case one does. Lines are gathered into
 * blocks and written in order; no caller waits. Lines that cannot be written wait within a bound and are
 * tried again; lines beyond the bound are dropped and counted.
 */
import { pino, type Logger } from 'pino'
import { write, writeSync } from 'node:fs'
import { systemClock, sleep, type Clock, type Timer } from './clock.ts'

export interface LogOptions {
  readonly level: string
  /** A file descriptor; 1 is stdout. */
  readonly descriptor?: number
  /** A field of every line, where several processes write to one log. */
  readonly node?: string
}

const redactedNames = ['authorization', 'credential', 'secret', 'token', 'body', 'headers', 'query']

export interface Log {
  readonly logger: Logger
  /** Lines that could not be written and are lost. */
  droppedCount(): number
  /** Writes the waiting lines, within a second at most; call it before the process ends. */
  close(): Promise<void>
}

export function createLog({ level, descriptor = 1, node }: LogOptions): Log {
  const writer = new LogWriter({
    sink: descriptorSink(descriptor),
    clock: systemClock,
    onResumed: (lines) => logger.warn({ lines }, 'log lines dropped'),
  })
  const logger = pino(
    {
      level,
      base: node === undefined ? null : { node },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: redactedNames.flatMap((name) => [name, `*.${name}`]),
        censor: '***',
      },
    },
    writer,
  )
  // An uncaught fault ends the process at once: the lines before it must not be lost.
  process.once('exit', () => writer.flush())
  return { logger, droppedCount: () => writer.droppedCount, close: () => writer.close() }
}

/** Writes some of the bytes and reports how many. Fails with EAGAIN where there is no room. */
export interface LogSink {
  write(bytes: Buffer, done: (error: Error | null, writtenBytes: number) => void): void
  writeNow(bytes: Buffer): number
}

export interface LogWriterOptions {
  readonly sink: LogSink
  readonly clock: Clock
  /** Called when lines can be written again after some were dropped; may write a line itself. */
  readonly onResumed: (droppedCount: number) => void
}

/**
 * Lines are written in blocks, so that a busy gateway needs fewer system calls. Linux writes as much to a
 * pipe at once or not at all (PIPE_BUF), so the lines of several processes do not mix.
 */
const blockBytes = 4_096
const flushIntervalMs = 500
const unwrittenBytesMax = 1_048_576
const retryMs = 20
/** At the end of the process, for a slow reader. */
const lastTriesMax = 25
const lastWriteTimeMs = 500

export class LogWriter {
  readonly #sink: LogSink
  readonly #clock: Clock
  readonly #onResumed: (droppedCount: number) => void
  #lines: string[] = []
  #linesBytes = 0
  /** The block under way, from its first unwritten byte on. */
  #block: Buffer = Buffer.alloc(0)
  #blockLines = 0
  #writing: PromiseWithResolvers<void> | undefined
  #retryTimer: Timer | undefined
  #flushTimer: Timer | undefined
  #hasReader = true
  #droppedCount = 0
  #droppedUnreported = 0

  constructor({ sink, clock, onResumed }: LogWriterOptions) {
    this.#sink = sink
    this.#clock = clock
    this.#onResumed = onResumed
  }

  /** Lines that are lost, because they could not be written. */
  get droppedCount(): number {
    return this.#droppedCount
  }

  /** Takes a line with its line end. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (!this.#hasReader || this.#unwrittenBytes() + bytes > unwrittenBytesMax) return this.#drop(1)
    this.#lines.push(line)
    this.#linesBytes += bytes
    this.#writeSoon()
  }

  /** Writes the waiting lines at the end of the process. Takes a second at most, even without a reader. */
  async close(): Promise<void> {
    if (this.#writing !== undefined)
      await Promise.race([this.#writing.promise, sleep(this.#clock, lastWriteTimeMs)])
    this.flush()
  }

  /** The same without the event loop, for a process that ends at once. */
  flush(): void {
    const block = this.#writing === undefined ? this.#takeBlock() : Buffer.alloc(0)
    this.#writeNow(Buffer.concat([block, this.#takeLines()]))
  }

  #unwrittenBytes(): number {
    return this.#block.length + this.#linesBytes
  }

  #drop(lineCount: number): void {
    this.#droppedCount += lineCount
    this.#droppedUnreported += lineCount
  }

  #takeLines(): Buffer {
    const bytes = Buffer.from(this.#lines.join(''))
    this.#lines = []
    this.#linesBytes = 0
    return bytes
  }

  /** Makes a block of the next lines: as many as fit, one at least. */
  #startBlock(): void {
    let bytes = 0
    let count = 0
    for (const line of this.#lines) {
      bytes += Buffer.byteLength(line)
      if (count > 0 && bytes > blockBytes) break
      count++
    }
    this.#block = Buffer.from(this.#lines.splice(0, count).join(''))
    this.#blockLines = count
    this.#linesBytes -= this.#block.length
  }

  #takeBlock(): Buffer {
    const bytes = this.#block
    this.#block = Buffer.alloc(0)
    this.#blockLines = 0
    return bytes
  }

  #writeSoon(): void {
    if (this.#linesBytes >= blockBytes) this.#writeOn()
    else if (this.#linesBytes > 0 && this.#flushTimer === undefined)
      this.#flushTimer = this.#clock.after(flushIntervalMs, () => {
        this.#flushTimer = undefined
        this.#writeOn()
      })
  }

  #writeOn(): void {
    if (this.#writing !== undefined || this.#retryTimer !== undefined) return
    if (this.#block.length === 0) {
      if (this.#lines.length === 0) return
      this.#startBlock()
    }
    const writing = Promise.withResolvers<void>()
    this.#writing = writing
    this.#sink.write(this.#block, (error, writtenBytes) => {
      this.#writing = undefined
      if (error === null) this.#written(writtenBytes)
      else this.#failed(error)
      writing.resolve()
    })
  }

  #written(byteCount: number): void {
    this.#block = this.#block.subarray(byteCount)
    if (this.#block.length > 0) return this.#writeOn()
    const lost = this.#droppedUnreported
    this.#droppedUnreported = 0
    if (lost > 0) this.#onResumed(lost)
    this.#writeSoon()
  }

  #failed(error: Error): void {
    if ('code' in error && error.code === 'EPIPE') {
      this.#hasReader = false
      this.#drop(this.#blockLines + this.#lines.length)
      this.#takeBlock()
      this.#takeLines()
      return
    }
    this.#retryTimer = this.#clock.after(retryMs, () => {
      this.#retryTimer = undefined
      this.#writeOn()
    })
  }

  #writeNow(bytes: Buffer): void {
    let rest = bytes
    for (let tries = 0; rest.length > 0 && tries < lastTriesMax; tries++) {
      try {
        rest = rest.subarray(this.#sink.writeNow(rest))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
      }
    }
  }
}

/** A file, a pipe, a terminal; pipes should be non-blocking (gateway/start-errors.ts sees to it). */
function descriptorSink(descriptor: number): LogSink {
  return {
    write: (bytes, done) => write(descriptor, bytes, done),
    writeNow: (bytes) => writeSync(descriptor, bytes),
  }
}
