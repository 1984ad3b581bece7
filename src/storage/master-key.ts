/**
 * Where the master key comes from: a setting, or a file that is made once. It knows nothing of what
 * is sealed: whoever does says when a file may be made, because a new key in the place of one that
 * is gone opens nothing. The invariant: a key file is readable by its owner only and is never
 * overwritten, also when two processes start at the same moment.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { GatewayError } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'

export interface MasterKeySource {
  /** The key itself, from the settings. Wins over the file. */
  readonly key: Secret | undefined
  readonly filePath: string | undefined
}

/**
 * Throws `operations.invalid` with what to do when there is no usable key. One whose file is not there
 * yet is looked for again when it is revealed; `makeMasterKey` makes it.
 */
export function loadMasterKey(source: MasterKeySource): Secret {
  if (source.key !== undefined) return checkKey(source.key.reveal(), 'TURNPIKE_MASTER_KEY')
  const { filePath } = source
  if (filePath === undefined)
    throw keyError(
      'There is no master key: several gateways on one store need the same one. ' +
        'Make it once with: openssl rand -base64 32, and set TURNPIKE_MASTER_KEY or _FILE everywhere.',
    )
  return readKeyFile(filePath) ?? new MissingKey(filePath)
}

/** Makes the file of a key that has none yet; only for a store in which nothing is sealed. */
export function makeMasterKey(masterKey: Secret): void {
  if (masterKey instanceof MissingKey) masterKey.make()
}

/** A key whose file was missing: perhaps not made yet, perhaps mislaid and to be put back. */
class MissingKey extends Secret {
  readonly #path: string
  #found: Secret | undefined

  constructor(path: string) {
    super('')
    this.#path = path
  }

  make(): void {
    this.#found ??= readKeyFile(this.#path) ?? createKeyFile(this.#path)
  }

  override reveal(): string {
    this.#found ??= readKeyFile(this.#path)
    if (this.#found !== undefined) return this.#found.reveal()
    throw keyError(
      `The master key file ${this.#path} is missing, and the store holds credentials that only this ` +
        'key opens. Put it back. If it is lost, make another one (openssl rand -base64 32, mode 0600) ' +
        'and apply a catalogue with every credential written out',
    )
  }
}

const keyBytes = 32

function readKeyFile(path: string): Secret | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw keyError(`The master key file ${path} cannot be read (${errorCodeOf(error)}).`, error)
  }
  try {
    // Asked of the open file, so that what is checked is what is read.
    if ((fstatSync(file).mode & 0o077) !== 0)
      throw keyError(
        `The master key file ${path} can be read by others than its owner; run: chmod 600 ${path}`,
      )
    return checkKey(readFileSync(file, 'utf8'), path)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the whole key under a name of its own and links it into place: the final name either does
 * not exist or holds a complete key, and of two processes one wins and the other reads its key.
 */
function createKeyFile(path: string): Secret {
  const text = randomBytes(keyBytes).toString('base64')
  const draftPath = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.draft`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeDraft(draftPath, text)
    try {
      linkSync(draftPath, path)
    } finally {
      unlinkSync(draftPath)
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST')
      throw keyError(
        `No master key file could be made at ${path} (${errorCodeOf(error)}); ` +
          'make the folder writable or set TURNPIKE_MASTER_KEY.',
        error,
      )
    const winner = readKeyFile(path)
    if (winner === undefined) throw keyError(`The master key file ${path} vanished while starting.`)
    return winner
  }
  return new Secret(text)
}

function writeDraft(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text + '\n')
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** One spelling inside, so that a key means the same in hexadecimal and in base64 of either alphabet. */
function checkKey(text: string, origin: string): Secret {
  const given = text.trim()
  if (/^[0-9a-fA-F]{64}$/.test(given))
    return new Secret(Buffer.from(given, 'hex').toString('base64'))
  if (/^[0-9A-Za-z+/_-]{43}=?$/.test(given))
    return new Secret(Buffer.from(given, 'base64').toString('base64'))
  throw keyError(
    `The master key in ${origin} is not ${keyBytes} bytes in hexadecimal (64 digits) or base64 ` +
      '(44 characters); make one with: openssl rand -base64 32',
  )
}

function keyError(message: string, cause?: unknown): GatewayError {
  return new GatewayError('operations.invalid', message, { cause })
}

function errorCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
}
