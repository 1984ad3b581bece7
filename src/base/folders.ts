/** Makes folders for files of the gateway. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a private folder and those above it. Node's recursive call never returns where the system answers
 * ENOENT although the folder above exists, as it does in /proc.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' && existsSync(dirname(path))) throw notSupported(path, error)
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function notSupported(path: string, cause: unknown): Error {
  const message = `ENOTSUP: no folder can be made, mkdir '${path}'`
  return Object.assign(new Error(message, { cause }), { code: 'ENOTSUP', syscall: 'mkdir', path })
}
