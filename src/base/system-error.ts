/**
 * Explains errors of the operating system in one sentence that names the path or the address. Only errors
 * that an operator can remove are explained; everything else is a fault of the gateway and keeps its stack.
 */
import { GatewayError, type ErrorCode } from './errors.ts'

interface Explanation {
  /** `operations.invalid` for a wrong setting, `operations.conflict` for a temporary obstacle. */
  readonly code: ErrorCode
  /** Completes the sentence that begins with the path or address. */
  readonly says: string
}

const invalid = (says: string): Explanation => ({ code: 'operations.invalid', says })
const conflict = (says: string): Explanation => ({ code: 'operations.conflict', says })

const aboutPaths: Readonly<Record<string, Explanation>> = {
  ENOENT: invalid('does not exist'),
  EISDIR: invalid('is a folder, and a file is needed'),
  ENOTDIR: invalid('leads through a file that is not a folder'),
  EEXIST: conflict('exists already'),
  EACCES: conflict('is not accessible to this user'),
  EPERM: conflict('is not accessible to this user'),
  ENOTSUP: invalid('is on a file system that takes no new folders'),
  EROFS: conflict('is on a read-only file system'),
  ENOSPC: conflict('has no space left on its disk'),
}

const aboutAddresses: Readonly<Record<string, Explanation>> = {
  EADDRINUSE: conflict('is already in use. Stop the program that uses it, or set another address'),
  EADDRNOTAVAIL: invalid('is not an address of this machine'),
  ENOTFOUND: invalid('is an unknown host'),
  EACCES: conflict('needs a permission that this user does not have'),
  EPERM: conflict('needs a permission that this user does not have'),
}

/** What this process, or its machine, has no more of. */
export type Shortage = 'open_files' | 'memory' | 'ports'

const shortages: ReadonlyMap<unknown, Shortage> = new Map([
  ['EMFILE', 'open_files'],
  ['ENFILE', 'open_files'],
  ['ENOMEM', 'memory'],
  ['ENOBUFS', 'memory'],
])

/**
 * Returns what this side has too little of, where that is why a connection could not be opened. Where a name
 * has several addresses, one that got as far as the shortage counts: who is at fault is not known then.
 */
export function shortageIn(error: Error): Shortage | undefined {
  const failures: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  const codes = failures.map((one) =>
    one instanceof Error && 'code' in one ? one.code : undefined,
  )
  const shortage = codes.map((code) => shortages.get(code)).find((one) => one !== undefined)
  // Also the answer for an address of a family that this machine does not have.
  const hasNoPort = codes.every((code) => code === 'EADDRNOTAVAIL')
  return shortage ?? (hasNoPort ? 'ports' : undefined)
}

/** Returns undefined for an error that an operator cannot change. */
export function explainSystemError(error: unknown): GatewayError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code = '', path, address, hostname, port } = error as NodeJS.ErrnoException & Where
  const host = address ?? hostname
  const where = host === undefined ? path : port === undefined ? host : `${host}:${port}`
  const explanation = (host === undefined ? aboutPaths : aboutAddresses)[code]
  if (where === undefined || explanation === undefined) return undefined
  return new GatewayError(explanation.code, `${where} ${explanation.says}.`, { cause: error })
}

/** Fields of errors from sockets and name resolution. */
interface Where {
  readonly address?: string
  readonly hostname?: string
  readonly port?: number
}
