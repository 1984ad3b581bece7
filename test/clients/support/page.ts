/** The pages under docs/clients: tests run the settings and the commands that they show. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'clients')

export function readPage(name: string): string {
  return readFileSync(join(folder, `${name}.md`), 'utf8')
}

/** Returns the first block of code in this language, as a reader copies it. */
export function codeBlock(page: string, language: string): string {
  const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1]
  assert.ok(block, `the page has no block in ${language}`)
  return block
}

/** Puts a rig's address and a caller's key in the place of those that pages show. */
export function fillIn(text: string, place: { origin: string; key: string }): string {
  return text.replaceAll('http://127.0.0.1:8080', place.origin).replaceAll('cr_…', place.key)
}
