/**
 * Secrets at rest: AES-256-GCM under the master key. A sealed text is bound to the place it belongs
 * to, so that copying it to another row makes it unreadable, and it names the key it needs. This
 * protects backups and stolen files, not a process that has been taken over: that one has the key.
 *
 *     sealed:v1.<key id>.<base64url of nonce (12) + ciphertext + tag (16)>
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { Secret } from '../base/secret.ts'

/** What a sealed text belongs to; part of what is authenticated. */
export interface SealPlace {
  readonly owner: string
  readonly field: string
}

export type Unsealed =
  | { readonly kind: 'unsealed'; readonly secret: Secret }
  /** `reason` is for an operator and holds nothing of the secret. */
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
