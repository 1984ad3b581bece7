/**
 * What the operating system refuses, for people: one sentence that names the path or the address. Only
 * what an operator can change is explained; everything else is a fault of ours and keeps its stack.
 */
import { GatewayError, type ErrorCode } from './errors.ts'

interface Explanation {
  /** Wrong words or settings are `operations.invalid`; what is in the way for now is a conflict. */
  readonly code: ErrorCode
  /** Completes the sentence that the path or address begins. */
  readonly says: string
}

const invalid = (says: string): Explanation => ({ code: 'operations.invalid', says })
const conflict = (says: string): Explanation => ({ code: 'operations.conflict', says })

const aboutPaths: Readonly<Record<string, Explanation>> = {
  ENOENT: invalid('does not exist'),
  EISDIR: invalid('is a folder, and a file is needed'),
  ENOTDIR: invalid('leads through something that is no folder'),
  EEXIST: conflict('is there already'),
  EACCES: conflict('may not be used by this user'),
  EPERM: conflict('may not be used by this user'),
  EROFS: conflict('is on a file system that cannot be written'),
  ENOSPC: conflict('has no room left on its disk'),
}

const aboutAddresses: Readonly<Record<string, Explanation>> = {
  EADDRINUSE: conflict('is taken. Stop what uses it, or choose another one'),
  EADDRNOTAVAIL: invalid('is none of this machine'),
  ENOTFOUND: invalid('is a host that nobody knows'),
  EACCES: conflict('takes a permission that this user does not have'),
  EPERM: conflict('takes a permission that this user does not have'),
}

/** Undefined where it is nothing that an operator could have meant. */
export function explainSystemError(error: unknown): GatewayError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code = '', path, address, hostname, port } = error as NodeJS.ErrnoException & Where
  const host = address ?? hostname
  const where = host === undefined ? path : port === undefined ? host : `${host}:${port}`
  const explanation = (host === undefined ? aboutPaths : aboutAddresses)[code]
  if (where === undefined || explanation === undefined) return undefined
  return new GatewayError(explanation.code, `${where} ${explanation.says}.`, { cause: error })
}

/** What errors of sockets and of name resolution say beside the code. */
interface Where {
  readonly address?: string
  readonly hostname?: string
  readonly port?: number
}
