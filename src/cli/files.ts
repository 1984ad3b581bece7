/** What commands that take a file share: reading it, and showing what it changes. */
import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import type { FieldChange } from '../operations/catalogue.ts'

/** Of a file named on the command line; `-` is standard input. */
export function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new InvalidArgumentError(`The file cannot be read: ${reason}.`)
  }
}

export function describeField({ field, from, to }: FieldChange): string {
  return `    ${field}: ${from ?? '–'} → ${to ?? '–'}`
}
