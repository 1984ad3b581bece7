/**
 * An option with a value is given once. The last of two would win without a word, and a key that was to be
 * restricted to two models would be restricted to one, or an account be credited with another amount.
 */
import type { Command } from 'commander'

/** These add up when they are repeated. */
const repeatable: ReadonlySet<string> = new Set(['ip', 'map'])

export function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    const name = option.name()
    if (option.isBoolean() || repeatable.has(name)) continue
    let isGiven = false
    command.on(`option:${name}`, () => {
      if (isGiven) command.error(`error: option '${option.flags}' is given twice`)
      isGiven = true
    })
  }
  for (const inner of command.commands) refuseRepeatedOptions(inner)
}
