/**
 * Which addresses a channel may have. Only operators write them, so private networks are allowed;
 * what is refused is what cannot be meant: secrets in the address, an address that already holds
 * the path the gateway appends, and a credential sent in plain text across the internet. Where a
 * name leads is judged when connecting, not here.
 */
import { BlockList, isIP } from 'node:net'

/** What is wrong with a channel's address, or undefined. The message never repeats the address. */
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
  if (url.protocol === 'http:' && !isLocal(host))
    return 'must begin with https:// unless the host is in a private network: the credential would travel in plain text'
  return undefined
}

const unusable = new BlockList()
unusable.addSubnet('0.0.0.0', 8, 'ipv4')
unusable.addSubnet('169.254.0.0', 16, 'ipv4')
unusable.addSubnet('224.0.0.0', 3, 'ipv4')
unusable.addAddress('::', 'ipv6')
unusable.addSubnet('fe80::', 10, 'ipv6')
unusable.addSubnet('ff00::', 8, 'ipv6')

const local = new BlockList()
local.addSubnet('127.0.0.0', 8, 'ipv4')
local.addSubnet('10.0.0.0', 8, 'ipv4')
local.addSubnet('172.16.0.0', 12, 'ipv4')
local.addSubnet('192.168.0.0', 16, 'ipv4')
local.addSubnet('100.64.0.0', 10, 'ipv4')
local.addAddress('::1', 'ipv6')
local.addSubnet('fc00::', 7, 'ipv6')

/** Names that the internet's name service does not give out. */
const localNames = /(^|\.)(localhost|local|internal|lan|home\.arpa|svc|cluster\.local)$/

function isUnusable(host: string): boolean {
  return isListed(unusable, host)
}

function isLocal(host: string): boolean {
  if (isIP(host) !== 0) return isListed(local, host)
  return !host.includes('.') || localNames.test(host)
}

function isListed(list: BlockList, host: string): boolean {
  const family = isIP(host)
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
