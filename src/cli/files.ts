/** What commands that take a file share: reading it, and showing what it changes. */
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { InvalidArgumentError } from 'commander'
import type { FieldChange } from '../operations/catalogue.ts'

/** Of a file named on the command line; `-` is standard input, whose writer may take its time. */
export async function readText(path: string): Promise<string> {
  try {
    const bytes = path === '-' ? await buffer(process.stdin) : await readFile(path)
    return bytes.toString('utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const what = path === '-' ? 'Standard input' : `The file ${path}`
    throw new InvalidArgumentError(`${what} cannot be read: ${reason}.`)
  }
}

export function describeField({ field, from, to }: FieldChange): string {
  return `    ${field}: ${from ?? '–'} → ${to ?? '–'}`
}
