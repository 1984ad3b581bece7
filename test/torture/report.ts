/** Writes the volume of a run: to the test's output, and to a file where a command asks for one. */
import { appendFileSync } from 'node:fs'
import type { Volume } from './torture.ts'

export function report(context: { diagnostic(message: string): void }, volume: Volume): void {
  const line = JSON.stringify(volume)
  context.diagnostic(line)
  const path = process.env['TURNPIKE_TORTURE_REPORT']
  if (path !== undefined) appendFileSync(path, `${line}\n`)
}
