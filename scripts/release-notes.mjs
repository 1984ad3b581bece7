/**
 * `node scripts/release-notes.mjs VERSION`: prints the section of CHANGELOG.md for a version, without one the
 * unreleased section. A second word names another file.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './runtime.mjs'

/**
 * Returns the text below a version's heading, `## [0.2.0] - 2026-12-01` or `## [Unreleased]`; undefined where
 * there is none.
 */
export function notesOf(changelog, version = 'Unreleased') {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.startsWith(`[${version}]`))
  return section?.slice(section.indexOf('\n') + 1).trim()
}

if (process.argv[1] === import.meta.filename) {
  const [version = 'Unreleased', path = join(root, 'CHANGELOG.md')] = process.argv.slice(2)
  const notes = notesOf(readFileSync(path, 'utf8'), version)
  if (notes === undefined) {
    process.stderr.write(`The changelog has no section ## [${version}].\n`)
    process.exitCode = 1
  } else process.stdout.write(`${notes}\n`)
}
