/**
 * Reads the PROXY line that a trusted proxy sends in front of each connection, and puts back the bytes
 * behind it. A connection without one, or with a malformed one, is refused: its client is unknown.
 */
import type { Socket } from 'node:net'
import { unwatched, type Watchdog } from '../../base/watchdog.ts'
import { readProxyLine } from '../wire/proxy-line.ts'

export interface ProxiedSocketParts {
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  readonly headTimeoutMs: number
  /** The bytes of the answer to a connection that does not begin with a PROXY line. */
  readonly refusal: () => Buffer
}

/** Calls `onClient` with the address that the proxy names: undefined where it names none. */
export function readProxiedSocket(
  socket: Socket,
  parts: ProxiedSocketParts,
  onClient: (address: string | undefined) => void,
): void {
  let arrived = Buffer.alloc(0)
  const watched = {
    dueMs: parts.monotonic() + parts.headTimeoutMs,
    watchIndex: unwatched,
    onDue: () => socket.destroy(),
    cut: () => socket.destroy(),
  }
  const stop = (): void => {
    parts.watchdog.unwatch(watched)
    socket.off('data', onData).off('end', onEnd).off('close', stop)
  }
  const onEnd = (): void => void socket.destroy()
  function onData(piece: Buffer): void {
    arrived = Buffer.concat([arrived, piece])
    const line = readProxyLine(arrived)
    if (line.kind === 'more') return
    stop()
    if (line.kind === 'malformed') {
      socket.end(parts.refusal(), () => socket.destroy())
      return
    }
    socket.pause()
    if (arrived.length > line.length) socket.unshift(arrived.subarray(line.length))
    onClient(line.address)
    socket.resume()
  }
  socket.on('error', () => undefined)
  socket.on('data', onData).on('end', onEnd).on('close', stop)
  parts.watchdog.watch(watched)
}
