/** Formats a page that a program has written as `npm run format` would. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, type FormatConfig } from 'oxfmt'

const settings = join(import.meta.dirname, '..', '.oxfmtrc.json')

/** `name` says the language by its ending. */
export async function formatPage(name: string, text: string): Promise<string> {
  const options = JSON.parse(readFileSync(settings, 'utf8')) as FormatConfig
  const { code, errors } = await format(name, text, options)
  if (errors.length > 0) throw new Error(`${name}: ${JSON.stringify(errors)}`)
  return code
}
