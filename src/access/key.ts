/**
 * The form of our own secrets: prefix, 43 random base62 characters, 6 base62 characters of CRC-32.
 * The checksum lets a typo or a leaked key be recognised offline; it protects nothing. Only the
 * SHA-256 of a secret is kept anywhere; a slow hash would add nothing for 256 random bits.
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { KeyKind } from './principal.ts'

const prefixes = { client: 'cr_', reader: 'ro_', admin: 'ad_' } as const satisfies Record<
  KeyKind,
  string
>

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 is just above 2^256. */
const randomLength = 43
const checksumLength = 6
const prefixLength = 3

/** For secret scanners: every secret this gateway makes matches, and its checksum can be proven. */
export const secretPattern = '\\b(?:cr|ro|ad)_[0-9A-Za-z]{49}\\b'

const wholeSecret = new RegExp(`^${secretPattern}$`)

/** Makes a new secret. It is shown once, and then only its hash and head are known. */
export function makeSecret(kind: KeyKind): string {
  const body = prefixes[kind] + randomText()
  return body + checksumOf(body)
}

/**
 * Recognises a secret by its form alone: undefined for anything whose form or checksum is wrong.
 * Says nothing about whether the secret exists.
 */
export function parseSecret(text: string): { readonly kind: KeyKind } | undefined {
  if (!wholeSecret.test(text)) return undefined
  const checksumStart = prefixLength + randomLength
  if (checksumOf(text.slice(0, checksumStart)) !== text.slice(checksumStart)) return undefined
  return { kind: kindOf(text) }
}

function kindOf(secret: string): KeyKind {
  if (secret.startsWith(prefixes.client)) return 'client'
  return secret.startsWith(prefixes.reader) ? 'reader' : 'admin'
}

/** What is stored and looked up in place of the secret. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** What may be shown and logged: enough to tell keys apart, far too little to guess one. */
export function headOf(secret: string): string {
  return secret.slice(0, prefixLength + 4) + '…'
}

function randomText(): string {
  let text = ''
  while (text.length < randomLength) {
    for (const byte of randomBytes(randomLength)) {
      // 248 is the largest multiple of 62 in a byte; taking more would favour some letters.
      if (byte < 248 && text.length < randomLength) text += alphabet.charAt(byte % 62)
    }
  }
  return text
}

function checksumOf(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let digit = 0; digit < checksumLength; digit++) {
    text = alphabet.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}
