/** The options `--since` and `--until` of lists: a date or a time; for the first one also an age. */
import { InvalidArgumentError } from 'commander'
import { commandClock, parseDuration } from '../base/clock.ts'

/** Hints for the fields `from` and `to`. */
export const periodHints = {
  from: {
    flags: '--since <time>',
    text: 'a date, a time, or an age such as 30m or 2h',
    read: sinceOf,
  },
  to: { flags: '--until <time>', text: 'a date (included) or a time' },
}

/** An age counts back from now. */
function sinceOf(given: string): string {
  const ageMs = parseDuration(given.trim())
  if (ageMs === undefined) {
    if (!/^\s*\d{4}-/.test(given))
      throw new InvalidArgumentError('--since must be a date, a time, or an age such as 30m or 2h.')
    return given
  }
  const atMs = commandClock.now() - ageMs
  if (atMs <= 0) throw new InvalidArgumentError('--since is too long ago.')
  return new Date(atMs).toISOString()
}
