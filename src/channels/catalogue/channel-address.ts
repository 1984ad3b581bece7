/** Which addresses a channel may have. Pure: it looks no name up. */
import { BlockList, isIP } from 'node:net'
import { isLocalHost } from '../../base/local-host.ts'

/**
 * Returns what is wrong with a channel's address, without repeating it. Refused are secrets in the address,
 * an address that already has the path which the gateway appends, and a credential that would cross the
 * internet in plain text. Whether an address in a private network is meant, `allow_private` says.
 */
export function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a web address such as https://vendor.example'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.username !== '' || url.password !== '')
    return 'must hold no user name or password; the secret belongs under credential'
  if (text.includes('?') || text.includes('#')) return 'must have no query (?) and no fragment (#)'
  if (/\/v1(\/|$)/.test(url.pathname))
    return 'must end before /v1: the gateway appends /v1/messages or /v1/chat/completions itself'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isUnusable(host)) return 'must not point to a link-local, multicast or unspecified address'
  if (url.protocol === 'http:' && !isLocalHost(host))
    return 'must begin with https:// unless the host is in a private network, because http:// sends the credential in plain text'
  return undefined
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
