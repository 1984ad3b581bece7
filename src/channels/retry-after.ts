/**
 * How long a vendor asks to be left alone, by the headers of its answer: in milliseconds, in seconds
 * or as a date. Pure; how long the channel then rests is for health to decide. The invariant: checks
 * and traffic read the same head in the same way.
 */

interface Head {
  header(name: string): string | undefined
}

/** Undefined where it names no time, or none that can be read. `nowMs` is wall time, for dates. */
export function readRetryAfterMs(head: Head, nowMs: number): number | undefined {
  const milliseconds = readNumber(head.header('retry-after-ms'))
  if (milliseconds !== undefined) return milliseconds
  const text = head.header('retry-after')
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
