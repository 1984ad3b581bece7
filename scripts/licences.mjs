/**
 * `node scripts/run.mjs licences`: checks the lock file and the licences of all packages, and prints them: those
 * that the gateway runs on, those in the console's scripts, and by licence those for development. `--folder` names
 * another folder. A release has the licence file of each package, and `console/built/licences.md` has those of the
 * console.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { allowedLicences, findLockMistakes, lockedPackages, readLock } from './lock-file.mjs'
import { root } from './runtime.mjs'

/** Reads what the build of the console contains; a folder without a build has none of it. */
function readConsolePackages(folder) {
  const path = join(folder, 'console/built/licences.md')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return [...text.matchAll(/^## (\S+) - (\S+) \((.+)\)$/gm)].map(([, name, version, licence]) => ({
    name,
    version,
    licence,
  }))
}

function listPackages(title, packages) {
  return [title, ...packages.map(({ name, version, licence }) => `  ${name} ${version} ${licence}`)]
}

function listByLicence(title, packages) {
  const names = Map.groupBy(packages, ({ licence }) => licence)
  const licences = [...names].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return [title, ...licences.map(([licence, list]) => `  ${licence}: ${namesOf(list)}`)]
}

function namesOf(packages) {
  return packages.map(({ name }) => name).join(', ')
}

const { values: options } = parseArgs({ options: { folder: { type: 'string', default: root } } })
const lock = readLock(options.folder)
const packages = lockedPackages(lock)
const inConsole = readConsolePackages(options.folder)
const mistakes = [
  ...findLockMistakes(lock),
  ...inConsole
    .filter(({ licence }) => !allowedLicences.has(licence))
    .map(({ name, licence }) => `${name} has the licence ${licence}`),
]
const running = packages.filter(({ isDevelopment }) => !isDevelopment)
const tools = packages.filter(({ isDevelopment }) => isDevelopment)
const lines = [
  ...listPackages('The gateway runs on:', running),
  ...listPackages('In the console and the account page:', inConsole),
  ...listByLicence('For development:', tools),
]
process.stdout.write(`${lines.join('\n')}\n`)
for (const mistake of mistakes) process.stderr.write(`${mistake}\n`)
process.exitCode = mistakes.length === 0 ? 0 : 1
