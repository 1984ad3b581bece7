/** Makes a temporary folder: in memory, where a machine has room there. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
/** Several times what the stores and servers of the tests take. */
const freeBytesMin = 4 * 1024 ** 3

/** Returns the new folder. Every account may enter it, because PostgreSQL does not run as root. */
export function makeTemporaryFolder() {
  const folder = mkdtempSync(join(hasRoomInMemory() ? memory : tmpdir(), 'turnpike-tests-'))
  chmodSync(folder, 0o755)
  return folder
}

/** False also where programs may not run from it. */
function hasRoomInMemory() {
  if (!existsSync(memory) || !isProgramAllowed()) return false
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, freemem()) >= freeBytesMin
}

function isProgramAllowed() {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const fields = mounts.map((line) => line.split(' ')).find(([, folder]) => folder === memory)
  return fields !== undefined && !fields[3].split(',').includes('noexec')
}
