/**
 * What the examples of the endpoints name, made for each call anew, and requests of the admin API built from
 * the rows. A part that adds an example with a name of its own adds here how it comes to be.
 */
import { newId } from '../../src/base/id.ts'
import { exampleNames } from '../../src/operations/endpoint.ts'
import type { Endpoint, FileEndpoint, StreamEndpoint } from '../../src/operations/endpoint.ts'
import { firingAlerts } from '../../src/operations/alerts/firing.ts'
import { applyObservation } from '../../src/operations/alerts/raise.ts'
import { createTarget } from '../../src/operations/alerts/targets.ts'
import { modelChanges } from '../../src/operations/catalogue/entry-changes.ts'
import { createCodes } from '../../src/operations/codes/codes.ts'
import { addNote } from '../../src/operations/notes/notes.ts'
import { reconcileChannel } from '../../src/operations/reconcile/reconcile.ts'
import { runAudit } from '../../src/operations/store/audit-runs.ts'
import { replaceCredential } from '../../src/operations/channels/replace-credential.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import {
  createAccount,
  createAdminToken,
  createClientKey,
  createReaderToken,
  switchChannel,
} from '../support/operations.ts'
import { inviteMember } from '../support/members.ts'
import { messagesRequest } from '../support/requests.ts'
import type { Scenario } from '../support/scenario.ts'

export type AnyRow = Endpoint | StreamEndpoint | FileEndpoint
type Input = Readonly<Record<string, unknown>>

export interface World {
  /** Returns the example of the row as an input that works once more. */
  realize(row: AnyRow): Promise<Input>
  call(row: AnyRow, input: Input, headers: Readonly<Record<string, string>>): Promise<WireAnswer>
}

/** Fields of which no two things may have the same value. */
const uniqueFields = ['name', 'reference', 'external_id', 'email']

export async function openWorld(gateway: Scenario): Promise<World> {
  const { context } = gateway
  const account = exampleNames.account
  await createAccount(context, { name: account, balance_usd: '1000' })
  let count = 0

  const makers: Readonly<Record<string, () => Promise<string>>> = {
    [exampleNames.key]: async () => (await createClientKey(context, { account })).key.id,
    [exampleNames.token]: async () => (await createReaderToken(context, { account })).key.id,
    [exampleNames.adminToken]: async () => (await createAdminToken(context, {})).key.id,
    // No channel serves it, so that it can be retired.
    [exampleNames.model]: async () => {
      const id = `spare-${++count}`
      valueOf(await modelChanges.create(context, { id, vendor: exampleNames.vendor }))
      return id
    },
    [exampleNames.request]: () => chargedRequest(gateway),
    [exampleNames.audit]: async () => valueOf(await runAudit(context, {})).id,
    [exampleNames.member]: async () => {
      const email = `member-${++count}@customer.example`
      return (await inviteMember(context, { account, email })).id
    },
    [exampleNames.note]: async () =>
      valueOf(await addNote(context, { account, text: `note ${++count}` })).id,
    [exampleNames.batch]: async () =>
      valueOf(await createCodes(context, { amount_usd: '5', count: 2 })).batch.id,
    [exampleNames.reconciliation]: async () => {
      const period = { channel: 'all', from: '2026-11-01', to: '2026-11-02' }
      const file = { name: 'bill.csv', text: 'model,cost_usd\nlarge-1,1\n' }
      const run = await reconcileChannel(context, { ...period, vendor_counts: [file] })
      return valueOf(run).id ?? ''
    },
    [exampleNames.target]: async () => {
      const name = `ops-${++count}`
      const address = 'https://hooks.example/alerts'
      valueOf(await createTarget(context, { name, format: 'webhook', address }))
      return name
    },
    [exampleNames.alert]: async () => {
      const subject = `vendor-${++count}`
      const about = { subject, channel: subject, title: 'off', text: 'off', facts: {} }
      const finding = { kind: 'channel.off', ...about } as const
      // No kind was looked at: the others stay.
      const observation = { kinds: [], findings: [finding] }
      const { database } = context
      await applyObservation({ database, onNotice: () => undefined }, observation, Date.now())
      const { items } = valueOf(await firingAlerts(context, { limit: 1_000 }))
      return items.find(({ channel }) => channel === subject)?.id ?? ''
    },
  }

  return {
    async realize(row) {
      if (row.id === 'channels.on')
        await switchChannel(context, { channel: exampleNames.channel, override: 'disabled' })
      if (row.id === 'channels.off')
        await switchChannel(context, { channel: exampleNames.channel, override: 'enabled' })
      if (row.id === 'channels.restore_credential') await replaceSomeCredential(context)
      const isNew = row.method === 'POST'
      const input: Record<string, unknown> = {}
      for (const [field, value] of Object.entries(row.example)) {
        const make = typeof value === 'string' ? makers[value] : undefined
        const isUnique = isNew && uniqueFields.includes(field)
        input[field] =
          make !== undefined ? await make() : isUnique ? unique(String(value), ++count) : value
      }
      return input
    },
    call: (row, input, headers) => callRow(gateway.adminUrl, row, input, headers),
  }
}

function unique(value: string, count: number): string {
  return value.includes('@') ? `${count}-${value}` : `${value}-${count}`
}

/** So that there is a former one. */
async function replaceSomeCredential(context: OperationContext): Promise<void> {
  const credential = `sk-${newId('key', Date.now())}`
  const input = { channel: exampleNames.channel, credential, force: true }
  valueOf(await replaceCredential(context, input))
}

/** Sends a request that is charged, and returns its id. */
async function chargedRequest(gateway: Scenario): Promise<string> {
  const { secret } = await createClientKey(gateway.context, { account: exampleNames.account })
  await gateway.app.refresh()
  const answer = await post(`${gateway.url}/alpha/v1/messages`, secret, messagesRequest())
  return String(answer.headers['x-turnpike-request-id'] ?? newId('ex', 0))
}

/** Sends the request of a row: path, query and body as the row says. */
export function callRow(
  adminUrl: string,
  row: AnyRow,
  input: Input,
  headers: Readonly<Record<string, string>>,
): Promise<WireAnswer> {
  const rest = new Map(Object.entries(input))
  const path = row.path.replaceAll(/{(\w+)}/g, (_, field: string) => {
    const value = encodeURIComponent(String(rest.get(field)))
    rest.delete(field)
    return value
  })
  const hasBody = row.method !== 'GET' && row.method !== 'DELETE'
  const isInQuery = (field: string): boolean => !hasBody || row.query?.includes(field) === true
  const query = new URLSearchParams(
    [...rest].filter(([field]) => isInQuery(field)).map(([field, value]) => [field, String(value)]),
  )
  const body = Object.fromEntries([...rest].filter(([field]) => !isInQuery(field)))
  const tail = query.size === 0 ? '' : `?${query.toString()}`
  return send(`${adminUrl}/admin/v1${path}${tail}`, {
    method: row.method,
    headers: { ...(hasBody && { 'content-type': 'application/json' }), ...headers },
    ...(hasBody && { body: JSON.stringify(body) }),
  })
}
