/**
 * Which header may carry the version of a vendor's API. The gateway writes that header into every request
 * to the vendor, beside those it writes anyway and those a client's request is sure to have: under one of
 * their names every request would fail, or would have a header twice.
 */
import { isForwarded } from '../http/headers.ts'

const taken: ReadonlySet<string> = new Set(['accept', 'date', 'user-agent'])
const takenPrefixes = ['content-', 'accept-', 'if-']

/** False for names of the connection, of framing and content, of credentials and addresses. */
export function mayCarryVersion(name: string): boolean {
  const lowerCase = name.toLowerCase()
  if (taken.has(lowerCase) || takenPrefixes.some((prefix) => lowerCase.startsWith(prefix)))
    return false
  return isForwarded(lowerCase)
}
