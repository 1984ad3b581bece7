/** Reads the log of a gateway that writes it into a file. */
import { readFileSync } from 'node:fs'
import type { LogLine } from './scenario.ts'

/** Its lines so far; of one that is still being written the rest comes later, so it is left out. */
export function readLogFile(path: string): readonly LogLine[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine)
}
