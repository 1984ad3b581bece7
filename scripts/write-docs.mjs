/** `npm run docs:write`: writes the parts of docs/ that are made from the program. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatPage } from '../site/format.ts'
import { buildParts, fillPage } from '../site/reference.ts'
import { root } from './runtime.mjs'

const folder = join(root, 'docs')
const parts = buildParts()
for (const name of readdirSync(folder).filter((each) => each.endsWith('.md'))) {
  const path = join(folder, name)
  const page = readFileSync(path, 'utf8')
  await write(path, fillPage(page, parts), page)
}

async function write(path, text, former) {
  if (text === former) return
  writeFileSync(path, await formatPage(path, text))
}
