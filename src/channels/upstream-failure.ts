/**
 * What can go wrong in a round trip, and what the errors of sockets and TLS say about it. Pure; it
 * knows their codes and nothing of channels.
 */

/** `aborted` is our own doing: the upstream was closed under a running exchange. */
export type FailureKind = 'connect' | 'tls' | 'reset' | 'protocol' | 'aborted'

/**
 * Verdicts on the certificate, which stay until somebody acts. They have no common prefix; these are
 * the beginnings of all of OpenSSL's names. A handshake that fails otherwise is a failed connection.
 */
const certificateCode =
  /^(ERR_TLS_CERT|CERT|CRL|UNABLE_|DEPTH_|SELF_SIGNED|INVALID_|PATH_LENGTH|HOSTNAME_|ERROR_IN_)/

/**
 * A kept-alive connection that died before a byte of an answer: the vendor had most likely closed it
 * while the request was on its way, which says nothing about the vendor.
 */
export function isStaleConnection(
  failure: { readonly kind: FailureKind; readonly isReusedConnection: boolean },
  hasHead: boolean,
): boolean {
  return failure.kind === 'reset' && failure.isReusedConnection && !hasHead
}

/** Why a connection could not be had. */
export function classifyConnectError(error: Error & { readonly code?: string }): FailureKind {
  return certificateCode.test(error.code ?? '') ? 'tls' : 'connect'
}
