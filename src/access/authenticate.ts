/**
 * Authenticates a request: from its headers to its principal, or to the one refusal that applies. It
 * reads raw headers, before any code merges or drops one. Every fault of the credential itself gets the
 * same answer, so that a guess reveals nothing.
 */
import { refuse, type Refusal } from '../base/errors.ts'
import { isInRanges } from '../base/ip-address.ts'
import type { FailedSignIns } from './failed-sign-ins.ts'
import { hashSecret, parseSecret, type KeyKind, type Principal } from './key.ts'
import type { KeyDirectory } from './key-directory.ts'
import type { KeyUses } from './key-uses.ts'
import type { KnownKey } from './key-store.ts'

interface Caller {
  /** The client's address. */
  readonly address: string | undefined
  /** Wall time; decides whether a key has expired. */
  readonly nowMs: number
}

/** The refusal of a credential; with its key and account, where it is one that may be used elsewhere. */
interface CredentialRefusal extends Refusal {
  readonly owner?: Pick<Principal, 'accountId' | 'keyId'>
}

export type Authenticate = (
  presented: string | undefined,
  kind: KeyKind,
  caller: Caller,
) => Checked | Promise<Checked>

type Checked = Principal | CredentialRefusal

const neverRetry = { 'x-should-retry': 'false' }

/** Claude Code hides a text with the name of its key's header. Clients of chat look for the first words. */
const invalidCredential = refuse(
  'access.credential_invalid',
  'Incorrect API key provided. Check the key or token, or ask the operator of this gateway for a new one.',
  neverRetry,
)

const missingCredential = refuse(
  'access.credential_invalid',
  'Incorrect API key provided: there is none. Send your key or token as "Authorization: Bearer <secret>" or "x-api-key: <secret>".',
  neverRetry,
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

const accountClosed = refuse(
  'access.account_closed',
  'This account is closed. Ask the operator of this gateway.',
)

/** Sees how credentials are used. */
interface CredentialWatch {
  /** Gets each key that may be used. */
  readonly uses?: Pick<KeyUses, 'note'>
  /** Called for each request without a valid credential. */
  readonly onFailed?: (failed: {
    readonly kind: KeyKind
    readonly address: string | undefined
  }) => void
}

export function createAuthenticate(
  directory: KeyDirectory,
  failures: FailedSignIns,
  { uses, onFailed }: CredentialWatch = {},
): Authenticate {
  function check(
    presented: string | undefined,
    kind: KeyKind,
    caller: Caller,
  ): Checked | Promise<Checked> {
    if (presented === undefined) return missingCredential
    if (presented === unusableSecret) return invalidCredential
    const secretHash = hashSecret(presented)
    const cached = directory.findCached(secretHash)
    if (cached !== undefined) return judge(cached, kind, caller)
    if (!hasValidForm(presented, kind)) return invalidCredential
    return failures
      .lookUp(caller.address, caller.nowMs, () => directory.find(secretHash))
      .then((key) => judge(key, kind, caller))
  }
  function note(checked: Checked, kind: KeyKind, { address, nowMs }: Caller): Checked {
    if (checked.kind === 'principal') uses?.note(checked.keyId, nowMs)
    if (checked !== invalidCredential && checked !== missingCredential) return checked
    onFailed?.({ kind, address })
    return failures.note(address, nowMs) ?? checked
  }
  return (presented, kind, caller) => {
    const checked = check(presented, kind, caller)
    return checked instanceof Promise
      ? checked.then((found) => note(found, kind, caller))
      : note(checked, kind, caller)
  }
}

/**
 * Keeps typos from the store; a cached secret needs no such check. An admin token may have any form: an
 * operator may bring one that was made elsewhere.
 */
function hasValidForm(secret: string, kind: KeyKind): boolean {
  return kind === 'admin' || secret.startsWith('ad_') || parseSecret(secret) !== undefined
}

/** Checks the credential itself first, then its rights, in a fixed order. */
function judge(key: KnownKey | undefined, kind: KeyKind, caller: Caller): Checked {
  if (key === undefined || key.isRevoked) return invalidCredential
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= caller.nowMs) return invalidCredential
  const owner = key.principal
  if (owner.keyKind !== kind) return { ...wrongKind[kind], owner }
  if (key.ipRanges !== undefined && !isInRanges(key.ipRanges, caller.address)) {
    return { ...addressNotAllowed, owner }
  }
  const refusal = kind === 'client' ? refuseAccount(key) : undefined
  return refusal === undefined ? owner : { ...refusal, owner }
}

/** A suspended or closed account sends no requests; its tokens still read its usage. */
function refuseAccount({ accountStatus }: KnownKey): Refusal | undefined {
  if (accountStatus === 'suspended') return accountSuspended
  return accountStatus === 'closed' ? accountClosed : undefined
}

/** Stands for credentials of which one is malformed, or two differ. No secret is empty. */
export const unusableSecret = ''

const secretNames = ['authorization', 'x-api-key', 'api-key'] as const

/** The headers of a request. */
interface Headers {
  /** Returns all values of a name in lower case. */
  values(name: string): readonly string[]
}

/**
 * Returns the secret in a request's headers: the bearer value of `Authorization`, `x-api-key` or `api-key`,
 * in any number; undefined where there is none. An empty header and an empty `Bearer` count as absent: SDKs
 * send them when the key is in the other header.
 */
export function presentedSecret(headers: Headers): string | undefined {
  let presented: string | undefined
  for (const name of secretNames)
    for (const value of headers.values(name)) {
      const isBearer = name === 'authorization'
      if (value === '' || (isBearer && isBareScheme(value))) continue
      const secret = isBearer ? bearerSecret(value) : value
      if (secret === undefined || (presented !== undefined && presented !== secret))
        return unusableSecret
      presented = secret
    }
  return presented
}

function isBareScheme(value: string): boolean {
  return /^bearer *$/i.test(value)
}

function bearerSecret(value: string): string | undefined {
  return /^bearer +\S+$/i.test(value) ? value.slice(value.lastIndexOf(' ') + 1) : undefined
}
