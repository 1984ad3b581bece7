/** What the connections of a listener share: the options of the listener, and the services it makes. */
import type { Watchdog } from '../../base/watchdog.ts'
import type { ClientAddresses } from './client-address.ts'
import type { IncomingRequest } from './request.ts'
import type { ResponseWriter } from './response-writer.ts'

export interface ConnectionOptions {
  /** Bytes of a request's line and headers. */
  readonly headBytesMax: number
  /** Time for the head of a request, and for its body. */
  readonly headTimeoutMs: number
  readonly requestTimeoutMs: number
  /** How long an idle connection is kept: longer than proxies in front keep it. */
  readonly keepAliveTimeoutMs: number
  /** How long a client may receive nothing of its answer. */
  readonly writeStallTimeoutMs: number
  readonly addresses: ClientAddresses
  /** Makes the id of a request that the connection itself refuses. */
  readonly newRequestId: () => string
}

/** What all connections of a listener share. */
export interface ConnectionParts extends ConnectionOptions {
  readonly keepAlive: string
  readonly watchdog: Watchdog
  readonly monotonic: () => number
  readonly date: () => string
  readonly isDraining: () => boolean
  readonly handle: (request: IncomingRequest, response: ResponseWriter) => void
}
