/**
 * The keys that sign heads (table signing_key): Ed25519, the private part sealed with the master key. The
 * newest one signs; a new one is signed by the one before it, so that a reader who trusts the first can
 * follow.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto'
import { GatewayError, invariant } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { seal, unseal } from '../../storage/master-key.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { insertRow } from '../../storage/rows.ts'
import { keyIdOf, keyText } from './canonical.ts'

const publicForm = rowForm({
  id: column.text,
  /** 32 bytes as hex. */
  publicKey: column.text,
  createdAtMs: column.number,
  /**
   * The key before it, which has signed it; undefined: the first one, or the one before could not be opened.
   */
  signedBy: column.optional(column.text),
  signature: column.optional(column.text),
})
export type PublicSigningKey = Read<typeof publicForm>

const oldestFirst = 'ORDER BY created_at_ms, id'

/** Lists the oldest first. */
export async function listSigningKeys(queryable: Queryable): Promise<readonly PublicSigningKey[]> {
  const rows = await queryable.query(`SELECT ${publicForm.columns} FROM signing_key ${oldestFirst}`)
  return rows.map(publicForm.read)
}

export async function hasSigningKey(queryable: Queryable): Promise<boolean> {
  return (await queryable.query('SELECT 1 AS found FROM signing_key LIMIT 1')).length > 0
}

export interface Signer {
  readonly keyId: string
  /** Returns the signature as hex. */
  readonly sign: (text: string) => string
}

/**
 * Opens the newest key; makes the first one. Throws `operations.conflict` where the master key is another.
 */
export async function openSigner(
  transaction: Transaction,
  made: { readonly masterKey: Secret; readonly nowMs: number },
): Promise<Signer> {
  const newest = await findNewest(transaction)
  if (newest === undefined) return makeSigningKey(transaction, made)
  const opened = openPrivate(made.masterKey, newest)
  if (opened.kind === 'unreadable')
    throw new GatewayError(
      'operations.conflict',
      `The key that signs the books cannot be opened: ${opened.reason}. Put the former master key back, ` +
        'or make a new signing key: turnpike signing-key rotate',
    )
  return signerOf(newest.id, opened.key)
}

/** Returns why the master key does not open the newest key; undefined where it does, or there is none. */
export async function findUnreadable(
  queryable: Queryable,
  masterKey: Secret,
): Promise<string | undefined> {
  const newest = await findNewest(queryable)
  const opened = newest && openPrivate(masterKey, newest)
  return opened?.kind === 'unreadable' ? opened.reason : undefined
}

/** Makes a key that signs from now on. The one before it signs it, where the master key opens that one. */
export async function makeSigningKey(
  transaction: Transaction,
  { masterKey, nowMs }: { readonly masterKey: Secret; readonly nowMs: number },
): Promise<Signer> {
  const former = await findNewest(transaction)
  const { publicKey: publicPart, privateKey } = generateKeyPairSync('ed25519')
  const publicKey = hexOf(publicPart)
  const id = keyIdOf(publicKey)
  // The newest is found by its time, whatever the clock says.
  const createdAtMs = Math.max(nowMs, (former?.createdAtMs ?? 0) + 1)
  const opened = former === undefined ? undefined : openPrivate(masterKey, former)
  const isSigned = former !== undefined && opened?.kind === 'opened'
  const text = keyText({ id, publicKey, createdAtMs })
  const row = publicForm.write({
    id,
    publicKey,
    createdAtMs,
    signedBy: isSigned ? former.id : undefined,
    signature: isSigned ? signerOf(former.id, opened.key).sign(text) : undefined,
  })
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const sealed = seal(masterKey, placeOf(id), new Secret(secret))
  await insertRow(transaction, 'signing_key', { ...row, private_key: sealed })
  return signerOf(id, privateKey)
}

/**
 * Returns whether this key has signed the text. `publicKey` and `signature` are hex; false for any other
 * text.
 */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(publicKey) || !/^[0-9a-f]{128}$/.test(signature)) return false
  const x = Buffer.from(publicKey, 'hex').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))
}

interface NewestKey {
  readonly id: string
  readonly createdAtMs: number
  readonly sealed: string
}

async function findNewest(queryable: Queryable): Promise<NewestKey | undefined> {
  const [row] = await queryable.query(
    'SELECT id, created_at_ms, private_key FROM signing_key ORDER BY created_at_ms DESC, id DESC LIMIT 1',
  )
  if (row === undefined) return undefined
  return {
    id: String(row['id']),
    createdAtMs: Number(row['created_at_ms']),
    sealed: String(row['private_key']),
  }
}

type Opened =
  | { readonly kind: 'opened'; readonly key: KeyObject }
  | { readonly kind: 'unreadable'; readonly reason: string }

function openPrivate(masterKey: Secret, { id, sealed }: NewestKey): Opened {
  const unsealed = unseal(masterKey, placeOf(id), sealed)
  if (unsealed.kind === 'unreadable') return unsealed
  const der = Buffer.from(unsealed.secret.reveal(), 'base64')
  return { kind: 'opened', key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}

function placeOf(id: string) {
  return { owner: `signing key ${id}`, field: 'private key' }
}

function signerOf(keyId: string, key: KeyObject): Signer {
  return { keyId, sign: (text) => sign(null, Buffer.from(text), key).toString('hex') }
}

function hexOf(publicKey: KeyObject): string {
  const { x } = publicKey.export({ format: 'jwk' })
  invariant(x !== undefined, 'an Ed25519 key has its bytes in x')
  return Buffer.from(x, 'base64url').toString('hex')
}
