/**
 * The request log: whatever a known caller asks for is found by its id, charged or refused, and listed by
 * every filter. On PostgreSQL two gateways share the store, and the list shows the requests of both.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import { changeAccount, createClientKey, listRequests, showRequest } from '../support/operations.ts'
import { chatPath, messagesPath, messagesRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import type { RequestInFull } from '../../src/operations/requests/view.ts'

const countPath = '/alpha/v1/messages/count_tokens'

let one: Scenario
let two: Scenario
let account: TestAccount

function idOf(answer: WireAnswer): string {
  return String(answer.headers['x-turnpike-request-id'])
}

/** Resolves with the record of an answer, once it is in the store. */
function recordOf(id: string): Promise<RequestInFull> {
  const find = (): Promise<RequestInFull | undefined> =>
    showRequest(one.context, { request: id }).catch(() => undefined)
  return eventually(id, find, (found) => found !== undefined) as Promise<RequestInFull>
}

function ask(fields: object = {}, key = account.key, gateway = one): Promise<WireAnswer> {
  return post(gateway.url + messagesPath, key, messagesRequest({ ...fields }))
}

// In a suite, so that the gateways close before the store's server.
describe('the request log', () => {
  before(async () => {
    one = await scenario({ channels: { every: { check: 'none' } } })
    // SQLite has one gateway to a store.
    two = one.storeUrl.startsWith('sqlite:')
      ? one
      : await scenario({ channels: { every: { check: 'none' } }, storeUrl: one.storeUrl })
    account = await one.createAccount()
    await two.app.refresh()
  })
  after(async () => {
    if (two !== one) await two.close()
    await one.close()
  })

  describe('a request of a known caller', () => {
    test('that was answered is found by its id and by the vendor’s', async () => {
      const answer = await ask()
      assert.equal(answer.status, 200, answer.text)
      const shown = await recordOf(idOf(answer))
      assert.equal(shown.id, idOf(answer))
      assert.equal(shown.account, account.name)
      assert.equal(shown.key, 'test')
      assert.equal(shown.outcome, 'completed')
      assert.equal(shown.status, 200)
      assert.equal(shown.channel, 'alpha-main')
      assert.equal(shown.stream, false)
      assert.equal(shown.requests, 1)
      assert.equal(shown.attempt_count, 1)
      assert.equal(shown.charge_explanation, 'The account paid for the whole answer.')
      assert.equal(shown.error, null)
      const { items } = await listRequests(one.context, { account: account.id })
      assert.equal(items[0]?.key, 'test')
      assert.equal(shown.vendor_request_id, answer.headers['request-id'])
      assert.equal(shown.finish_reason, 'max_tokens')
      assert.ok(Number(shown.cost_usd) > 0)
      assert.equal(shown.tokens['input'], shown.input_tokens)
      assert.match(shown.bill?.calculation ?? '', / input × 0\.000003 \+ /)
      assert.deepEqual(await showRequest(one.context, { request: shown.vendor_request_id }), shown)
    })

    const refusals: readonly (readonly [string, () => Promise<WireAnswer>, object])[] = [
      [
        'for its balance',
        async () => ask({}, (await one.createAccount({ balance_usd: '0.0000001' })).key),
        { status: 402, code: 'ledger.insufficient_balance', model: 'large-1' },
      ],
      [
        'for its body',
        () => ask({ messages: 7 }),
        { status: 400, code: 'relay.request_invalid', model: null, operation: 'messages.create' },
      ],
      [
        'for its model',
        () => ask({ model: 'none' }),
        { status: 404, code: 'relay.model_unknown', model: null },
      ],
      [
        'for its path',
        () => post(`${one.url}/alpha/v1/nothing`, account.key, '{}'),
        { status: 404, code: 'http.not_found', operation: null },
      ],
      [
        'for its key',
        () => ask({}, account.token),
        { status: 403, code: 'access.credential_wrong_kind' },
      ],
      [
        'for its allowance',
        async () => {
          const hurried = await one.createAccount({ rpm: 1 })
          await ask({}, hurried.key)
          return ask({}, hurried.key)
        },
        { status: 429, code: 'access.rate_limited', model: 'large-1' },
      ],
      [
        'because its account is suspended',
        async () => {
          const stopped = await one.createAccount()
          await changeAccount(one.context, { account: stopped.name, status: 'suspended' })
          await one.app.refresh()
          return ask({}, stopped.key)
        },
        { status: 403, code: 'access.account_suspended' },
      ],
    ]
    for (const [why, request, expected] of refusals)
      test(`that was refused ${why} is found`, async () => {
        const answer = await request()
        const shown = await recordOf(idOf(answer))
        assert.partialDeepStrictEqual(shown, { ...expected, vendor: 'alpha' })
        assert.equal(shown.status, answer.status)
        assert.equal(shown.outcome, 'not_admitted')
        assert.equal(shown.cost_usd, '0')
        assert.deepEqual([shown.attempts, shown.bill, shown.channel], [[], null, null])
      })

    test('that costs nothing is found', async () => {
      const { max_tokens: _, ...body } = messagesRequest() as { max_tokens: number }
      const counted = await send(one.url + countPath, {
        method: 'POST',
        headers: {
          'x-api-key': account.key,
          'content-type': 'application/json',
          'user-agent': 'curl/8.5.0 (canary)',
        },
        body: JSON.stringify(body),
      })
      assert.equal(counted.status, 200, counted.text)
      const shown = await recordOf(idOf(counted))
      assert.doesNotMatch(JSON.stringify(shown), /canary|curl\/8/)
      assert.deepEqual(
        shown.attempts.map(({ channel, status }) => [channel, status]),
        [['alpha-main', 200]],
      )
      assert.partialDeepStrictEqual(shown, {
        client: 'curl',
        address: 'ipv4',
        operation: 'messages.count_tokens',
        model: 'large-1',
        channel: 'alpha-main',
        outcome: 'completed',
        status: 200,
        code: null,
        cost_usd: '0',
      })
      const headers = { 'x-api-key': account.key }
      const list = await send(`${one.url}/alpha/v1/models`, { headers })
      assert.partialDeepStrictEqual(await recordOf(idOf(list)), {
        operation: 'models.list',
        outcome: 'completed',
        status: 200,
      })
      const none = await send(`${one.url}/alpha/v1/models/none`, { headers })
      assert.partialDeepStrictEqual(await recordOf(idOf(none)), {
        operation: 'models.get',
        status: 404,
        code: 'relay.model_unknown',
      })
    })

    test('that no channel answers is found once', async () => {
      const request = { format: 'messages', isStream: false, key: account.key } as const
      const answer = await one.ask({ ...request, sandbox: 'status=503' })
      const shown = await recordOf(idOf(answer))
      assert.deepEqual([shown.outcome, shown.status], ['failed', answer.status])
      assert.equal(shown.operation, 'messages.create')
      one.resetHealth()
      const { items } = await listRequests(one.context, { account: account.name, limit: 1000 })
      assert.equal(items.filter(({ id }) => id === shown.id).length, 1)
    })
  })

  test('a caller whom nobody knows leaves no record', async () => {
    const answer = await ask({}, 'cr_unknown')
    assert.equal(answer.status, 401)
    // The next refusal is written after it.
    await recordOf(idOf(await ask({ messages: 7 })))
    await assert.rejects(showRequest(one.context, { request: idOf(answer) }), /There is no request/)
  })

  describe('the list', () => {
    let own: TestAccount
    let keyId: string
    const sent: Record<string, string> = {}
    before(async () => {
      own = await one.createAccount()
      const { key, secret } = await createClientKey(one.context, {
        account: own.name,
        name: 'other',
      })
      keyId = key.id
      await two.app.refresh()
      const ask3 = { large: {}, small: { model: 'small-1' }, invalid: { messages: 7 } }
      for (const [name, fields] of Object.entries(ask3))
        sent[name] = idOf(await ask(fields, own.key, name === 'small' ? two : one))
      sent['other'] = idOf(await ask({}, secret, two))
      const chat = { model: 'chat-1', messages: [{ role: 'user', content: 'hello' }] }
      sent['chat'] = idOf(await post(two.url + chatPath, own.key, chat))
      sent['unknown'] = idOf(await ask({ model: 'none' }, own.key, two))
      for (const id of Object.values(sent)) await recordOf(id)
    })

    const list = async (filter: object = {}): Promise<readonly string[]> => {
      const input = { account: own.name, ...filter }
      const { items } = await listRequests(one.context, input)
      const names = new Map(Object.entries(sent).map(([name, id]) => [id, name]))
      return items.map(({ id }) => names.get(id) ?? id)
    }

    test('has the requests of all gateways, the newest first', async () => {
      assert.deepEqual(await list(), ['unknown', 'chat', 'other', 'invalid', 'small', 'large'])
      assert.deepEqual(await list({ account: own.id }), await list())
      const all = await listRequests(one.context, {})
      assert.ok(all.items.some(({ account: name }) => name !== own.name))
      assert.deepEqual(
        all.items.slice(0, 6).map(({ id }) => id),
        ['unknown', 'chat', 'other', 'invalid', 'small', 'large'].map((name) => sent[name]),
      )
    })

    test('filters by key, model, channel, status, code and time', async () => {
      assert.deepEqual(await list({ key: keyId }), ['other'])
      assert.deepEqual(await list({ account: undefined, key: keyId }), ['other'])
      assert.deepEqual(await list({ model: 'small-1' }), ['small'])
      assert.deepEqual(await list({ channel: 'beta-main' }), ['chat'])
      assert.deepEqual(await list({ status: 404 }), ['unknown'])
      assert.deepEqual(await list({ status: '4xx' }), ['unknown', 'invalid'])
      assert.deepEqual(await list({ status: '2xx', model: 'large-1' }), ['other', 'large'])
      assert.deepEqual(await list({ code: 'relay.request_invalid' }), ['invalid'])
      const { started_at: from } = await showRequest(one.context, { request: sent['chat'] })
      assert.deepEqual(await list({ from }), ['unknown', 'chat'])
      assert.deepEqual(await list({ to: from }), ['other', 'invalid', 'small', 'large'])
      assert.deepEqual(await list({ from: '2000-01-01', to: '2000-01-02' }), [])
    })

    test('pages through both kinds of records', async () => {
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const input = { account: own.name, limit: 2, ...(cursor !== null && { cursor }) }
        const page: Awaited<ReturnType<typeof listRequests>> = await listRequests(
          one.context,
          input,
        )
        seen.push(...page.items.map(({ id }) => id))
        cursor = page.next_cursor
      } while (cursor !== null)
      assert.equal(seen.length, 6)
      assert.deepEqual(new Set(seen), new Set(Object.values(sent)))
    })

    test('refuses what no filter can be', async () => {
      const wrong = [
        [{ status: 'bad' }, /status: must be a status/],
        [{ code: 'nothing' }, /code: must be a code/],
        [{ key: 'key_none' }, /There is no key/],
        [{ account: 'none' }, /no account/i],
        [{ from: '2026-02-01', to: '2026-01-01' }, /to: must be after/],
        [{ other: 1 }, /other/],
      ] as const
      for (const [filter, message] of wrong)
        await assert.rejects(listRequests(one.context, filter), message)
    })
  })

  test('a flood of refusals leaves few rows that count all of them', async () => {
    const flooding = await one.createAccount({ balance_usd: '0.0000001' })
    const count = 300
    const answers: WireAnswer[] = []
    for (let sent = 0; sent < count; sent += 50)
      answers.push(...(await Promise.all(Array.from({ length: 50 }, () => ask({}, flooding.key)))))
    assert.ok(answers.every(({ status }) => status === 402))
    const read = async () => (await listRequests(one.context, { account: flooding.name })).items
    const items = await eventually('all are counted', read, (found) => {
      return found.reduce((sum, { requests }) => sum + requests, 0) === count
    })
    // The minute of the log may have begun again.
    assert.ok(items.length <= 2 * 21, `${items.length} rows`)
  })

  test('what waits is written when the gateway stops', async () => {
    const gateway = await scenario({})
    const answer = await post(gateway.url + messagesPath, gateway.account.key, '{')
    await gateway.app.drain(1_000)
    const shown = await showRequest(gateway.context, { request: idOf(answer) })
    assert.equal(shown.code, 'relay.request_invalid')
    await gateway.close()
  })
})
