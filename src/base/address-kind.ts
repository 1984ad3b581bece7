/** Where an address of the internet protocol leads: to the internet, a private network, or this machine. */
import { isIP } from 'node:net'
import { buildIpRanges, isInRanges, readAddress } from './ip-address.ts'

/**
 * `unusable` are unspecified, multicast and reserved addresses, and the link-local ones of IPv4, below which
 * clouds give out their credentials.
 */
export type AddressKind = 'public' | 'private' | 'loopback' | 'link_local' | 'unusable'

/**
 * IPv4 networks that are not public: the special-purpose registry of IANA (read 2026-11-23), multicast
 * and reserved networks.
 */
const notPublicIpv4 = buildIpRanges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
])

/**
 * Public IPv6 addresses are in here. Outside of it are loopback, link-local, unique local and multicast
 * addresses, networks that translate to IPv4 (64:ff9b::/96, ::ffff:0:0:0/96), and unassigned ones.
 */
const publicIpv6 = buildIpRanges(['2000::/3'])

/** … but for these: protocol assignments with Teredo, documentation, and 6to4. */
const notPublicIpv6 = buildIpRanges(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

const loopback = buildIpRanges(['127.0.0.0/8', '::1'])
const linkLocal = buildIpRanges(['fe80::/10'])
const unusable = buildIpRanges(['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3', '::', 'ff00::/8'])

/** An IPv4-mapped IPv6 address is the IPv4 address it is. Text that is no address is `unusable`. */
export function kindOfAddress(text: string): AddressKind {
  const address = readAddress(text)
  if (address === undefined || isInRanges(unusable, address)) return 'unusable'
  if (isInRanges(loopback, address)) return 'loopback'
  if (isInRanges(linkLocal, address)) return 'link_local'
  return isPublic(address) ? 'public' : 'private'
}

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !isInRanges(notPublicIpv4, address)
  return isInRanges(publicIpv6, address) && !isInRanges(notPublicIpv6, address)
}
