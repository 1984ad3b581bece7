/** Repeated requests, requests that meet, changes to what another operator has changed, and kept secrets. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { allEndpoints } from '../../src/operations/all-endpoints.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { createAdminToken, listAccountKeys, showAccount } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { callRow, openWorld, type World } from './world.ts'

let gateway: Scenario
let world: World
let headers: Record<string, string>

function row(id: string) {
  const found = allEndpoints.find((one) => one.id === id)
  assert.ok(found !== undefined)
  return found
}

function call(id: string, input: Record<string, unknown>, more: Record<string, string> = {}) {
  return callRow(gateway.adminUrl, row(id), input, { ...headers, ...more })
}

function valueOf(answer: WireAnswer): Record<string, unknown> {
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

let names = 0
const nextName = (): string => `request-${++names}`

describe('changes', () => {
  before(async () => {
    gateway = await scenario({ settings: { api_credential_variables: 'LISTED_KEY' } })
    world = await openWorld(gateway)
    const { secret } = await createAdminToken(gateway.context, { name: 'test' })
    headers = { authorization: `Bearer ${secret}` }
  })

  after(() => gateway.close())

  test('a repeated Idempotency-Key gets the first answer again, without its secret', async () => {
    for (const endpoint of allEndpoints.filter(({ repeats }) => repeats !== undefined)) {
      const input = await world.realize(endpoint)
      const once = { 'idempotency-key': nextName() }
      const first = await call(endpoint.id, input, once)
      assert.equal(first.status, endpoint.status ?? 200, first.body.toString())
      assert.equal(first.headers['idempotency-replayed'], undefined)
      const second = await call(
        endpoint.id,
        Object.fromEntries(Object.entries(input).reverse()),
        once,
      )
      assert.equal(second.status, first.status)
      assert.equal(second.headers['idempotency-replayed'], 'true')
      const answer = valueOf(first)
      const shownOnce = endpoint.id === 'codes.create' ? { codes: null } : { secret: null }
      const expected = endpoint.repeats === 'secret' ? { ...answer, ...shownOnce } : answer
      assert.deepEqual(valueOf(second), expected, endpoint.id)
    }
    const stored = await gateway.context.database.query('SELECT answer FROM idempotency_key')
    assert.doesNotMatch(JSON.stringify(stored), /(cr|ro|ad|tc)_\w{49}/)
  })

  test('the same key with another input is a conflict, and of another token it is another key', async () => {
    const once = { 'idempotency-key': nextName() }
    assert.equal((await call('accounts.create', { name: 'once-a' }, once)).status, 201)
    const other = await call('accounts.create', { name: 'once-b' }, once)
    assert.equal(other.status, 409)
    assert.match(String(valueOf(other)['detail']), /in use for another request/)
    const { secret } = await createAdminToken(gateway.context, { name: 'second' })
    const theirs = { ...once, authorization: `Bearer ${secret}` }
    assert.equal((await call('accounts.create', { name: 'once-b' }, theirs)).status, 201)
    for (const wrong of ['', 'with space', 'x'.repeat(256)]) {
      const answer = await call('accounts.create', { name: 'never' }, { 'idempotency-key': wrong })
      assert.equal(answer.status, wrong === '' ? 400 : 400, wrong)
    }
  })

  test('requests with one key that meet make one change', async () => {
    const once = { 'idempotency-key': nextName() }
    const account = 'acme'
    const before = await showAccount(gateway.context, { account })
    const keysBefore = (await listAccountKeys(gateway.context, { account, kind: 'client' })).length
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call('keys.create', { account, name: 'once' }, once)),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    assert.equal(answers.filter((one) => valueOf(one)['secret'] !== null).length, 1)
    const keys = await listAccountKeys(gateway.context, { account, kind: 'client' })
    assert.equal(keys.length, keysBefore + 1)
    const credit = { account, amount_usd: '3', reference: 'meeting' }
    const credits = { 'idempotency-key': nextName() }
    await Promise.all(Array.from({ length: 8 }, () => call('accounts.credit', credit, credits)))
    const after = await showAccount(gateway.context, { account })
    assert.equal(Number(after.balance_usd) - Number(before.balance_usd), 3)
  })

  test('If-Match changes only what was read', async () => {
    await call('accounts.create', { name: 'shared' })
    const etag = String((await call('accounts.show', { account: 'shared' })).headers['etag'])
    assert.match(etag, /^"[\w-]{22}"$/)
    await call('accounts.credit', { account: 'shared', amount_usd: '1', reference: 'r' })
    const change = { account: 'shared', rpm: 10 }
    assert.equal((await call('accounts.change', change, { 'if-match': etag })).status, 200)
    const late = await call('accounts.change', { account: 'shared', rpm: 20 }, { 'if-match': etag })
    assert.equal(late.status, 412)
    assert.equal(valueOf(late)['code'], 'operations.precondition_failed')
    const text = String(valueOf(await call('catalogue.show', {}))['text'])
    const stale = await call('catalogue.apply', { text: `${text}#` }, { 'if-match': '"other"' })
    assert.equal(stale.status, 412)
  })

  test('a catalogue over the API names only listed variables, and a secret stays with its address', async () => {
    const text = String(valueOf(await call('catalogue.show', {}))['text'])
    const apply = (changed: string) => call('catalogue.apply', { text: changed, dry_run: true })
    const mistakesOf = (answer: WireAnswer): string => JSON.stringify(valueOf(answer)['mistakes'])
    const withCredential = (credential: string): string =>
      text.replace(/credential: (sealed|env):\S+/, `credential: ${credential}`)
    assert.equal((await apply(text)).status, 200)
    assert.equal((await apply(withCredential('env:LISTED_KEY'))).status, 200)
    assert.equal((await apply(withCredential('a-new-secret'))).status, 200)
    for (const credential of ['env:PATH', 'file:/etc/passwd']) {
      const refused = await apply(withCredential(credential))
      assert.equal(refused.status, 400)
      assert.match(mistakesOf(refused), /"path":"channels\.[\w-]+\.credential"/)
    }
    const moved = await apply(text.replace(/url: \S+/, 'url: https://elsewhere.example'))
    assert.equal(moved.status, 400)
    assert.match(mistakesOf(moved), /give it anew for this url/)
    const renewed = withCredential('a-new-secret').replace(/url: \S+/, 'url: https://new.example')
    assert.equal((await apply(renewed)).status, 200)
  })
})
