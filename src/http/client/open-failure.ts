/** Why a connection to a vendor could not be opened, from the error of the socket or of the handshake. */
import { AddressRefused } from './checked-lookup.ts'
import type { FailureKind } from './upstream.ts'

/**
 * Codes that reject the certificate, which stay until an operator acts. They have no common prefix; these are
 * the beginnings of all of OpenSSL's names. Any other failed handshake is a failed connection.
 */
const certificateCode =
  /^(ERR_TLS_CERT|CERT|CRL|UNABLE_|DEPTH_|SELF_SIGNED|INVALID_|PATH_LENGTH|HOSTNAME_|ERROR_IN_)/

export function failureOf(error: NodeJS.ErrnoException): FailureKind {
  const { code = '', syscall } = error
  if (error instanceof AddressRefused) return 'address'
  if (syscall === 'getaddrinfo') return 'lookup'
  if (code === 'CERT_HAS_EXPIRED') return 'certificate_expired'
  return certificateCode.test(code) ? 'tls' : 'connect'
}
