/**
 * Credentials in separate files, as secret stores mount them. A file is looked at again and again; its
 * stamp tells whether it has changed since it was read.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  statSync,
  type BigIntStats,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { every, type Clock, type Timer } from '../base/clock.ts'

/** More than any credential with its line end. */
const fileBytesMax = 16_384
const lookIntervalMs = 1_000

type CredentialFile =
  | { readonly text: string; readonly fault?: undefined }
  /** `fault` completes a sentence about the file. */
  | { readonly text?: undefined; readonly fault: string }

/** Reads a whole file; never waits for a writer of a pipe. */
export function readCredentialFile(path: string): CredentialFile {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const facts = fstatSync(file)
    if (!facts.isFile()) return { fault: 'is not a file' }
    if (facts.size > fileBytesMax) return { fault: 'is too large' }
    return { text: readFileSync(file, 'utf8').trim() }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return { fault: `cannot be read (${code})` }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Missing or not accessible is a state of a file like any other. */
const noFile = ''

/** Returns a text that changes with the file: also where it is replaced, or a link leads elsewhere. */
export function stampOf(path: string): string {
  try {
    return describe(statSync(path, { bigint: true }))
  } catch {
    return noFile
  }
}

function describe({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
}

/** Calls `onChange` when a file differs from its stamp, until `stamps` has the new one. */
export function watchCredentialFiles(options: {
  readonly clock: Clock
  /** By path, as of the last read. */
  readonly stamps: () => ReadonlyMap<string, string>
  readonly onChange: () => Promise<void>
  readonly onError: (error: unknown) => void
}): Timer {
  const { clock, stamps, onChange, onError } = options
  const look = async (): Promise<void> => {
    for (const [path, before] of stamps()) {
      // Not `stampOf`: a network disk that hangs must not stop the gateway.
      const now = await stat(path, { bigint: true }).then(describe, () => noFile)
      if (now !== before) return onChange()
    }
  }
  return every(clock, lookIntervalMs, look, onError)
}
