/** The parts of docs/ that are made from the program are up to date, and every part has its place. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { format, resolveConfig } from 'prettier'
import { buildParts, fillPage, partsOf } from '../site/reference.ts'

const folder = join(import.meta.dirname, '..', 'docs')
const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), 'utf8') }))

test('settings, errors, commands and endpoints in docs/ are those of the program; npm run docs:write writes them', async () => {
  const parts = buildParts()
  for (const { path, text } of pages.filter((page) => partsOf(page.text).length > 0)) {
    const options = { ...(await resolveConfig(path)), filepath: path }
    assert.equal(text, await format(fillPage(text, parts), options), path)
  }
})

test('each part is on one page', () => {
  assert.deepEqual(
    pages.flatMap(({ text }) => partsOf(text)).toSorted(),
    [...buildParts().keys()].toSorted(),
  )
})

test('a page that names a part which does not exist is a mistake', () => {
  const page = '<!-- made from the program: nonsense -->\n<!-- end -->'
  assert.throws(() => fillPage(page, buildParts()), /There is no part nonsense/)
})
