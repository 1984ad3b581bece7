/**
 * Reads the lock file: which packages the program runs on, under which licences, and whether npm can check
 * each of them. Any Node from version 20 on can run this.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A release has npm-shrinkwrap.json: npm packs no package-lock.json. */
const lockNames = ['package-lock.json', 'npm-shrinkwrap.json']

/** Returns the path of a folder's lock file. */
export function lockPath(folder) {
  const paths = lockNames.map((name) => join(folder, name))
  return paths.find((path) => existsSync(path)) ?? paths[0]
}

/** Returns the packages of a lock file: `{ path, name, version, licence, isDevelopment, … }`. */
export function lockedPackages(lock) {
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: entry.version,
      licence: entry.license,
      // Second: a tool that a package of the program names as an optional peer, such as its types.
      isDevelopment: entry.dev === true || entry.devOptional === true,
      isOptional: entry.optional === true,
      entry,
    }))
}

export function readLock(folder) {
  return JSON.parse(readFileSync(lockPath(folder), 'utf8'))
}

/** Licences that allow use, change and redistribution with a notice only. */
export const allowedLicences = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
])

/** For tools that no release contains, also those whose own files must stay under their licence. */
const toolLicences = new Set([...allowedLicences, 'MPL-2.0'])

/**
 * Names the mistakes of a lock file: a package that npm cannot check, that names a registry, that wants to
 * run a script at installation, or whose licence is not allowed.
 */
export function findLockMistakes(lock) {
  return lockedPackages(lock).flatMap((one) => {
    const { name, licence, isDevelopment, entry } = one
    const mistakes = []
    if (entry.integrity === undefined) mistakes.push('has no integrity')
    if (/^https?:/.test(entry.resolved ?? '')) mistakes.push('names a registry')
    if (entry.hasInstallScript) mistakes.push('has an install script')
    const allowed = isDevelopment ? toolLicences : allowedLicences
    if (!allowed.has(licence)) mistakes.push(`has the licence ${licence ?? 'none'}`)
    return mistakes.map((mistake) => `${name} ${mistake}`)
  })
}
