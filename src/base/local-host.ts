/** Which hosts are on this machine or in a private network, by their address or name. No look-up. */
import { isIP } from 'node:net'
import { buildIpRanges, isInRanges } from './ip-address.ts'

const local = buildIpRanges([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1',
  'fc00::/7',
])

/** Names that public DNS does not resolve. */
const localNames = /(^|\.)(localhost|local|internal|lan|home\.arpa|svc|cluster\.local)$/

/** Takes the host name of a URL. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(host)
}

/** Takes a host without brackets. */
export function isLocalHost(host: string): boolean {
  if (isIP(host) !== 0) return isInRanges(local, host)
  return !host.includes('.') || localNames.test(host)
}
