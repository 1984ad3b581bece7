/** Which addresses a channel may have. Pure: it looks no name up. */
import { isIP } from 'node:net'
import { kindOfAddress, type AddressKind } from '../../base/address-kind.ts'
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

const unusable: ReadonlySet<AddressKind> = new Set(['unusable', 'link_local'])

function isUnusable(host: string): boolean {
  return isIP(host) !== 0 && unusable.has(kindOfAddress(host))
}

/**
 * Whether an address surely is on the operator's own network, by its host alone. What other names lead to is
 * seen where they connect.
 */
export function isOnOwnNetwork(url: URL): boolean {
  const host = hostOf(url)
  if (isIP(host) !== 0) return kindOfAddress(host) === 'private'
  return isLocalHost(host) && !/(^|\.)localhost$/.test(host)
}
