/**
 * The account's own requests-per-minute limit in the header style of the format that was called.
 * The vendor's headers of these names describe the operator's quota and never reach a client.
 */
import type { FormatName } from './format.ts'

export interface RequestLimit {
  readonly limit: number
  readonly remaining: number
  /** Until the oldest counted request leaves the window. */
  readonly resetMs: number
}

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
