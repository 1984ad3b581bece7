/** Headers of a backup, as the API writes them and the command line reads them. */

export const takenAtHeader = 'x-turnpike-taken-at'

/** `passed` or `failed`: the result of the copy's audit. */
export const auditHeader = 'x-turnpike-audit'

/** Prints the value of `Repr-Digest` (RFC 9530) for a SHA-256 in base64. */
export function printDigest(sha256: string): string {
  return `sha-256=:${sha256}:`
}

/** Reads the SHA-256 from `Repr-Digest`; undefined where it has none. */
export function readDigest(header: string): string | undefined {
  return /(?:^|[\s,])sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header)?.[1]
}
