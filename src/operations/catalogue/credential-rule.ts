/**
 * The rules for credentials in a catalogue that comes over the network: it names only variables and files
 * that the settings list, and a kept secret stays with its address. Otherwise an owner's token could send
 * secrets of the host anywhere.
 */
import { resolve, sep } from 'node:path'
import type { ChannelRow } from '../../channels/channel-store.ts'
import { credentialPath, credentialVariable, isReference } from '../../channels/snapshot.ts'
import { isSealed } from '../../storage/master-key.ts'
import type { ChannelEntry } from './entries.ts'

export interface CredentialRule {
  readonly variables: readonly string[]
  readonly folders: readonly string[]
}

/** Returns the mistake in a reference besides the credential; undefined where nothing is. */
export function referenceMistake(
  rule: CredentialRule,
  { reference, url }: { readonly reference: string; readonly url: string },
  stored: Pick<ChannelRow, 'headers' | 'proxy' | 'url'> | undefined,
): string | undefined {
  if (!isReference(reference) || isListed(rule, reference)) return undefined
  const isKept =
    stored?.url === url && [...stored.headers.values(), stored.proxy].includes(reference)
  return isKept ? undefined : notListed(reference)
}

/** Returns the mistake in the credential of a channel under this rule; undefined where nothing is. */
export function credentialMistake(
  rule: CredentialRule,
  { credential, url }: Pick<ChannelEntry, 'credential' | 'url'>,
  stored: Pick<ChannelRow, 'credential' | 'url'> | undefined,
): string | undefined {
  if (isListed(rule, credential)) return undefined
  const isKept = credential === stored?.credential
  if (isReference(credential) && !isKept) return notListed(credential)
  if (!isKept && !isSealed(credential)) return undefined
  if (stored !== undefined && stored.url === url) return undefined
  return 'a kept credential stays with its address; give it anew for this url'
}

function notListed(reference: string): string {
  return credentialVariable(reference) === undefined
    ? 'over the API only files in folders of api_credential_file_folders may be named'
    : 'over the API only variables of api_credential_variables may be named'
}

function isListed({ variables, folders }: CredentialRule, credential: string): boolean {
  const variable = credentialVariable(credential)
  if (variable !== undefined) return variables.includes(variable)
  const path = credentialPath(credential)
  if (path === undefined) return false
  return folders.some((folder) => resolve(path).startsWith(resolve(folder) + sep))
}
