/**
 * Gives a running gateway the names and texts of the Big List of Naughty Strings wherever it accepts them:
 * accounts, keys, admin tokens, alert targets, notes, references, reasons, metadata and user agents.
 */
import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' }
import { createTarget } from '../../../src/operations/alerts/targets.ts'
import { createAccount, creditAccount } from '../../../src/operations/accounts/accounts.ts'
import { createClientKey as createKey } from '../../../src/operations/keys/keys.ts'
import { valueOf, type OperationContext } from '../../../src/operations/operation.ts'
import { post } from '../http-client.ts'
import {
  createAdminToken,
  createClientKey,
  createReaderToken,
  refundRequest,
} from '../operations.ts'
import type { Scenario } from '../scenario.ts'

export interface HostileStore {
  /** Each is the name of a key of `holder`. */
  readonly names: readonly string[]
  /** Of accounts and alert targets: the names that a page could most easily take for markup. */
  readonly oddest: readonly string[]
  /** Those whose account has a request, by a key of the same name. */
  readonly asked: readonly string[]
  /** Each is the reference and the note of a credit of `holder`. */
  readonly references: readonly string[]
  readonly holder: { readonly id: string; readonly token: string }
  /** The name of the key with which `holder` sent a request. */
  readonly holderKey: string
  /** By name. */
  readonly accountIds: ReadonlyMap<string, string>
}

/** Texts that a spreadsheet would run, as names. */
export const formulas: readonly string[] = [
  '=1+1',
  '=HYPERLINK("http://127.0.0.1:9/","open")',
  '+1+1',
  '-1+1',
  '@SUM(A1:A9)',
  '=cmd|"/c calc"!A1',
  '＝1+1',
  '＋1＋1',
]

const texts: readonly string[] = [...formulas, ...naughtyStrings]

export async function makeHostile({ context, url, app }: Scenario): Promise<HostileStore> {
  const holder = await makeHolder(context)
  const names: string[] = []
  for (const text of texts) {
    const made = await createKey(context, { account: holder.id, name: text })
    if (made.kind === 'done' && text.trim() !== '') names.push(made.value.key.name)
  }
  const oddest = names.toSorted((one, other) => oddness(other) - oddness(one)).slice(0, 80)
  const accountIds = new Map<string, string>()
  for (const name of new Set([...formulas, ...oddest])) {
    const given = { name, balance_usd: '1', note: name, external_id: name }
    accountIds.set(name, valueOf(await createAccount(context, given)).id)
  }
  const owner = await createAdminToken(context, { name: oddest[0], role: 'owner' })
  const acting = { ...context, actor: owner.key.id }
  const references = await payIn(acting, holder.id)
  for (const name of oddest) await makeTarget(acting, name)
  const asked = [...new Set([...formulas, ...oddest.slice(0, 30)])]
  const [holderKey = ''] = formulas
  await creditAccount(context, { account: holder.id, amount_usd: '1' })
  await ask(context, { url, app, account: holder.id, name: holderKey })
  for (const name of asked) {
    const request = await ask(context, { url, app, account: accountIds.get(name), name })
    await refundRequest(acting, { request, reason: name })
  }
  return { names, oddest, asked, references, holder, holderKey, accountIds }
}

/** An account whose name would run as a script. */
async function makeHolder(context: OperationContext): Promise<HostileStore['holder']> {
  const name = '<svg onload=alert(1)>"\'&lt;b&gt;'
  const { id } = valueOf(await createAccount(context, { name }))
  const { secret } = await createReaderToken(context, { account: id, name })
  return { id, token: secret }
}

async function payIn(context: OperationContext, account: string): Promise<readonly string[]> {
  const references: string[] = []
  for (const text of texts) {
    const given = { account, amount_usd: '0.01', reference: text, note: text }
    const { kind } = await creditAccount(context, given)
    if (kind === 'done') references.push(text.normalize('NFC').trim())
  }
  return references
}

async function makeTarget(context: OperationContext, name: string): Promise<void> {
  const given = { name, format: 'webhook', address: 'http://127.0.0.1:9/' }
  valueOf(await createTarget(context, given))
}

function oddness(text: string): number {
  return text.replaceAll(/[^<>"'&`=]/g, '').length
}

interface Asking extends Pick<Scenario, 'url' | 'app'> {
  readonly account: string | undefined
  readonly name: string
}

/** Sends a request with a new key of this name; returns its id. */
async function ask(
  context: OperationContext,
  { url, app, account, name }: Asking,
): Promise<string> {
  const { secret } = await createClientKey(context, { account, name })
  await app.refresh()
  const answer = await post(
    `${url}/openai/v1/chat/completions`,
    secret,
    { model: 'gpt-6.1-terra', messages: [{ role: 'user', content: name }] },
    { 'user-agent': /^[\x20-\x7e]+$/.test(name) ? name : 'none' },
  )
  return String(answer.headers['x-turnpike-request-id'])
}
