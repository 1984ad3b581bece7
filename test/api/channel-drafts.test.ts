/**
 * What an operator can try of a channel before it is saved, over the admin API and real sockets: which models
 * its vendor lists, one tiny request, a new credential and the former one. Secrets are looked for in all that
 * comes back and all that is logged.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { demoCredentials } from '../../sandbox/demo.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { createAdminToken, recentActions } from '../support/operations.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'

type Body = Readonly<Record<string, unknown>>

describe('channels before they are saved', () => {
  const right = demoCredentials['alpha-main']
  const wrong = 'sk-canary-that-no-vendor-takes'
  const logged: LogLine[] = []
  let gateway: Scenario
  let secret: string

  before(async () => {
    gateway = await scenario({
      sandbox: { credentials: demoCredentials },
      channels: { every: { check: 'none' } },
      settings: { api_credential_variables: 'NOT_SET_HERE' },
      onLogLine: (line) => logged.push(line),
    })
    secret = (await createAdminToken(gateway.context, { name: 'owner' })).secret
  })
  after(() => gateway.close())

  const call = async (route: string, body: Body = {}): Promise<WireAnswer> => {
    const [method = '', path = ''] = route.split(' ')
    return send(`${gateway.adminUrl}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(method !== 'GET' && { body: JSON.stringify(body) }),
    })
  }
  const read = async (route: string, body?: Body, status = 200): Promise<Body> => {
    const answer = await call(route, body)
    const text = answer.body.toString()
    assert.equal(answer.status, status, text)
    assert.ok(!text.includes(right) && !text.includes(wrong), text)
    return JSON.parse(text) as Body
  }
  /** A channel that the catalogue does not have, at the address of one that the vendor knows. */
  const draft = (change: Body = {}) => ({
    channels: {
      fresh: {
        vendor: 'alpha',
        url: `${gateway.sandbox.url}/alpha-main`,
        credential: right,
        ...change,
      },
    },
  })
  const costs = async (): Promise<number> => {
    const rows = await gateway.context.database.query('SELECT COUNT(*) AS n FROM operator_cost')
    return Number(rows[0]?.['n'])
  }
  /** Sends a model request over alpha-main alone and returns its status. */
  const relayed = async (): Promise<number> => {
    const answer = await gateway.ask({ format: 'messages', isStream: false })
    return answer.status
  }

  test('a draft lists the models of its vendor, with what is known of each', async () => {
    const listed = await read('POST /channels/fresh/models', { draft: draft() })
    assert.equal(listed['outcome'], 'ok', JSON.stringify(listed))
    assert.equal(listed['is_complete'], true)
    assert.deepEqual(listed['models'], [
      {
        id: 'large-1',
        model: 'large-1',
        model_vendor: 'alpha',
        proposal: null,
        listed_as: null,
        prices_read_on: null,
      },
      {
        id: 'small-1',
        model: 'small-1',
        model_vendor: 'alpha',
        proposal: null,
        listed_as: null,
        prices_read_on: null,
      },
    ])
    const refused = await read('POST /channels/fresh/models', {
      draft: draft({ credential: wrong }),
    })
    assert.equal(refused['status'], 401)
    assert.deepEqual(refused['models'], [])
  })

  test('a draft sends one request, and nothing is saved or booked', async () => {
    const before = await costs()
    const wanted = draft({
      models: ['large-1', 'new-1'],
      cost: { 'new-1': { input: 1, output: 2 } },
    })
    const models = { 'new-1': { vendor: 'alpha', price: { input: 3, output: 15 } } }
    const tested = await read('POST /channels/fresh/test', {
      draft: { ...wanted, models },
      model: 'new-1',
    })
    const { ok, model, answered_model: answered, status, is_booked: isBooked } = tested
    assert.deepEqual([ok, model, answered, status], [true, 'new-1', 'new-1', 200])
    assert.match(String(tested['cost_usd']), /^0\.0+[1-9]/)
    assert.equal(tested['is_own_cost_known'], true)
    assert.equal(isBooked, false)
    assert.match(String(tested['cost_note']), /not booked/)
    assert.equal(await costs(), before)
    await read('GET /channels/fresh', undefined, 404)
    await read('GET /models/new-1', undefined, 404)
  })

  test('a draft that does not serve says what came back, and moves no health', async () => {
    const refused = await read('POST /channels/alpha-main/test', {
      draft: { channels: { 'alpha-main': { credential: wrong } } },
    })
    assert.equal(refused['ok'], false)
    assert.equal(refused['outcome'], 'config')
    assert.equal(refused['status'], 401)
    assert.deepEqual(refused['error'], { type: 'authentication_error', code: null, param: null })
    assert.equal(gateway.grade('alpha-main', 'large-1'), 'on')
    const closed = draft({ url: 'http://127.0.0.1:1', models: ['large-1'] })
    const gone = await read('POST /channels/fresh/test', { draft: closed })
    assert.deepEqual([gone['ok'], gone['outcome'], gone['status']], [false, 'connect', null])
  })

  test('a stored channel is tested as it is, and its cost is booked', async () => {
    const before = await costs()
    const tested = await read('POST /channels/alpha-main/test')
    assert.equal(tested['ok'], true)
    assert.equal(tested['is_booked'], true)
    assert.equal(await costs(), before + 1)
    const actions = await recentActions(gateway.context, { action: 'channel.test', limit: 1 })
    assert.equal(actions[0]?.subject, 'alpha-main')
  })

  test('a draft obeys the rules for what comes over the network', async () => {
    const mistakesOf = async (change: Body): Promise<readonly unknown[]> => {
      const body = { draft: draft({ models: ['large-1'], ...change }) }
      const problem = await read('POST /channels/fresh/test', body, 400)
      return (problem['errors'] as readonly { field: string }[]).map(({ field }) => field)
    }
    assert.deepEqual(await mistakesOf({ credential: 'env:PATH' }), ['channels.fresh.credential'])
    assert.deepEqual(await mistakesOf({ url: 'http://10.0.0.7:1' }), ['channels.fresh.url'])
    assert.deepEqual(await mistakesOf({ headers: { 'x-a': 'file:/etc/passwd' } }), [
      'channels.fresh.headers.x-a',
    ])
    assert.deepEqual(await mistakesOf({ models: ['none-1'] }), ['channels.fresh.models.0'])
    const unset = draft({ models: ['large-1'], credential: 'env:NOT_SET_HERE' })
    const unsent = await read('POST /channels/fresh/test', { draft: unset })
    assert.equal(unsent['outcome'], 'not_sent')
    assert.match(String(unsent['reason']), /NOT_SET_HERE .* is not set/)
    await read('POST /channels/none/test', {}, 404)
    await read('POST /channels/alpha-main/test', { model: 'chat-1' }, 400)
  })

  test('a credential that does not serve is not saved, unless the operator insists', async () => {
    assert.equal(await relayed(), 200)
    const path = '/channels/alpha-main/credential'
    const problem = await read(`PUT ${path}`, { credential: wrong }, 409)
    assert.equal(problem['code'], 'operations.credential_refused')
    assert.match(String(problem['detail']), /config \(status 401, authentication_error\)/)
    assert.equal((problem['test'] as Body)['status'], 401)
    const forced = await read(`PUT ${path}`, { credential: wrong, force: true })
    assert.equal(forced['kind'], 'applied')
    assert.equal(forced['test'], null)
    assert.equal((forced['former_credential'] as Body)['credential'], 'sealed')
    const shown = await read('GET /channels/alpha-main')
    assert.equal(shown['credential_set_at'], forced['credential_set_at'])
    assert.equal((shown['entry'] as Body)['credential'], '***')
    assert.deepEqual(shown['former_credential'], forced['former_credential'])
  })

  test('the former credential is taken back once, and acts on the next request', async () => {
    const path = '/channels/alpha-main/credential'
    const restored = await read(`POST ${path}/restore`)
    assert.equal(restored['kind'], 'applied')
    assert.equal(restored['former_credential'], null)
    assert.equal((await read('POST /channels/alpha-main/test'))['ok'], true)
    await read(`POST ${path}/restore`, {}, 404)
    const same = await read(`PUT ${path}`, { credential: right })
    assert.deepEqual([same['kind'], same['former_credential']], ['unchanged', null])
    assert.equal((same['test'] as Body)['ok'], true)
  })

  test('a former credential stays with its address', async () => {
    const path = '/channels/beta-main/credential'
    await read(`PUT ${path}`, { credential: wrong, force: true })
    const elsewhere = { url: `${gateway.sandbox.url}/elsewhere`, credential: right }
    await read('PATCH /channels/beta-main', elsewhere)
    const kept = (await read('GET /channels/beta-main'))['former_credential'] as Body
    assert.equal(kept['credential'], 'sealed')
    const back = { url: `${gateway.sandbox.url}/beta-main`, credential: 'sk-third-canary' }
    await read('PATCH /channels/beta-main', back)
    await read(`POST ${path}/restore`, {}, 409)
  })

  test('a secret in the wrong field of an entry is not said again', async () => {
    const canary = `sk-ant-api03-${'Zq8Xw3Rt5Yu7'.repeat(6)}_AA`
    const forms = await read('GET /catalogue/fields')
    const names = { vendors: 'alpha', models: 'large-1', channels: 'alpha-main' } as const
    const values = [canary, [canary], { [canary]: canary }, { [canary]: { [canary]: 1 } }]
    const patches = Object.entries(names).flatMap(([section, name]) =>
      (forms[section] as readonly { readonly key: string }[]).flatMap(({ key }) =>
        values.map((value) => ({ section, name, key, patch: { [key]: value } })),
      ),
    )
    const refused: string[] = []
    for (const { section, name, key, patch } of patches) {
      const answers = [
        await call(`PATCH /${section}/${name}?dry_run=true`, patch),
        await call('PATCH /catalogue?dry_run=true', { [section]: { [name]: patch } }),
      ]
      for (const { status, body } of answers) {
        const text = body.toString()
        assert.ok([200, 400].includes(status), text)
        // What a field takes as its value is shown in the diff, but for a credential.
        if (status === 200 && key !== 'credential') continue
        assert.ok(!text.includes(canary.slice(13, 40)), `${section} ${key}: ${text}`)
        refused.push(key)
      }
    }
    assert.ok(refused.length > 200, `${refused.length} were refused`)
  })

  test('no secret is in a log line or in the log of actions', async () => {
    const actions = await recentActions(gateway.context, { limit: 1_000 })
    const text = JSON.stringify([logged, actions])
    for (const hidden of [right, wrong, 'sk-third-canary', secret])
      assert.ok(!text.includes(hidden), hidden)
  })
})
