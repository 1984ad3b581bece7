/** Addresses of the internet protocol: one spelling for each, and ranges of them. */
import { BlockList, isIP, SocketAddress } from 'node:net'

const mappedPrefix = '::ffff:'

/**
 * Reads an address: without its zone, in its usual spelling, and an IPv4-mapped IPv6 address as the IPv4
 * address it is. Undefined for other text.
 */
export function readAddress(text: string): string | undefined {
  const zone = text.indexOf('%')
  const plain = zone === -1 ? text : text.slice(0, zone)
  const version = isIP(plain)
  if (version !== 6) return version === 4 ? plain : undefined
  const { address } = new SocketAddress({ address: plain, family: 'ipv6' })
  const isMapped = address.startsWith(mappedPrefix) && address.includes('.')
  return isMapped ? address.slice(mappedPrefix.length) : address
}

/**
 * Returns what clients are counted by: an IPv4 address, or the network /64 of an IPv6 address, because one
 * client has all addresses of it. Takes an address as `readAddress` spells it.
 */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const behind = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - behind.length) }, () => '0')
  return `${[...before, ...zeros, ...behind].slice(0, 4).join(':')}::/64`
}

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

/** Builds one list of ranges. An IPv4-mapped IPv6 address matches as the IPv4 address it is. */
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
