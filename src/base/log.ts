/**
 * The structured log: JSON lines on stdout. Callers hand over ids, classes and figures; bodies,
 * headers, queries and secrets have no business here at any level, and known names are redacted in
 * case one slips in.
 */
import { pino, type Logger } from 'pino'
import { systemClock } from './clock.ts'
import { descriptorSink, LogWriter } from './log-writer.ts'

export interface LogOptions {
  readonly level: string
  /** A file descriptor; 1 is stdout. */
  readonly descriptor?: number
}

const redactedNames = ['authorization', 'credential', 'secret', 'token', 'body', 'headers', 'query']

export interface Log {
  readonly logger: Logger
  /** Lines that could not be written and never will be. */
  droppedCount(): number
  /** Writes what waits, as far as that can be done within a second; call before the process ends. */
  close(): Promise<void>
}

export function createLog(options: LogOptions): Log {
  const writer = new LogWriter({
    sink: descriptorSink(options.descriptor ?? 1),
    clock: systemClock,
    onResumed: (lines) => logger.warn({ lines }, 'lines of the log are lost: no room for them'),
  })
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: redactedNames.flatMap((name) => [name, `*.${name}`]),
        censor: '***',
      },
    },
    writer,
  )
  // A fault that nobody caught ends the process without asking: what led to it must not be lost.
  process.once('exit', () => writer.flush())
  return { logger, droppedCount: () => writer.droppedCount, close: () => writer.close() }
}
