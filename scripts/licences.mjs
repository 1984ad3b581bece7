/**
 * `npm run licences`: checks the lock file and writes docs/licences.md, the licences of all packages, from it and
 * from the list that the build of the console makes.
 * `--check` compares the page and writes nothing. `--folder` names another folder with a lock file.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { format } from 'prettier'
import { allowedLicences, findLockMistakes, lockedPackages, readLock } from './lock-file.mjs'
import { root } from './runtime.mjs'

/** Makes the page. */
function licencesPage(lock, inConsole) {
  const packages = lockedPackages(lock)
  const running = packages.filter(({ isDevelopment }) => !isDevelopment)
  const tools = packages.filter(({ isDevelopment, licence }) => isDevelopment && licence)
  const text = [
    '# Licences of dependencies',
    '`npm run licences` writes this page from the lock file and from the build of the console, and a test compares',
    'them. Turnpike itself is under the MIT licence. ADR 8 says what each direct dependency is for. A licence that is',
    'not in these tables needs a decision first: `allowedLicences` in `scripts/lock-file.mjs`.',
    '',
    '## Packages that the gateway runs on',
    'A release contains them, each with its licence file. `node-…` is Node for one system; only one is installed.',
    '',
    ...table(['package', 'version', 'licence'], running.map(rowOf)),
    '',
    '## Packages in the console and the account page',
    'Their code is in the scripts that browsers load. `console/built/licences.md` has the texts of their licences.',
    '',
    ...table(['package', 'version', 'licence'], inConsole.map(rowOf)),
    '',
    '## Packages for development',
    'They check and test the code. No release contains them.',
    '',
    ...table(['licence', 'packages'], byLicence(tools)),
  ]
  return format(text.join('\n'), { parser: 'markdown' })
}

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

function rowOf({ name, version, licence }) {
  return [`\`${name}\``, version, licence]
}

function byLicence(packages) {
  const names = Map.groupBy(packages, ({ licence }) => licence)
  return [...names]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([licence, list]) => [
      licence,
      list
        .map(({ name }) => `\`${name}\``)
        .sort()
        .join(', '),
    ])
}

function table(heading, rows) {
  return [heading, heading.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
}

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    folder: { type: 'string', default: root },
  },
})
const lock = readLock(options.folder)
const path = join(options.folder, 'docs/licences.md')
const inConsole = readConsolePackages(options.folder)
const page = await licencesPage(lock, inConsole)
const mistakes = [
  ...findLockMistakes(lock),
  ...inConsole
    .filter(({ licence }) => !allowedLicences.has(licence))
    .map(({ name, licence }) => `${name} has the licence ${licence}`),
]
if (!options.check && mistakes.length === 0) writeFileSync(path, page)
else if (options.check && readFileSync(path, 'utf8') !== page)
  mistakes.push('docs/licences.md differs from the packages: npm run licences')
for (const mistake of mistakes) process.stderr.write(`${mistake}\n`)
process.exitCode = mistakes.length === 0 ? 0 : 1
