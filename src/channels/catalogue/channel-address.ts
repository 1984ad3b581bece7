/** Which addresses a channel may have. Pure: it looks no name up. */
import { BlockList, isIP } from 'node:net'
import { isLocalHost } from '../../base/local-host.ts'

/**
 * Returns what is wrong with a channel's address, without repeating it. Refused are secrets in the address,
 * an address that ends in the path of an endpoint, and a credential that would cross the
 * internet in plain text. Whether an address in a private network is meant, `allow_private` says.
 */
export function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a web address such as https://vendor.example'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.username !== '' || url.password !== '')
    return 'must hold no user name or password; the secret belongs under credential'
  if (text.includes('?') || text.includes('#')) return 'must have no query (?) and no fragment (#)'
  if (endsInEndpoint(url.pathname))
    return 'must end before the path of the endpoint: the gateway appends /v1/messages or /v1/chat/completions itself'
  const host = hostOf(url)
  if (isUnusable(host)) return 'must not point to a link-local, multicast or unspecified address'
  if (url.protocol === 'http:' && !isLocalHost(host))
    return 'must begin with https:// unless the host is in a private network, because http:// sends the credential in plain text'
  return undefined
}

/** Whether a path ends in that of an endpoint, such as `/messages`. */
export function endsInEndpoint(path: string): boolean {
  return /\/(?:messages|completions|responses|embeddings|models)\/*$/.test(path)
}

/** Returns the host without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

const unusable = new BlockList()
unusable.addSubnet('0.0.0.0', 8, 'ipv4')
unusable.addSubnet('169.254.0.0', 16, 'ipv4')
unusable.addSubnet('224.0.0.0', 3, 'ipv4')
unusable.addAddress('::', 'ipv6')
unusable.addSubnet('fe80::', 10, 'ipv6')
unusable.addSubnet('ff00::', 8, 'ipv6')

function isUnusable(host: string): boolean {
  const family = isIP(host)
  return family !== 0 && unusable.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
