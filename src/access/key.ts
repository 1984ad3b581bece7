/**
 * What a key is: the form of its secret, its kind, what its holder may do, and the addresses it may be
 * used from. A secret is a prefix, 43 random base62 characters and 6 base62 characters of CRC-32. The
 * checksum finds typos and leaked keys offline; it protects nothing. The store keeps only the SHA-256 of
 * a secret: a slow hash would add nothing to 256 random bits.
 */
import { hash, randomBytes } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { crc32 } from 'node:zlib'
import type { Picos } from '../base/money.ts'

/** `client` = `cr_…`, `reader` = `ro_…`, `admin` = `ad_…`. */
export type KeyKind = 'client' | 'reader' | 'admin'

/** The authenticated account and key of a request, and what the key may do. */
export interface Principal {
  readonly kind: 'principal'
  readonly keyKind: KeyKind
  readonly keyId: string
  /** Empty for admin tokens, which belong to no account. */
  readonly accountId: string
  /** Undefined = every model. */
  readonly allowedModels: ReadonlySet<string> | undefined
  /** Charges are the list price times this many millionths; 1_000_000 = list price. */
  readonly priceMultiplierPpm: number
  /** Zero = no limit of the key's own. */
  readonly keyDailyLimitPicos: Picos
}

// --- secrets ---

const prefixes = { client: 'cr_', reader: 'ro_', admin: 'ad_' } as const satisfies Record<
  KeyKind,
  string
>

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 is just above 2^256. */
const randomLength = 43
const checksumLength = 6
const prefixLength = 3

/** For secret scanners: every secret of this gateway matches, and its checksum can be verified. */
export const secretPattern = '\\b(?:cr|ro|ad)_[0-9A-Za-z]{49}\\b'

const wholeSecret = new RegExp(`^${secretPattern}$`)

/** Makes a new secret. It is shown once; the gateway keeps only its hash and head. */
export function makeSecret(kind: KeyKind): string {
  const body = prefixes[kind] + randomText()
  return body + checksumOf(body)
}

/**
 * Recognises a secret by its form alone: undefined where form or checksum is wrong. Does not check
 * whether the secret exists.
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

/** Returns the hash that is stored and looked up in place of the secret. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Returns the part that may be shown and logged: it tells keys apart and does not help to guess one. */
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

// --- addresses ---

/** Returns true for an address, or a network with a prefix length that its family allows. */
export function isIpRange(text: string): boolean {
  return parseIpRange(text) !== undefined
}

interface IpRange {
  readonly address: string
  readonly prefixLength: number
  readonly family: 'ipv4' | 'ipv6'
}

function parseIpRange(text: string): IpRange | undefined {
  const [address = '', length, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0 || address.includes('%')) return undefined
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const bits = version === 4 ? 32 : 128
  if (length === undefined) return { address, prefixLength: bits, family }
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined
  return { address, prefixLength: Number(length), family }
}

/** Builds the list of one key. An IPv4-mapped IPv6 address matches as the IPv4 address it is. */
export function buildIpRanges(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const range = parseIpRange(text)
    if (range !== undefined) list.addSubnet(range.address, range.prefixLength, range.family)
  }
  return list
}

/** Returns whether the address is in a range; an unknown address is in none. */
export function isInRanges(ranges: BlockList, address: string | undefined): boolean {
  if (address === undefined) return false
  const zone = address.indexOf('%')
  const plain = zone === -1 ? address : address.slice(0, zone)
  const version = isIP(plain)
  return version !== 0 && ranges.check(plain, version === 4 ? 'ipv4' : 'ipv6')
}
