/**
 * What the doctor can find: each sentence by its code, with the facts in braces. A sentence about advice or a
 * problem has the next step. Pure.
 */
import { z } from 'zod'
import { facts as factsForm, type Answer } from '../answer-forms.ts'

export const findingForm = z.strictObject({
  area: z.enum(['store', 'ledger', 'proxies', 'catalogue', 'vendors', 'access']),
  status: z.enum(['ok', 'advice', 'problem']),
  /** The finding and, for advice and problems, the next step. */
  message: z.string(),
  code: z.string().meta({ description: 'The word for `message`.' }),
  facts: factsForm,
})

export type Finding = Answer<typeof findingForm>
type Area = Finding['area']
type Facts = Finding['facts']

export const doctorSentences = {
  store_unreachable: '{reason}',
  store_outdated:
    'The store has schema version {version} and lacks a change that this program needs. Make a backup with the version that used it last, then run: turnpike migrate',
  store_unwritable: 'The store cannot be written, so requests cannot be charged. {reason}',
  store_writable: 'The store is writable and has schema version {version}.',
  unlisted_proxy:
    'Requests to gateway {gateway} were forwarded by {names}, which trusted_proxies does not list. All clients of such a proxy count as one address. If it is your proxy, add it to trusted_proxies and restart the gateway.',
  learned_waits:
    'Limits of silence are learned for {names}. They are in: turnpike channel show NAME',
  usage_refused:
    'Channel {channel} refuses stream_options, by which the gateway asks for the usage of a stream. Its streams are not asked for a day at a time and may be charged by an estimate. To stop asking, write stream_usage: never in the catalogue.',
  audit_passed:
    'Ledger audit passed since the last checkpoints: {accounts} accounts, {entries} entries. The last full audit {result} at {at}. For a full audit run: turnpike audit',
  audit_passed_alone:
    'Ledger audit passed since the last checkpoints: {accounts} accounts, {entries} entries. No full audit is recorded. For a full audit run: turnpike audit',
  audit_failed:
    'Ledger audit failed: {differences} differences. Copy the store before you do anything else. For details run: turnpike audit',
  signing_key_unreadable:
    'The key that signs the books cannot be opened: {reason}. Put the former master key back, or make a new signing key: turnpike signing-key rotate',
  catalogue_empty: 'The catalogue is empty. Write a file and run: turnpike apply -f catalog.yaml',
  catalogue_ready: 'Ready to serve: {vendors} vendors, {models} models, {channels} channels.',
  out_of_service: 'The {kind} {name} is not served: {reason}.',
  model_without_channel: 'Model {model} has no channel. Add one to the catalogue and apply it.',
  model_out_of_service:
    'Every channel of model {model} is out of service ({names}). See the findings about them.',
  model_disabled: 'Every channel of model {model} is disabled. Run: turnpike channel on NAME',
  model_without_reserve:
    'Model {model} has one enabled channel and no reserve. Add a second channel, so that it can take over.',
  channel_without_model: 'Channel {channel} serves no model, so it was not checked.',
  channel_shortage:
    'Channel {channel}: not checked, because this machine is short of open files, ports or memory.',
  channel_address:
    'Channel {channel}: its name leads to an address that is not public, or in plain text to one that is. If that address is on your own network, add allow_private: true.',
  channel_certificate_expired:
    'Channel {channel}: the certificate of the vendor has expired. Ask the vendor to renew it, and check the clock of this machine.',
  channel_tls:
    'Channel {channel}: its certificate cannot be trusted. Check the address, the proxy and the clock.',
  channel_lookup:
    'Channel {channel}: the name in {url} cannot be looked up. Check the address and the name servers.',
  channel_credential:
    'Channel {channel}: the vendor refuses the credential ({status}). Put a valid one in the catalogue and apply it.',
  channel_credit:
    'Channel {channel}: the credit or spend limit at the vendor is used up ({status}). Raise it with the vendor.',
  channel_silent: 'Channel {channel}: no answer from {url}. Check the address and the network.',
  channel_answers: 'Channel {channel} answers in {ms} ms.',
  channel_status: 'Channel {channel} answers in {ms} ms with status {status}.',
  no_account: 'There is no active account. Run: turnpike account create NAME --balance 10',
  active_accounts: '{active} of {accounts} accounts are active.',
  accounts_without_key: 'Accounts without a valid key: {names}. Run: turnpike key create ACCOUNT',
  no_admin_token: 'There is no valid admin token. Run: turnpike admin-token create',
  demo_keys: 'Keys that the first start made for the demo are still valid. Run: {commands}',
} as const

export type DoctorCode = keyof typeof doctorSentences

export const ok = found('ok')
export const advice = found('advice')
export const problem = found('problem')

function found(status: Finding['status']) {
  return (area: Area, code: DoctorCode, facts: Facts = {}): Finding => ({
    area,
    status,
    message: fill(doctorSentences[code], facts),
    code,
    facts,
  })
}

function fill(sentence: string, facts: Facts): string {
  return sentence.replaceAll(/{(\w+)}/g, (_, name: string) => {
    const fact = facts[name] ?? ''
    return typeof fact === 'object' ? `${fact.join(', ')}${restText(facts['rest'])}` : String(fact)
  })
}

const namesShownMax = 10

/** The facts of many names: the first ones, and how many more there are. */
export function listed(names: readonly string[]): Facts {
  const rest = Math.max(0, names.length - namesShownMax)
  return { names: names.slice(0, namesShownMax), rest }
}

function restText(rest: Facts[string] = 0): string {
  return typeof rest === 'number' && rest > 0 ? ` and ${rest} more` : ''
}
