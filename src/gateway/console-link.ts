/**
 * Where the console of a gateway is, and links that sign in there. The code of a link is behind the `#`: a
 * browser sends that part to no server, so that no log on the way has it.
 */
import { isLoopbackHost } from '../base/local-host.ts'
import type { ListenAddress } from '../settings/schemas.ts'

/** The address of a listener for a browser on this machine. */
export function listenerUrl({ host, port }: ListenAddress): string {
  const isAny = host === '0.0.0.0' || host === '::'
  const shownHost = isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${shownHost}:${port}`
}

/** Whether a browser may sign in at this address without TLS. */
export function allowsSignIn(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || isLoopbackHost(hostname)
}

export function consoleUrl(base: string): string {
  return `${base}/console/`
}

export function signInUrl(base: string, code: string): string {
  return `${base}/console/sign-in#${code}`
}
