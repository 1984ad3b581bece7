/**
 * The structured log: JSON lines on stdout. Callers hand over ids, classes and figures; bodies,
 * headers, queries and secrets have no business here at any level, and known names are redacted in
 * case one slips in.
 */
import { pino, type Logger } from 'pino'

export interface LogOptions {
  readonly level: string
  /** A file descriptor; 1 is stdout. */
  readonly descriptor?: number
}

const redactedNames = ['authorization', 'credential', 'secret', 'token', 'body', 'headers', 'query']

export interface Log {
  readonly logger: Logger
  /** Writes out what is buffered; call before the process ends. */
  flush(): void
}

/** Lines are written in blocks, so that a busy gateway does not pay a system call for each. */
const blockBytes = 4_096
const flushIntervalMs = 500

export function createLog(options: LogOptions): Log {
  const destination = pino.destination({
    dest: options.descriptor ?? 1,
    sync: false,
    minLength: blockBytes,
    periodicFlush: flushIntervalMs,
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
    destination,
  )
  return { logger, flush: () => destination.flushSync() }
}
