/** Explains why a server gave no usable answer, in one sentence that says what to do. */

/** A server gave no usable answer: the connection failed, or it is no admin API that this program knows. */
export class ServerError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ServerError'
  }
}

const untrusted =
  'has a certificate that this machine does not trust. Name the file of its authority in NODE_EXTRA_CA_CERTS'

/** Errors before a request could reach the server: nothing has changed there. */
const beforeSending: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses the connection. Check the address and the port, and that the gateway runs',
  ENOTFOUND: 'is an unknown host. Check the address',
  EAI_AGAIN: 'is a host whose name cannot be looked up right now. Check the network',
  NO_CONNECTION: 'does not accept the connection in 10 s. Check the address and the network',
  ETIMEDOUT: 'does not accept the connection. Check the address and the network',
  EHOSTUNREACH: 'cannot be reached from this network',
  ENETUNREACH: 'cannot be reached from this network',
  ERR_SSL_WRONG_VERSION_NUMBER:
    'does not speak TLS. Check the port, and that the address needs https',
  EPROTO: 'does not speak TLS. Check the port, and that the address needs https',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'has a certificate for another name. Give the name that it is made for',
  CERT_HAS_EXPIRED: 'has an expired certificate. Renew it',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
}

const afterSending: Readonly<Record<string, string>> = {
  NO_ANSWER: 'has sent nothing for 10 minutes. Try again later',
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** True where the server may have received the request. */
export function wasSent(error: unknown): boolean {
  return !Object.hasOwn(beforeSending, codeOf(error))
}

/** Explains an error of the connection. */
export function describeFailure(error: unknown, server: URL, mayHaveChanged: boolean): ServerError {
  const code = codeOf(error)
  const why =
    beforeSending[code] ??
    afterSending[code] ??
    (code.startsWith('HPE_')
      ? "does not answer in HTTP. Check that this is the address of Turnpike's admin listener"
      : 'ended the connection before the answer was complete. Check that the gateway runs')
  const advice = mayHaveChanged ? ' The change may have been made: look before you repeat it.' : ''
  return new ServerError(`${server.origin} ${why}.${advice}`, error)
}
