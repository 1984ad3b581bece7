/**
 * Every endpoint of the member API × every kind of caller, made from the rows of the program: who is refused
 * and how, whose answer fits its schema, and that no account sees or changes another one.
 * rights-on-postgres.test.ts runs it on PostgreSQL.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { adminRoles } from '../../src/access/key.ts'
import { memberRoles, type Member } from '../../src/access/member-store.ts'
import { allRows } from '../../src/operations/all-endpoints.ts'
import { exampleNames } from '../../src/operations/endpoint.ts'
import { holderEndpoints } from '../../src/operations/holder/endpoints.ts'
import { sessionCalls } from '../../src/operations/sessions/endpoints.ts'
import { removeMember } from '../../src/operations/members/members.ts'
import {
  ownCalls,
  ownEndpoints,
  type MemberEndpoint,
} from '../../src/operations/members/own-endpoints.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemberBrowser, publicUrl, valueOf } from '../support/member-browser.ts'
import { inviteMember, openMemberSession } from '../support/members.ts'
import {
  createAccount,
  createAdminToken,
  createClientKey,
  createReaderToken,
  listAccountKeys,
  recentActions,
} from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { startStripeStandIn, type StripeStandIn } from '../support/stripe-stand-in.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const clock = new ManualClock()
const cookieName = '__Host-turnpike-member'

/** Its example is refused for a reason that is no right: there is no such code. */
const refusedForAll: ReadonlyMap<string, readonly [status: number, type: string]> = new Map([
  ['own.redeemCode', [400, 'operations.invalid']],
])

interface Person {
  readonly id: string
  browser: MemberBrowser
}

let gateway: Scenario
let accountId: string
let owner: Person
let member: Person
let otherOwner: Person
let removed: Person
let expired: Person
/** Of the member; a refused call does not change it. */
let target: { readonly key: string; readonly member: string }
/** By a key of the owner. */
let ownersRequest: string
const bearers: (readonly [who: string, secret: string])[] = []
let count = 0

async function addPerson(account: string, role: Member['role']): Promise<Person> {
  const email = `${role}-${++count}@${account}.example`
  const { id } = await inviteMember(gateway.context, { account, email, role })
  return { id, browser: await openSession(id) }
}

function openSession(id: string): Promise<MemberBrowser> {
  return openMemberSession(gateway.context, gateway.url, id)
}

function asMember(id: string, role: Member['role']) {
  return { ...gateway.context, actor: id, member: { id, accountId, role } }
}

let stripe: StripeStandIn

async function openWorld(): Promise<void> {
  stripe = await startStripeStandIn()
  gateway = await scenario({
    clock,
    settings: {
      public_url: publicUrl,
      // No server is there: an invitation says so, and the member is made.
      smtp: 'smtp://127.0.0.1:9',
      smtp_from: 'turnpike@example.com',
      max_failed_sign_ins: '0',
      stripe_secret_key: 'sk_test_of_this_test',
      stripe_webhook_secret: 'whsec_of_this_test',
      stripe_url: stripe.url,
    },
  })
  const { context } = gateway
  accountId = (await createAccount(context, { name: 'acme', balance_usd: '10' })).id
  await createAccount(context, { name: 'other' })
  expired = await addPerson('acme', 'owner')
  clock.advance(31 * 60_000)
  owner = await addPerson('acme', 'owner')
  member = await addPerson('acme', 'member')
  otherOwner = await addPerson('other', 'owner')
  removed = await addPerson('acme', 'owner')
  const sessionOfRemoved = removed.browser.cookies.get(cookieName) ?? ''
  assert.equal((await removeMember(context, { member: removed.id })).kind, 'done')
  removed.browser.cookies.set(cookieName, sessionOfRemoved)
  const own = { account: 'acme' }
  target = {
    key: (await createClientKey(asMember(member.id, 'member'), own)).key.id,
    member: (await inviteMember(context, { ...own, email: 'target@acme.example', role: 'member' }))
      .id,
  }
  const ofOwner = await createClientKey(asMember(owner.id, 'owner'), own)
  await gateway.app.refresh()
  const answer = await post(`${gateway.url}/alpha/v1/messages`, ofOwner.secret, messagesRequest())
  ownersRequest = String(answer.headers['x-turnpike-request-id'])
  bearers.push(['a key', ofOwner.secret])
  bearers.push(['a read-only token', (await createReaderToken(context, own)).secret])
  for (const role of adminRoles)
    bearers.push([`an admin token ${role}`, (await createAdminToken(context, { role })).secret])
}

/** Sends the example of a row, about these ids. */
function callRow(
  browser: MemberBrowser,
  row: Pick<MemberEndpoint, 'method' | 'path' | 'example'>,
  ids: { readonly key: string; readonly member: string } = target,
  headers: Readonly<Record<string, string>> = {},
): Promise<WireAnswer> {
  const known = new Map([
    [exampleNames.key as string, ids.key],
    [exampleNames.member as string, ids.member],
  ])
  const fields = new Map(
    Object.entries(row.example).map(([name, value]) => [name, known.get(String(value)) ?? value]),
  )
  const path = row.path.replaceAll(/{(\w+)}/g, (_, name: string) => {
    const value = String(fields.get(name))
    fields.delete(name)
    return value
  })
  fields.delete('account')
  const hasBody = row.method !== 'GET' && row.method !== 'DELETE'
  if (fields.has('email')) fields.set('email', `new-${++count}@invited.example`)
  const query = new URLSearchParams([...fields].map(([name, value]) => [name, String(value)]))
  const tail = hasBody || query.size === 0 ? '' : `?${query.toString()}`
  return browser.call(
    row.method,
    path + tail,
    hasBody ? Object.fromEntries(fields) : undefined,
    headers,
  )
}

/** The ids of a key and a member of the account that nothing has happened to. */
async function freshIds() {
  const { key } = await createClientKey(asMember(member.id, 'member'), { account: 'acme' })
  const email = `fresh-${++count}@acme.example`
  const invited = await inviteMember(gateway.context, { account: 'acme', email, role: 'member' })
  return { key: key.id, member: invited.id }
}

function assertError(answer: WireAnswer, status: number, type: string, who: string): void {
  assert.equal(answer.status, status, `${who}: ${answer.text}`)
  assert.equal((valueOf(answer)['error'] as { type: string }).type, type, who)
}

describe('the member API', () => {
  before(openWorld)
  after(async () => {
    await gateway.close()
    stripe.close()
  })

  const rows = [...ownEndpoints, ownCalls.show, ownCalls.end]

  for (const row of rows)
    test(`${row.method} ${row.path} refuses who is no member, and keys and tokens`, async () => {
      const nobody = await callRow(new MemberBrowser(gateway.url), row)
      if (row === ownCalls.show) assert.equal(nobody.status, 204)
      else assertError(nobody, 401, 'access.session_invalid', 'nobody')
      for (const [who, { browser }] of [
        ['a removed member', removed],
        ['an expired session', expired],
      ] as const)
        assertError(await callRow(browser, row), 401, 'access.session_invalid', who)
      for (const [who, secret] of bearers)
        for (const browser of [new MemberBrowser(gateway.url), owner.browser]) {
          const headers = { authorization: `Bearer ${secret}` }
          const answer = await callRow(browser, row, target, headers)
          assertError(answer, 403, 'access.credential_wrong_kind', who)
        }
    })

  for (const row of ownEndpoints)
    test(`${row.method} ${row.path} answers by role, for the own account only`, async () => {
      const hasId = /{\w+}/.test(row.path)
      const refusedAs = refusedForAll.get(row.id)
      // Ending all sessions ends those that the other rows use.
      const isEnd = row.id === 'own.endSessions'
      const stranger = await callRow(otherOwner.browser, row)
      if (isEnd) otherOwner.browser = await openSession(otherOwner.id)
      if (hasId) assertError(stranger, 404, 'operations.not_found', 'another owner')
      else if (refusedAs === undefined) assert.ok(stranger.status < 300, stranger.text)
      for (const hidden of ['acme', accountId, owner.id, member.id, target.key])
        if (!hasId && row.id !== 'own.inviteMember')
          assert.ok(!stranger.text.includes(hidden), `${row.id} shows ${hidden}`)
      for (const [role, person] of [
        ['member', member],
        ['owner', owner],
      ] as const) {
        const { id, browser } = person
        if (memberRoles.indexOf(role) < memberRoles.indexOf(row.role)) {
          assertError(await callRow(browser, row), 403, 'access.role_insufficient', role)
          continue
        }
        const made = await actionsOf(id)
        const answer = await callRow(browser, row, hasId ? await freshIds() : target)
        if (refusedAs !== undefined) {
          assertError(answer, ...refusedAs, role)
          continue
        }
        assert.equal(answer.status, row.status ?? 200, `${row.id} for ${role}: ${answer.text}`)
        assert.equal(answer.headers['cache-control'], 'no-store')
        const parsed = row.answer.safeParse(JSON.parse(answer.text))
        assert.ok(parsed.success, `${row.id}: ${parsed.error?.message}`)
        // A payment that begins changes nothing here.
        const isChange = row.method !== 'GET' && row.id !== 'own.beginCheckout'
        // The fresh key is made in the name of the member.
        const before = role === 'member' && hasId ? made + 1 : made
        assert.equal((await actionsOf(id)) > before, isChange, row.id)
        if (isEnd) person.browser = await openSession(id)
      }
    })

  test('a member reaches no key of others, and none of it has changed', async () => {
    const { key } = await createClientKey(asMember(owner.id, 'owner'), { account: 'acme' })
    const gone = await member.browser.call('DELETE', `/keys/${key.id}`)
    assertError(gone, 404, 'operations.not_found', 'member')
    const { items } = valueOf(await member.browser.call('GET', '/keys?limit=1000')) as {
      items: { member_id: string }[]
    }
    assert.ok(items.length > 0 && items.every((one) => one.member_id === member.id))
    const keys = await listAccountKeys(gateway.context, { account: 'acme', kind: 'client' })
    assert.equal(keys.find(({ id }) => id === target.key)?.state, 'active')
  })

  test('the figures are those of the own account, and of own keys for a member', async () => {
    const forOwners = ['account', 'receipts', 'statement', 'statement/figures']
    for (const name of holderEndpoints.keys()) {
      const short = name.replace('/v1/usage/', '').replace('{id}', ownersRequest)
      const path = `/usage/${short}`
      const nobody = await new MemberBrowser(gateway.url).call('GET', path)
      assertError(nobody, 401, 'access.session_invalid', name)
      for (const [who, secret] of bearers) {
        const headers = { authorization: `Bearer ${secret}` }
        const answer = await owner.browser.call('GET', path, undefined, headers)
        assertError(answer, 403, 'access.credential_wrong_kind', who)
      }
      for (const { browser } of [removed, expired])
        assertError(await browser.call('GET', path), 401, 'access.session_invalid', name)
      assert.equal((await owner.browser.call('GET', path)).status, 200, name)
      const stranger = await otherOwner.browser.call('GET', path)
      assert.equal(stranger.status, short === `requests/${ownersRequest}` ? 404 : 200, name)
      for (const hidden of ['acme', ownersRequest])
        if (stranger.status === 200) assert.ok(!stranger.text.includes(hidden), name)
      const seen = await member.browser.call('GET', path)
      if (forOwners.includes(short)) assertError(seen, 403, 'access.role_insufficient', name)
      else assert.ok(!seen.text.includes(owner.id), name)
    }
    const asked = (path: string) => member.browser.call('GET', `/usage/${path}`)
    assert.equal((await asked(`requests/${ownersRequest}`)).status, 404)
    for (const path of ['requests', 'requests?key=key_other', 'days', 'days?by=model'])
      assertError(await asked(path), 400, 'operations.invalid', path)
    assert.equal((await asked(`requests?key=${target.key}`)).status, 200)
    assert.deepEqual((valueOf(await asked('days?by=key')) as { days: object[] }).days, [])
    const days = valueOf(await owner.browser.call('GET', '/usage/days?by=key'))
    assert.equal((days as { days: object[] }).days.length, 1)
  })

  test('a session means nothing at the admin API and at /v1/usage', async () => {
    const cookie = `${cookieName}=${owner.browser.cookies.get(cookieName) ?? ''}`
    const headers = { cookie, 'content-type': 'application/json', origin: publicUrl }
    const open = new Set(Object.values(sessionCalls).map((call) => call.id))
    open.delete(sessionCalls.end.id)
    for (const { id, method, path } of allRows) {
      if (open.has(id)) continue
      const url = `${gateway.adminUrl}/admin/v1${path.replaceAll(/{\w+}/g, accountId)}`
      const answer = await send(url, { method, headers })
      assert.equal(answer.status, 401, id)
    }
    for (const name of ['/v1/usage', ...holderEndpoints.keys()])
      assert.equal((await send(gateway.url + name.replace('{id}', 'x'), { headers })).status, 401)
  })

  test('the roles are those of the table in docs/members.md', async () => {
    const { readFile } = await import('node:fs/promises')
    const page = await readFile(new URL('../../docs/members.md', import.meta.url), 'utf8')
    const documented = [...page.matchAll(/^\| `(\w+) (\/\S*)`\s*\| (none|member|owner)\b/gm)]
    const calls = Object.values(ownCalls).map(({ method, path, session }) => {
      const role = session === 'begins' ? 'none' : 'member'
      return `${method} ${path} ${role}`
    })
    const roles = ownEndpoints.map(({ method, path, role }) => `${method} ${path} ${role}`)
    assert.deepEqual(
      documented.map(([, method, path, role]) => `${method} ${path} ${role}`).sort(),
      [...calls, ...roles].sort(),
    )
  })
})

async function actionsOf(id: string): Promise<number> {
  const actions = await recentActions(gateway.context, { limit: 1000, sessions: true })
  return actions.filter(({ actor }) => actor === id).length
}
