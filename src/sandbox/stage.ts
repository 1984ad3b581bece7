/**
 * What everyone who takes part in sending one answer shares: the response, its record, the clock,
 * the gates. Lives as long as the exchange.
 */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../base/clock.ts'
import type { Directives } from './directives.ts'
import type { Faults } from './faults.ts'
import type { Frame } from './frames.ts'
import type { RecordLog } from './log.ts'
import type { OpenRecord } from './served-record.ts'

export interface Stage {
  readonly response: ServerResponse
  readonly record: OpenRecord
  readonly directives: Directives
  readonly log: RecordLog
  readonly faults: Faults
  readonly clock: Clock
  readonly keepsBodies: boolean
  /** Set by whoever writes the body; completes the record's digest when the exchange is closed. */
  seal: () => void
}

/** Resolves when the response is closed, whoever closed it. */
export function whenClosed(response: ServerResponse): Promise<void> {
  if (response.closed) return Promise.resolve()
  return new Promise((resolve) => response.once('close', resolve))
}

/** Resolves when more may be written, or nothing more can be. */
export function whenDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}

/** Notes a frame that was handed to the socket. */
export function noteSent(record: OpenRecord, frame: Frame): void {
  record.eventCount++
  if (frame.usage !== undefined) {
    record.wireUsage = frame.usage
    if (frame.kind === 'usage' || frame.kind === 'terminal') record.isUsageSent = true
  }
  if (frame.kind === 'terminal') record.isTerminalSent = true
}
