/**
 * A key: the form of its secret, its kind, and the rights of its holder. A secret is a prefix, 43
 * random base62 characters and 6 base62 characters of CRC-32. The checksum finds typos and leaked keys
 * offline; it protects nothing. The store keeps only the SHA-256 of a secret: a slow hash would add nothing
 * to 256 random bits.
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { invariant } from '../base/errors.ts'
import type { HoldRule } from '../base/hold-rule.ts'
import type { KeyLimits } from '../base/key-limits.ts'

/** `client` = `cr_…`, `reader` = `ro_…`, `admin` = `ad_…`. */
export const keyKinds = ['client', 'reader', 'admin'] as const
export type KeyKind = (typeof keyKinds)[number]

/** Roles of operators, each including the one before; docs/admin-api.md has the table. */
export const operatorRoles = ['viewer', 'operator', 'owner'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** What an admin token may do. `credits` is for programs that only book credits, and includes no role. */
export const adminRoles = [...operatorRoles, 'credits'] as const
export type AdminRole = (typeof adminRoles)[number]

/** Returns the role that sessions of an admin token have. A token of a program has none. */
export function sessionRoleOf({
  role = 'viewer',
}: {
  readonly role?: AdminRole | undefined
}): OperatorRole {
  invariant(role !== 'credits', 'a token with the role credits has no session')
  return role
}

/** The authenticated account and key of a request, and the rights of the key. */
export interface Principal {
  readonly kind: 'principal'
  readonly keyKind: KeyKind
  readonly keyId: string
  /** Empty for admin tokens, which belong to no account. */
  readonly accountId: string
  /** The role of an admin token; undefined for other kinds. */
  readonly role?: AdminRole | undefined
  /** Undefined = every model. */
  readonly allowedModels: ReadonlySet<string> | undefined
  /** Charges are the list price times this many millionths; 1_000_000 = list price. */
  readonly priceMultiplierPpm: number
  /** What a request needs to be admitted. Undefined = as the setting `holds` says. */
  readonly holds: HoldRule | undefined
  readonly keyLimits: KeyLimits
}

// --- secrets ---

/** What a secret is for: a key, or a top-up code, which is money and no credential. */
export type SecretKind = KeyKind | 'code'

const prefixes = {
  client: 'cr_',
  reader: 'ro_',
  admin: 'ad_',
  code: 'tc_',
} as const satisfies Record<SecretKind, string>

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 is just above 2^256. */
const randomLength = 43
const checksumLength = 6
const prefixLength = 3
/** Characters of a head before its dots. */
const headLength = prefixLength + 4

/** For secret scanners: every secret of this gateway matches, and its checksum can be verified. */
export const secretPattern = '\\b(?:cr|ro|ad|tc)_[0-9A-Za-z]{49}\\b'

const wholeSecret = new RegExp(`^${secretPattern}$`)

/** Makes a new secret. It is shown once; the gateway keeps only its hash and head. */
export function makeSecret(kind: SecretKind): string {
  const body = prefixes[kind] + randomText()
  return body + checksumOf(body)
}

/**
 * Recognises a secret by its form alone: undefined where form or checksum is wrong. Does not check
 * whether the secret exists.
 */
export function parseSecret(text: string): { readonly kind: SecretKind } | undefined {
  if (!wholeSecret.test(text)) return undefined
  const checksumStart = prefixLength + randomLength
  if (checksumOf(text.slice(0, checksumStart)) !== text.slice(checksumStart)) return undefined
  return { kind: kindOf(text) }
}

/**
 * Checks the form of an admin token: one that the gateway made, or one that an operator chose for the setting
 * `admin_token`.
 */
export function isAdminToken(text: string): boolean {
  return /^ad_[0-9A-Za-z_-]{16,200}$/.test(text)
}

function kindOf(secret: string): SecretKind {
  if (secret.startsWith(prefixes.client)) return 'client'
  if (secret.startsWith(prefixes.reader)) return 'reader'
  return secret.startsWith(prefixes.admin) ? 'admin' : 'code'
}

/** Returns the hash that is stored and looked up in place of the secret. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Returns the part that may be shown and logged: it tells keys apart and does not help to guess one. */
export function headOf(secret: string): string {
  return secret.slice(0, headLength) + '…'
}

/** What is known of a secret: its hash, or how it begins. */
export interface SecretTrace {
  /** Undefined where the text cannot be a whole secret. */
  readonly hash: string | undefined
  /** The beginning of its head. Undefined where another key with the same head is none that is meant. */
  readonly headStart: string | undefined
}

const beginning = /^(?:cr|ro|ad)_[0-9A-Za-z_-]*$/

/** A head as lists show it, or its beginning. */
export const headStartPattern = `^(?:cr|ro|ad)_[0-9A-Za-z_-]{0,${headLength - prefixLength}}(?:…|\\.\\.\\.)?$`

/**
 * Reads how a secret begins, or a whole one, which is hashed at once. The rest of an incomplete secret
 * is dropped. Undefined where no secret begins so.
 */
export function traceSecret(text: string): SecretTrace | undefined {
  const start = text.trim().replace(/(?:…|\.\.\.)$/, '')
  if (!beginning.test(start)) return undefined
  if (parseSecret(start) !== undefined) return { hash: hashSecret(start), headStart: undefined }
  const hash = isAdminToken(start) ? hashSecret(start) : undefined
  return { hash, headStart: start.slice(0, headLength) }
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
