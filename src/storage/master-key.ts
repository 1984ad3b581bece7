/**
 * Secrets at rest: the master key, and sealing with it (AES-256-GCM). A sealed text is bound to its
 * place, so a copy in another row cannot be opened, and it names its master key. Sealing protects
 * backups and stolen files; a process that was taken over has the key.
 *
 *     sealed:v1.<key id>.<base64url of nonce (12) + ciphertext + tag (16)>
 *
 * Invariant: only its owner can read the key file, and it is never overwritten, also when two
 * processes start at the same moment.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { GatewayError } from '../base/errors.ts'
import { makeFolder } from '../base/folders.ts'
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

/** A key whose file is missing: not created yet, or lost and to be restored. */
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
    // Checked on the open file, so that it is the file that is read.
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
 * Writes the whole key to a draft file and links it into place: the final name either does not exist
 * or has a complete key, and of two processes one wins and the other reads its key.
 */
function createKeyFile(path: string): Secret {
  const text = randomBytes(keyBytes).toString('base64')
  const draftPath = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.draft`
  try {
    makeFolder(dirname(path))
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

/** The place of a sealed text; it is authenticated together with the text. */
export interface SealPlace {
  readonly owner: string
  readonly field: string
}

export type Unsealed =
  | { readonly kind: 'unsealed'; readonly secret: Secret }
  /** `reason` is for an operator and has no part of the secret. */
  | { readonly kind: 'unreadable'; readonly reason: string }

const prefix = 'sealed:'
const version = 'v1'
const nonceBytes = 12
const tagBytes = 16
const keyIdBytes = 4

export function isSealed(text: string): boolean {
  return text.startsWith(prefix)
}

/** Sealing one secret twice gives two different texts: the nonce is random. */
export function seal(masterKey: Secret, place: SealPlace, plaintext: Secret): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(masterKey), nonce)
  cipher.setAAD(describePlace(place))
  const body = Buffer.concat([
    nonce,
    cipher.update(plaintext.reveal(), 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ])
  return `${prefix}${version}.${keyIdOf(masterKey)}.${body.toString('base64url')}`
}

export function unseal(masterKey: Secret, place: SealPlace, text: string): Unsealed {
  const parts = /^sealed:v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/.exec(text)
  if (parts === null) return unreadable('it is not a complete sealed text')
  const [, keyId, encoded = ''] = parts
  if (keyId !== keyIdOf(masterKey))
    return unreadable(
      `it was sealed with master key ${keyId}, the one in use is ${keyIdOf(masterKey)}`,
    )
  const body = Buffer.from(encoded, 'base64url')
  if (body.length < nonceBytes + tagBytes) return unreadable('it is not a complete sealed text')
  const decipher = createDecipheriv(
    'aes-256-gcm',
    deriveKey(masterKey),
    body.subarray(0, nonceBytes),
    { authTagLength: tagBytes },
  )
  decipher.setAAD(describePlace(place))
  decipher.setAuthTag(body.subarray(body.length - tagBytes))
  const opened = decipher.update(body.subarray(nonceBytes, body.length - tagBytes))
  try {
    const rest = decipher.final()
    return {
      kind: 'unsealed',
      secret: new Secret(Buffer.concat([opened, rest]).toString('utf8')),
    }
  } catch {
    // The tag is wrong: the one outcome GCM has for a changed text, another place or another key.
    return unreadable(`it was altered, or sealed for something else than ${place.owner}`)
  }
}

/** Names a master key without telling anything about it. */
export function keyIdOf(masterKey: Secret): string {
  return Buffer.from(derive(masterKey, 'key id', keyIdBytes)).toString('hex')
}

function deriveKey(masterKey: Secret): Buffer {
  return Buffer.from(derive(masterKey, 'vendor credentials', 32))
}

/** The master key is text of any form with enough entropy; derivation gives it the right length. */
function derive(masterKey: Secret, purpose: string, byteCount: number): ArrayBuffer {
  return hkdfSync('sha256', masterKey.reveal(), 'turnpike', purpose, byteCount)
}

/** Lengths first, so that no two places are described alike. */
function describePlace(place: SealPlace): Buffer {
  return Buffer.from(`${place.owner.length}:${place.owner}:${place.field}`, 'utf8')
}

function unreadable(reason: string): Unsealed {
  return { kind: 'unreadable', reason }
}
