/** Passes the figures of a set to the command that writes them to docs/outside-suites.md. */
import { appendFileSync } from 'node:fs'

/** A row of the table. Texts contain no `|`. */
export interface Figures {
  readonly set: string
  /** What of the set was run, or against what. */
  readonly part: string
  readonly cases: number
  /** Cases that end otherwise than the set says; each is listed in the set's file with its reason. */
  readonly exceptions: number
  /** What was measured, in words. */
  readonly figures: string
}

/** Does nothing in `npm test`. */
export function reportFigures(figures: Figures): void {
  const path = process.env['TURNPIKE_OUTSIDE_REPORT']
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(figures)}\n`)
}
