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

/** Longer than a close that crossed the request needs, shorter than any work on an answer. */
const crossingMs = 1_000

/**
 * A kept-alive connection that died at once, before a byte of an answer: the vendor had most likely
 * closed it while the request was on its way, which says nothing about the vendor. Later it had the
 * request, and may have worked on it.
 */
export function isStaleConnection(
  failure: { readonly kind: FailureKind; readonly isReusedConnection: boolean },
  { hasHead, waitedMs }: { readonly hasHead: boolean; readonly waitedMs: number },
): boolean {
  const isAtOnce = !hasHead && waitedMs < crossingMs
  return failure.kind === 'reset' && failure.isReusedConnection && isAtOnce
}

/** Why a connection could not be had. */
export function classifyConnectError(error: Error & { readonly code?: string }): FailureKind {
  return certificateCode.test(error.code ?? '') ? 'tls' : 'connect'
}
