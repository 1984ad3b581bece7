/** A listener on a free port, with the limits of a gateway in front of which there is no proxy. */
import { ClientAddresses } from '../../src/http/server/client-address.ts'
import type { ListenerOptions } from '../../src/http/server/listener.ts'

export const directAddresses = new ClientAddresses({
  trusted: undefined,
  header: 'x-forwarded-for',
  onUnlistedProxy: () => undefined,
})

export const listenerDefaults: Omit<ListenerOptions, 'clock'> = {
  host: '127.0.0.1',
  port: 0,
  headBytesMax: 8_192,
  headTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 75_000,
  writeStallTimeoutMs: 60_000,
  connectionsMax: 100,
  keylessPerAddressMax: 0,
  onConnectionClosed: () => undefined,
  addresses: directAddresses,
  hasProxyProtocol: false,
  newRequestId: () => 'refused',
}
