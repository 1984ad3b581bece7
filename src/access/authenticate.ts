/**
 * Who is calling: from the headers a request came with to its Principal, or to the one refusal that
 * applies. It reads raw headers, before anything may merge or drop one. Whatever is wrong with a
 * credential itself gets one and the same answer, so that nobody learns how close a guess was.
 */
import { refuse, type Refusal } from '../base/errors.ts'
import { isInRanges } from './ip-ranges.ts'
import { hashSecret, parseSecret } from './key.ts'
import type { KeyDirectory } from './key-directory.ts'
import type { KnownKey } from './key-store.ts'
import type { KeyKind, Principal } from './principal.ts'

export interface Caller {
  /** The peer's address as the socket names it. */
  readonly address: string | undefined
  /** Wall time; decides whether a key has expired. */
  readonly nowMs: number
}

/** Answers at once where the key is remembered, else when the store has answered. */
export type Authenticate = (
  presented: string | undefined,
  wanted: KeyKind,
  caller: Caller,
) => Principal | Refusal | Promise<Principal | Refusal>

const invalidCredential = refuse(
  'access.credential_invalid',
  'The credential is missing or not valid. Send it as "Authorization: Bearer <secret>" or as "x-api-key: <secret>".',
)

const wrongKind: Readonly<Record<KeyKind, Refusal>> = {
  client: refuse(
    'access.credential_wrong_kind',
    'This credential cannot send model requests. Use a key that begins with cr_.',
  ),
  reader: refuse(
    'access.credential_wrong_kind',
    'This credential cannot read usage. Use a read-only token, which begins with ro_.',
  ),
  admin: refuse(
    'access.credential_wrong_kind',
    'This credential cannot administer the gateway. Use an admin token, which begins with ad_.',
  ),
}

const addressNotAllowed = refuse(
  'access.address_not_allowed',
  'This credential may not be used from here. Ask the operator of this gateway.',
)

const accountSuspended = refuse(
  'access.account_suspended',
  'This account is suspended. Ask the operator of this gateway.',
)

export function createAuthenticate(directory: KeyDirectory): Authenticate {
  return (presented, wanted, caller) => {
    if (presented === undefined) return invalidCredential
    const secretHash = hashSecret(presented)
    const known = directory.recall(secretHash)
    if (known !== undefined) return judge(known, wanted, caller)
    if (!isCredible(presented, wanted)) return invalidCredential
    const found = directory.find(secretHash)
    return found instanceof Promise
      ? found.then((key) => judge(key, wanted, caller))
      : judge(found, wanted, caller)
  }
}

/**
 * Spares the store the typos; a secret that is known needs no such look. Where an admin token is wanted
 * the form is not looked at: an operator may have brought one that was made elsewhere.
 */
function isCredible(secret: string, wanted: KeyKind): boolean {
  return wanted === 'admin' || secret.startsWith('ad_') || parseSecret(secret) !== undefined
}

/** First what is wrong with the credential itself, then what it may not do, each in a fixed order. */
function judge(key: KnownKey | undefined, wanted: KeyKind, caller: Caller): Principal | Refusal {
  if (key === undefined || key.isRevoked) return invalidCredential
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= caller.nowMs) return invalidCredential
  if (key.principal.keyKind !== wanted) return wrongKind[wanted]
  if (key.ipRanges !== undefined && !isInRanges(key.ipRanges, caller.address)) {
    return addressNotAllowed
  }
  return key.isSuspended ? accountSuspended : key.principal
}

/**
 * The secret a request presents, from its raw headers (name, value, name, value …): a bearer value
 * of `Authorization`, or `x-api-key`, as often as they come. Undefined when there is none, when one
 * of them is malformed, or when two of them differ. An empty header presents nothing, and neither does
 * `Bearer` with nothing behind it: SDKs send one when their other way of giving a key is in use.
 */
export function presentedSecret(rawHeaders: readonly string[]): string | undefined {
  let presented: string | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const kind = credentialHeader(rawHeaders[index] ?? '')
    const value = rawHeaders[index + 1] ?? ''
    if (kind === undefined || value === '' || (kind === 'bearer' && isBareScheme(value))) continue
    const secret = kind === 'bearer' ? bearerSecret(value) : value
    if (secret === undefined || (presented !== undefined && presented !== secret)) return undefined
    presented = secret
  }
  return presented
}

const authorizationName = 'authorization'
const apiKeyName = 'x-api-key'

/** Lengths are compared first: lower-casing every header name would cost more than all the rest. */
function credentialHeader(name: string): 'bearer' | 'plain' | undefined {
  if (name.length === authorizationName.length && name.toLowerCase() === authorizationName) {
    return 'bearer'
  }
  return name.length === apiKeyName.length && name.toLowerCase() === apiKeyName
    ? 'plain'
    : undefined
}

function isBareScheme(value: string): boolean {
  return /^bearer *$/i.test(value)
}

function bearerSecret(value: string): string | undefined {
  return /^bearer +(\S+)$/i.exec(value)?.[1]
}
