/**
 * What becomes of the credentials a catalogue file gives: references stay references, a secret that
 * is already stored stays as it is, a new one will be sealed. Plaintext lives here only between
 * file and seal, wrapped, and is part of no difference and no message.
 */
import { Secret } from '../../base/secret.ts'
import { credentialField } from '../../channels/snapshot.ts'
import type { ChannelRow } from '../../channels/channel-store.ts'
import { makeMasterKey } from '../../storage/master-key.ts'
import { isSealed, seal, unseal } from '../../storage/seal.ts'
import type { ChannelEntry } from './entries.ts'

export type SettledCredential =
  /** Goes into the store as it stands: a reference, or the sealed text that is there already. */
  | { readonly kind: 'as_is'; readonly text: string }
  | { readonly kind: 'to_seal'; readonly secret: Secret }
  | { readonly kind: 'mistake'; readonly message: string }

export function settleCredential(
  channel: { readonly name: string; readonly entry: ChannelEntry },
  stored: ChannelRow | undefined,
  masterKey: () => Secret,
): SettledCredential {
  const given = channel.entry.credential
  const place = { owner: channel.name, field: credentialField }
  if (given.startsWith('env:') || given === stored?.credential)
    return { kind: 'as_is', text: given }
  let secret = new Secret(given)
  if (isSealed(given)) {
    const opened = unseal(masterKey(), place, given)
    if (opened.kind === 'unreadable')
      return {
        kind: 'mistake',
        message: `this sealed credential cannot be used here: ${opened.reason}; give env:NAME or the secret itself`,
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

/** Where nothing is sealed yet no key can be missing, only not be made. */
export function makeKeyForFirstSeal(stored: readonly ChannelRow[], masterKey: () => Secret): void {
  if (!stored.some((row) => isSealed(row.credential))) makeMasterKey(masterKey())
}

/** The text to store. */
export function sealCredential(
  channel: string,
  settled: Exclude<SettledCredential, { kind: 'mistake' }>,
  masterKey: () => Secret,
): string {
  if (settled.kind === 'as_is') return settled.text
  return seal(masterKey(), { owner: channel, field: credentialField }, settled.secret)
}

/** How a credential is shown: the name of its variable, or only that there is one. */
export function describeCredential(text: string): string {
  return text.startsWith('env:') ? text : 'sealed'
}
