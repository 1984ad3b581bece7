/** What holds for every endpoint: entity tags, hidden secrets, and bounds of a body. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { operatorRoles, type OperatorRole } from '../../src/access/key.ts'
import { allEndpoints, allStreams } from '../../src/operations/all-endpoints.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import {
  createAdminToken,
  createClientKey,
  exportCatalogue,
  listPrices,
} from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { callRow, openWorld } from './world.ts'

const rows = [...allEndpoints, ...allStreams]
const webhook = 'https://hooks.example/alerts'

let gateway: Scenario
const tokens = new Map<OperatorRole, string>()

function row(id: string) {
  const found = rows.find((one) => one.id === id)
  assert.ok(found !== undefined)
  return found
}

function call(
  id: string,
  input: Record<string, unknown>,
  headers: Readonly<Record<string, string>> = {},
  role: OperatorRole = 'owner',
): Promise<WireAnswer> {
  const authorization = `Bearer ${tokens.get(role) ?? ''}`
  return callRow(gateway.adminUrl, row(id), input, { authorization, ...headers })
}

function valueOf(answer: WireAnswer): Record<string, unknown> {
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

function etagOf(answer: WireAnswer): string {
  const etag = String(answer.headers['etag'])
  assert.match(etag, /^"[\w-]{22}"$/)
  return etag
}

function assertRefused(answer: WireAnswer, status: number, code: string, field?: string): void {
  const problem = valueOf(answer)
  assert.equal(answer.status, status, answer.body.toString())
  assert.equal(problem['code'], code)
  if (field === undefined) return
  const fields = (problem['errors'] as { field: string }[]).map((one) => one.field)
  assert.deepEqual(fields, [field])
}

describe('conventions', () => {
  before(async () => {
    gateway = await scenario()
    await openWorld(gateway)
    for (const role of operatorRoles)
      tokens.set(role, (await createAdminToken(gateway.context, { name: role, role })).secret)
  })

  after(() => gateway.close())

  test('a key is changed only as it was read; its use changes nothing about that', async () => {
    const { key, secret } = await createClientKey(gateway.context, { account: 'acme' })
    const { id } = key
    const etag = etagOf(await call('keys.show', { id }))
    await gateway.app.refresh()
    const served = await post(`${gateway.url}/alpha/v1/messages`, secret, messagesRequest())
    assert.equal(served.status, 200)
    const used = await call('keys.show', { id })
    const { total_usd: total } = valueOf(used)['used'] as Readonly<Record<string, unknown>>
    assert.notEqual(total, '0')
    assert.equal(etagOf(used), etag)
    const first = await call('keys.edit', { id, rpm: 10 }, { 'if-match': etag })
    assert.equal(first.status, 200)
    for (const late of [
      await call('keys.edit', { id, rpm: 20 }, { 'if-match': etag }),
      await call('keys.revoke', { id }, { 'if-match': etag }),
    ])
      assertRefused(late, 412, 'operations.precondition_failed')
    const now = await call('keys.show', { id })
    assert.deepEqual([valueOf(now)['rpm'], valueOf(now)['state']], [10, 'active'])
    assert.equal((await call('keys.revoke', { id }, { 'if-match': etagOf(now) })).status, 200)
  })

  test('a dry run of the catalogue says that it has changed since it was read', async () => {
    const shown = await call('catalogue.show', {})
    const text = String(valueOf(shown)['text'])
    const dry = { text, dry_run: true }
    const same = await call('catalogue.apply', dry, { 'if-match': etagOf(shown) })
    assert.equal(valueOf(same)['kind'], 'unchanged')
    const late = await call('catalogue.apply', dry, { 'if-match': '"another"' })
    assertRefused(late, 412, 'operations.precondition_failed')
  })

  test('prices are imported only into the catalogue that was read', async () => {
    const text = JSON.stringify({
      'large-1': { input_cost_per_token: 4e-6, output_cost_per_token: 2e-5 },
    })
    const etag = etagOf(await call('catalogue.show', {}))
    const matched = { 'if-match': etag }
    const planned = await call('prices.import', { text, dry_run: true }, matched)
    assert.equal(valueOf(planned)['kind'], 'would_apply')
    const others = text.replace('0.000004', '0.000005')
    assert.equal(valueOf(await call('prices.import', { text: others }, matched))['kind'], 'applied')
    for (const isDryRun of [true, false]) {
      const late = await call('prices.import', { text, dry_run: isDryRun }, matched)
      assertRefused(late, 412, 'operations.precondition_failed')
    }
    const versions = await listPrices(gateway.context)
    const found = versions.find(({ model, state }) => model === 'large-1' && state === 'in_force')
    assert.equal(found?.price.input, 5)
  })

  test('If-Match is refused wherever it would be ignored', async () => {
    const others = rows.filter((row) => !('read' in row))
    assert.ok(others.length > 30)
    for (const { id, example } of others) {
      const answer = await call(id, example, { 'if-match': '"x"' })
      assertRefused(answer, 400, 'operations.invalid', 'If-Match')
    }
  })

  test('a viewer and an operator see that a credential is sealed, and an owner sees the seal', async () => {
    const text = await exportCatalogue(gateway.context)
    const [sealed = ''] = /sealed:\S+/.exec(text) ?? []
    assert.notEqual(sealed, '')
    for (const role of operatorRoles) {
      const shown = String(valueOf(await call('catalogue.show', {}, {}, role))['text'])
      assert.equal(shown.includes(sealed), role === 'owner', role)
      assert.equal(shown.includes('sealed:'), role === 'owner', role)
      const applied = await call('catalogue.apply', { text: shown, dry_run: true })
      assert.equal(valueOf(applied)['kind'], 'unchanged', applied.body.toString())
    }
  })

  test('a hidden credential keeps the stored one at its address, and stands for nothing else', async () => {
    const text = String(valueOf(await call('catalogue.show', {}, {}, 'operator'))['text'])
    const mistakesOf = async (changed: string): Promise<string> => {
      const answer = await call('catalogue.apply', { text: changed, dry_run: true })
      assert.equal(answer.status, 400, answer.body.toString())
      return JSON.stringify(valueOf(answer)['mistakes'])
    }
    const hidden = /url: (\S+)\n(\s+)credential: "\*\*\*"/
    assert.match(text, hidden)
    const moved = text.replace(hidden, 'url: https://elsewhere.example\n$2credential: "***"')
    assert.match(await mistakesOf(moved), /give it anew for this url/)
    const renamed = text.replace(/^ {2}alpha-main:$/m, '  alpha-other:')
    assert.match(
      await mistakesOf(renamed),
      /keeps the sealed credential of a channel, and this one/,
    )
  })

  test('an alert target has no name that looks like an id, and none twice', async () => {
    for (const name of ['tgt_1', '']) {
      const made = { name, format: 'webhook', address: webhook }
      assertRefused(await call('alerts.create', made), 400, 'operations.invalid', 'name')
    }
    const made = { name: 'firing', format: 'webhook', address: webhook }
    assert.equal((await call('alerts.create', made)).status, 201)
    assertRefused(await call('alerts.create', made), 409, 'operations.conflict')
    assert.equal((await call('alerts.remove', { target: 'firing' })).status, 200)
  })

  test('a closed account gets no key, and still a token to read its figures', async () => {
    await call('accounts.create', { name: 'leaving' })
    await call('accounts.change', { account: 'leaving', status: 'closed' })
    assertRefused(await call('keys.create', { account: 'leaving' }), 409, 'operations.conflict')
    const made = await call('tokens.create', { account: 'leaving' })
    assert.equal(made.status, 201)
    await gateway.app.refresh()
    const authorization = `Bearer ${String(valueOf(made)['secret'])}`
    const figures = await send(`${gateway.url}/v1/usage`, { headers: { authorization } })
    assert.equal(figures.status, 200)
    await call('accounts.change', { account: 'leaving', status: 'active' })
    assert.equal((await call('keys.create', { account: 'leaving' })).status, 201)
  })

  test('JSON of 40,000 levels is refused', async () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const deep = `${open.repeat(40_000)}1${close.repeat(40_000)}`
      const answer = await send(`${gateway.adminUrl}/admin/v1/accounts`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tokens.get('owner') ?? ''}`,
          'content-type': 'application/json',
          'idempotency-key': 'deep',
        },
        body: `{"name":"deep","note":{"a":${deep}}}`,
      })
      assertRefused(answer, 400, 'operations.invalid')
    }
  })
})
