/** Makes a temporary folder in memory, where a machine has one with room. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
/** Several times what the stores and servers of the tests take. */
const freeBytesMin = 4 * 1024 ** 3

/**
 * Returns the new folder, or undefined where there is none: no such file system, too little room, or
 * programs may not run from it. Every account may enter it, because PostgreSQL does not run as root.
 */
export function makeFolderInMemory() {
  if (!existsSync(memory) || !isProgramAllowed()) return undefined
  const { bavail, bsize } = statfsSync(memory)
  if (Math.min(bavail * bsize, freemem()) < freeBytesMin) return undefined
  const folder = mkdtempSync(join(memory, 'turnpike-tests-'))
  chmodSync(folder, 0o755)
  return folder
}

function isProgramAllowed() {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const fields = mounts.map((line) => line.split(' ')).find(([, folder]) => folder === memory)
  return fields !== undefined && !fields[3].split(',').includes('noexec')
}
