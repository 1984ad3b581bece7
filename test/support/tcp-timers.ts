/** Which timers the kernel runs for the established connections of this machine to a server. */
import { readFileSync } from 'node:fs'

/** Column `tr` of /proc/net/tcp where the next packet to come is a keep-alive packet. */
export const keepAliveTimer = '02'

const established = '01'

/** Returns the timer of each connection to the port of this address. */
export function timersTo(url: string): readonly string[] {
  const remote = `:${Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')}`
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[2]?.endsWith(remote) === true && fields[3] === established)
    .map((fields) => fields[5]?.slice(0, 2) ?? '')
}
