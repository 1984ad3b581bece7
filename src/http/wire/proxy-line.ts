/**
 * The PROXY protocol, versions 1 and 2: what a proxy sends in front of a connection to name its client. Pure
 * and strict: anything but exactly the protocol is malformed.
 */
import { readAddress } from '../../base/ip-address.ts'

export type ProxyLine =
  | { readonly kind: 'more' }
  | { readonly kind: 'malformed' }
  | {
      readonly kind: 'line'
      /** Undefined where the proxy connects for itself, or does not say for whom. */
      readonly address: string | undefined
      /** Bytes in front of the connection's own. */
      readonly length: number
    }

const more: ProxyLine = { kind: 'more' }
const malformed: ProxyLine = { kind: 'malformed' }

const textStart = Buffer.from('PROXY ')
/** The longest line of version 1, with its line end. */
const textBytesMax = 107
/** An address has no zone, and a port no zeros in front. */
const textPattern = /^PROXY (TCP4|TCP6) ([^\s%]+) ([^\s%]+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})$/
const portMax = 65_535
const textUnknown = /^PROXY UNKNOWN( .*)?$/

const binaryStart = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const binaryHeadBytes = 16
/** Addresses and the proxy's further facts; real proxies send a few hundred bytes. */
const binaryRestBytesMax = 4_096
/** Sockets of the proxy's own host. */
const familyMax = 3
/** Datagrams. The protocol has all higher values refused. */
const transportMax = 2

/** Reads the line at the start of `bytes`, which may be followed by others. */
export function readProxyLine(bytes: Buffer): ProxyLine {
  if (startsLike(bytes, textStart)) return readText(bytes)
  return startsLike(bytes, binaryStart) ? readBinary(bytes) : malformed
}

/** Returns whether the bytes are certainly the start of such a line. */
export function isProxyLine(bytes: Buffer): boolean {
  return [textStart, binaryStart].some(
    (start) => bytes.length >= start.length && startsLike(bytes, start),
  )
}

function startsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length)
  return bytes.compare(start, 0, length, 0, length) === 0
}

function readText(bytes: Buffer): ProxyLine {
  const end = bytes.subarray(0, textBytesMax).indexOf('\r\n')
  if (end === -1) return bytes.length < textBytesMax ? more : malformed
  const length = end + 2
  const text = bytes.toString('latin1', 0, end)
  if (textUnknown.test(text)) return { kind: 'line', address: undefined, length }
  const [, family, source = '', target = '', ...ports] = textPattern.exec(text) ?? []
  if (ports.some((port) => Number(port) > portMax)) return malformed
  const isOfFamily = (address: string): boolean => address.includes(':') === (family === 'TCP6')
  const address = readAddress(source)
  const isWhole = address !== undefined && readAddress(target) !== undefined
  if (!isWhole || !isOfFamily(source) || !isOfFamily(target)) return malformed
  return { kind: 'line', address, length }
}

function readBinary(bytes: Buffer): ProxyLine {
  if (bytes.length < binaryHeadBytes) return more
  const versionAndCommand = bytes[12]
  const family = (bytes[13] ?? 0) >> 4
  const transport = (bytes[13] ?? 0) & 0x0f
  const restBytes = bytes.readUInt16BE(14)
  const length = binaryHeadBytes + restBytes
  const isLocal = versionAndCommand === 0x20
  if ((!isLocal && versionAndCommand !== 0x21) || restBytes > binaryRestBytesMax) return malformed
  const isKnown = family <= familyMax && transport <= transportMax
  const addressBytes = family === 1 ? 4 : 16
  const hasAddresses = !isLocal && (family === 1 || family === 2)
  // Two addresses and two ports.
  const isShort = hasAddresses && restBytes < 2 * addressBytes + 4
  if ((!isLocal && !isKnown) || isShort) return malformed
  if (bytes.length < length) return more
  if (!hasAddresses) return { kind: 'line', address: undefined, length }
  const source = bytes.subarray(binaryHeadBytes, binaryHeadBytes + addressBytes)
  return { kind: 'line', address: readAddress(spell(source)), length }
}

function spell(address: Buffer): string {
  if (address.length === 4) return address.join('.')
  return address.toString('hex').replace(/....(?!$)/g, '$&:')
}
