/**
 * Credentials in a catalogue file: a reference stays a reference, a stored secret stays as it is, a new
 * secret is sealed. The invariant: plaintext exists only between file and seal, wrapped as a `Secret`,
 * and is in no difference and no message.
 */
import { hasSigningKey } from '../../ledger/proof/signing-keys.ts'
import { Secret } from '../../base/secret.ts'
import { credentialField, isReference } from '../../channels/snapshot.ts'
import { readCatalogue, type ChannelRow } from '../../channels/channel-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { makeMasterKey, isSealed, seal, unseal } from '../../storage/master-key.ts'
import { hasSealedTarget } from '../alerts/target-store.ts'
import type { OperationContext } from '../operation.ts'
import { credentialMistake } from './credential-rule.ts'
import type { ChannelEntry } from './entries.ts'

export type SettledCredential =
  /** Stored unchanged: a reference, or sealed text. */
  | { readonly kind: 'as_is'; readonly text: string }
  | { readonly kind: 'to_seal'; readonly secret: Secret }
  | { readonly kind: 'mistake'; readonly message: string }

export function settleCredential(
  channel: { readonly name: string; readonly entry: ChannelEntry },
  stored: ChannelRow | undefined,
  { masterKey, credentialRule }: Pick<OperationContext, 'masterKey' | 'credentialRule'>,
): SettledCredential {
  const given = revealHidden(channel.entry.credential, stored)
  if (given === undefined)
    return {
      kind: 'mistake',
      message: `${hiddenCredential} keeps the sealed credential of a channel, and this one has none; give env:NAME or the secret itself`,
    }
  if (credentialRule !== undefined) {
    const { url } = channel.entry
    const message = credentialMistake(credentialRule, { credential: given, url }, stored)
    if (message !== undefined) return { kind: 'mistake', message }
  }
  const place = { owner: channel.name, field: credentialField }
  if (isReference(given) || given === stored?.credential) return { kind: 'as_is', text: given }
  let secret = new Secret(given)
  if (isSealed(given)) {
    const opened = unseal(masterKey(), place, given)
    if (opened.kind === 'unreadable')
      return {
        kind: 'mistake',
        message: `this sealed credential cannot be opened: ${opened.reason}; give env:NAME or the secret itself`,
      }
    secret = opened.secret
  }
  if (stored !== undefined && isSealed(stored.credential)) {
    const before = unseal(masterKey(), place, stored.credential)
    if (before.kind === 'unsealed' && before.secret.reveal() === secret.reveal())
      return { kind: 'as_is', text: stored.credential }
  }
  return isSealed(given) ? { kind: 'as_is', text: given } : { kind: 'to_seal', secret }
}

/** Stands for a sealed credential where its reader may not see it. In a file it keeps the stored one. */
const hiddenCredential = '***'

export function hideSealed(credential: string): string {
  return isSealed(credential) ? hiddenCredential : credential
}

/** Returns the credential that is meant; undefined where a hidden one stands for none. */
function revealHidden(given: string, stored: ChannelRow | undefined): string | undefined {
  if (given !== hiddenCredential) return given
  return stored !== undefined && isSealed(stored.credential) ? stored.credential : undefined
}

/** Creates the master key of a store in which nothing is sealed: there it cannot be a lost one. */
export async function makeKeyForFirstSeal(
  queryable: Queryable,
  masterKey: () => Secret,
): Promise<void> {
  const { channels } = await readCatalogue(queryable)
  const isAnySealed =
    channels.some((row) => isSealed(row.credential)) ||
    (await hasSealedTarget(queryable)) ||
    (await hasSigningKey(queryable))
  if (!isAnySealed) makeMasterKey(masterKey())
}

/** Returns the text to store. */
export function sealCredential(
  channel: string,
  settled: Exclude<SettledCredential, { kind: 'mistake' }>,
  masterKey: () => Secret,
): string {
  if (settled.kind === 'as_is') return settled.text
  return seal(masterKey(), { owner: channel, field: credentialField }, settled.secret)
}

/** Returns what may be shown of a credential: the reference, or `sealed`. */
export function describeCredential(text: string): string {
  return isReference(text) ? text : 'sealed'
}
