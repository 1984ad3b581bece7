/** Reads the option `--since`: a date, a time, or an age. */
import { InvalidArgumentError } from 'commander'
import { commandClock, parseDuration } from '../base/clock.ts'

/** An age counts back from now. */
export function sinceOf(given: unknown): unknown {
  const ageMs = typeof given === 'string' ? parseDuration(given.trim()) : undefined
  if (ageMs === undefined) {
    if (typeof given === 'string' && !/^\s*\d{4}-/.test(given))
      throw new InvalidArgumentError('--since must be a date, a time, or an age such as 30m or 2h.')
    return given
  }
  const atMs = commandClock.now() - ageMs
  if (atMs <= 0) throw new InvalidArgumentError('--since is too long ago.')
  return new Date(atMs).toISOString()
}
