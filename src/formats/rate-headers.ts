/**
 * Headers about rate limits. Pure: reads the pause that a vendor asks for, bounds that for clients,
 * and writes the account's own limit in the style of the called format. The vendor's own limit headers
 * describe the operator's quota and never reach a client.
 */
import { minuteMs } from '../base/clock.ts'
import type { HeadLines } from '../http/wire/head-lines.ts'
import type { FormatName } from './format.ts'

interface Head {
  header(name: string): string | undefined
}

/**
 * Returns the pause that a vendor asks for; undefined where it names no time that can be read.
 * `nowMs` is wall time, for dates. Probes and traffic both use this.
 */
export function readRetryAfterMs(head: Head, nowMs: number): number | undefined {
  const milliseconds = readNumber(head.header('retry-after-ms'))
  return milliseconds ?? readWaitMs(head.header('retry-after'), nowMs)
}

/** Reads a `retry-after`: seconds, or a date. */
function readWaitMs(text: string | undefined, nowMs: number): number | undefined {
  const seconds = readNumber(text)
  if (seconds !== undefined) return seconds * 1_000
  if (text === undefined || !httpDate.test(text)) return undefined
  const dateMs = Date.parse(text)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs)
}

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), /

function readNumber(text: string | undefined): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(text ?? '') ? Number(text) : undefined
}

/**
 * The longest wait that a client is asked for. Clients sleep as long as an answer says, and for them the
 * vendor's rest ends as soon as another channel is back.
 */
const clientWaitMsMax = minuteMs

/** Returns a `retry-after` for a client while a channel rests, in whole seconds. */
export function retryAfterOf(restMs: number): string {
  return String(Math.ceil(Math.min(restMs, clientWaitMsMax) / 1_000))
}

/**
 * Limits an answer's `retry-after`. One that cannot be read becomes the rest of the channel: clients read
 * such a text in different ways.
 */
export function limitRetryAfter(
  headers: HeadLines,
  { restMs, nowMs }: { readonly restMs: number; readonly nowMs: number },
): HeadLines {
  return headers.edit((fields, index) => {
    const value = fields.value(index)
    if (fields.isNamed(index, 'retry-after')) {
      const waitMs = readWaitMs(value, nowMs)
      return isShort(waitMs) ? value : retryAfterOf(waitMs ?? restMs)
    }
    if (!fields.isNamed(index, 'retry-after-ms')) return value
    const waitMs = readNumber(value)
    return isShort(waitMs) ? value : String(Math.min(waitMs ?? restMs, clientWaitMsMax))
  })
}

function isShort(waitMs: number | undefined): boolean {
  return waitMs !== undefined && waitMs <= clientWaitMsMax
}

export interface RequestLimit {
  readonly limit: number
  readonly remaining: number
  /** Until the oldest counted request leaves the window. */
  readonly resetMs: number
}

/** Returns the account's own requests-per-minute limit as headers. */
export function limitHeaders(
  format: FormatName,
  limit: RequestLimit,
  nowMs: number,
): Readonly<Record<string, string>> {
  switch (format) {
    case 'messages':
      return {
        'anthropic-ratelimit-requests-limit': String(limit.limit),
        'anthropic-ratelimit-requests-remaining': String(limit.remaining),
        'anthropic-ratelimit-requests-reset': new Date(nowMs + limit.resetMs).toISOString(),
      }
    case 'chat':
      return {
        'x-ratelimit-limit-requests': String(limit.limit),
        'x-ratelimit-remaining-requests': String(limit.remaining),
        'x-ratelimit-reset-requests': `${Math.ceil(limit.resetMs / 1_000)}s`,
      }
  }
}
