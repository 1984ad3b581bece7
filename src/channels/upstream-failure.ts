/**
 * Reads what went wrong in a round trip out of the errors of sockets, TLS and the HTTP client. Pure;
 * it knows the codes of those three and nothing of channels. What it cannot name is a `reset`.
 */
import { errors } from 'undici'

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

export function classifyError(
  error: Error & { readonly code?: string },
  moment: { readonly isWritten: boolean; readonly hasHead: boolean },
): FailureKind {
  const code = error.code ?? ''
  if (certificateCode.test(code)) return 'tls'
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return 'protocol'
  if (!moment.isWritten) return 'connect'
  // The connection ended inside a message: a fact about the connection, not about the framing.
  // The parser's errors carry no code that could be compared, only llhttp's own words.
  if (error instanceof errors.HTTPParserError)
    return error.message.includes('Invalid EOF state') ? 'reset' : 'protocol'
  // The client reports a refused length header under this code as well, but only before the head.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return moment.hasHead ? 'reset' : 'protocol'
  if (code === 'UND_ERR_SOCKET') return error.message.startsWith('bad ') ? 'protocol' : 'reset'
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'protocol'
  return code === 'ERR_ASSERTION' ? 'protocol' : 'reset'
}
