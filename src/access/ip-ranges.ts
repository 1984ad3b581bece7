/**
 * Client address allow lists: CIDR text to something that answers whether an address is inside.
 * An IPv4 address that arrives as IPv4-mapped IPv6 counts as the IPv4 address it is.
 */
import { BlockList, isIP } from 'node:net'

/** True when the text is one address, or a network with a prefix length its family allows. */
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

/** Built once per key, asked once per request. Texts that are no range are never stored; see above. */
export function buildIpRanges(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const range = parseIpRange(text)
    if (range !== undefined) list.addSubnet(range.address, range.prefixLength, range.family)
  }
  return list
}

/** An unknown address is in no range. */
export function isInRanges(ranges: BlockList, address: string | undefined): boolean {
  if (address === undefined) return false
  const zone = address.indexOf('%')
  const plain = zone === -1 ? address : address.slice(0, zone)
  const version = isIP(plain)
  return version !== 0 && ranges.check(plain, version === 4 ? 'ipv4' : 'ipv6')
}
