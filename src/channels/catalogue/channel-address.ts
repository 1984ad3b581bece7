/** Which addresses a channel and its proxy may have. Pure: it looks no name up. */
import { isIP } from 'node:net'
import { kindOfAddress, type AddressKind } from '../../base/address-kind.ts'
import { isLocalHost } from '../../base/local-host.ts'

/**
 * Returns the mistake in a channel's address, without repeating it. Refused are secrets in the address,
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

export const proxyRule = 'must be the address of a proxy such as http://proxy.example:3128'

/** Returns the mistake in the address of a proxy. It may be in a private network. */
export function proxyFault(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'http:') return proxyRule
  if (url.pathname !== '/' || text.includes('?') || text.includes('#'))
    return 'must have no path, query (?) or fragment (#)'
  if (isUnusable(hostOf(url)))
    return 'must not point to a link-local, multicast or unspecified address'
  return undefined
}

/** Returns the mistake in the address of a channel that is reached through a proxy. */
export function proxiedFault(url: URL): string | undefined {
  if (url.protocol !== 'https:') return 'must begin with https:// where a proxy is on the way'
  const host = hostOf(url)
  const isOwn = isIP(host) === 0 ? isLocalHost(host) : kindOfAddress(host) !== 'public'
  return isOwn ? 'must be on the internet where a proxy is on the way' : undefined
}

/** Returns the host without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

const unusable: ReadonlySet<AddressKind> = new Set(['unusable', 'link_local'])

function isUnusable(host: string): boolean {
  return isIP(host) !== 0 && unusable.has(kindOfAddress(host))
}

/**
 * Whether an address surely is on the operator's own network, by its host alone. Other names are judged by
 * their addresses at the connection.
 */
export function isOnOwnNetwork(url: URL): boolean {
  const host = hostOf(url)
  if (isIP(host) !== 0) return kindOfAddress(host) === 'private'
  return isLocalHost(host) && !/(^|\.)localhost$/.test(host)
}
