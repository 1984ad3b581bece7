/**
 * TLS in front of the simulated vendors, with a certificate that a test changes while gateways run: the
 * vendor's own mistake with its certificate, or its renewal.
 */
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { createServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { makeCertificate, type TestCertificate } from './certificate.ts'

/** The name of the vendor in all of these certificates but one. */
export const vendorName = 'vendor.example'

/** From here on this process trusts it, as one with NODE_EXTRA_CA_CERTS would. */
const authority = makeCertificate('authority.example')
setDefaultCACertificates([...getCACertificates('default'), authority.cert])

export const trustedCertificate = makeCertificate(vendorName, { issuer: authority })
export const expiredCertificate = makeCertificate(vendorName, { issuer: authority, lastYear: 2025 })
export const strangersCertificate = makeCertificate('other.example', { issuer: authority })
export const unknownCertificate = makeCertificate(vendorName)

export interface TlsFront {
  readonly port: number
  /** The plain server behind it. */
  leadTo(target: { readonly port: number }): void
  /** New handshakes get this certificate, and no session from before counts; open connections stay. */
  show(certificate: TestCertificate): void
  /** Closes all open connections. */
  cut(): void
  close(): Promise<void>
}

export async function startTlsFront(certificate: TestCertificate): Promise<TlsFront> {
  const open = new Set<TLSSocket>()
  let targetPort = 0
  const server = createServer(certificate, (client) => {
    const vendor = connect(targetPort, '127.0.0.1')
    open.add(client)
    client.on('close', () => {
      open.delete(client)
      vendor.destroy()
    })
    for (const [from, to] of [
      [client, vendor],
      [vendor, client],
    ] as const) {
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  })
  // A client that does not trust the certificate ends the handshake.
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const client of open) client.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: ({ port }) => void (targetPort = port),
    show: (next) => server.setSecureContext(next),
    cut,
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
