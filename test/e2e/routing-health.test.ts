/** What `/health` says while channels are off, while the store is out, and to whom it says it. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { healthStatus } from '../../src/api/health.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { type Scenario, scenario, type ScenarioOptions } from '../support/scenario.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import { applyCatalogue, switchChannel } from '../support/operations.ts'

async function start(t: TestContext, options: ScenarioOptions = {}): Promise<Scenario> {
  const gateway = await scenario(options)
  t.after(() => gateway.close())
  return gateway
}

interface Health {
  readonly status: string
  readonly region: string
  readonly upstreams: readonly string[]
  readonly ts: string
}

async function health(gateway: Scenario): Promise<readonly [status: number, body: Health]> {
  const answer = await send(`${gateway.url}/health`)
  return [answer.status, JSON.parse(answer.body.toString()) as Health]
}

async function switchOff(gateway: Scenario, ...channels: readonly string[]): Promise<void> {
  for (const channel of channels)
    await switchChannel(gateway.context, { channel, override: 'disabled' })
  await gateway.app.refresh()
}

test('a gateway with healthy channels is ok, in the specified shape and without a key', async (t) => {
  const gateway = await start(t, { settings: { region: 'eu-1' } })
  const before = Date.now()
  const [status, body] = await health(gateway)
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['status', 'region', 'upstreams', 'ts'])
  assert.deepEqual([body.status, body.region, body.upstreams], ['ok', 'eu-1', ['alpha', 'beta']])
  assert.match(body.ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.ok(Date.parse(body.ts) >= before && Date.parse(body.ts) <= Date.now())
})

test('HEAD gets the head of the same answer; a query changes nothing', async (t) => {
  const gateway = await start(t)
  const head: WireAnswer = await send(`${gateway.url}/health`, { method: 'HEAD' })
  const get = await send(`${gateway.url}/health?verbose=1`)
  assert.equal(get.status, 200)
  assert.equal(head.status, 200)
  assert.equal(head.body.length, 0)
  for (const name of ['content-type', 'content-length', 'cache-control'])
    assert.equal(head.headers[name], get.headers[name], name)
  assert.equal(get.headers['cache-control'], 'no-store')
})

test('the operator listener reports liveness and readiness, each with a request id', async (t) => {
  const gateway = await start(t)
  for (const [path, status] of [
    ['/livez', 'alive'],
    ['/readyz', 'ready'],
  ] as const) {
    const answer = await send(gateway.adminUrl + path)
    assert.equal(answer.status, 200)
    assert.deepEqual(JSON.parse(answer.body.toString()), { status })
    assert.match(String(answer.headers['x-turnpike-request-id']), /^ex_\w{26}$/)
  }
})

test('a reserve in place of a main channel is degraded, and its main channel back is ok', async (t) => {
  const gateway = await start(t)
  await switchOff(gateway, 'alpha-main')
  assert.deepEqual(await statusOf(gateway), [200, 'degraded'])
  const account = await gateway.createAccount()
  const answer = await post(gateway.url + messagesPath, account.key, messagesRequest())
  assert.equal(answer.status, 200, 'the reserve serves')
  await switchChannel(gateway.context, { channel: 'alpha-main', override: 'enabled' })
  await gateway.app.refresh()
  assert.deepEqual(await statusOf(gateway), [200, 'ok'])
})

async function statusOf(gateway: Scenario): Promise<readonly [number, string]> {
  const [status, body] = await health(gateway)
  return [status, body.status]
}

test('a lost reserve alone does not degrade the status', async (t) => {
  const gateway = await start(t)
  await switchOff(gateway, 'alpha-reserve', 'beta-reserve')
  assert.deepEqual(await statusOf(gateway), [200, 'ok'])
})

test('one vendor without a usable channel is degraded, all of them down with a 503', async (t) => {
  const gateway = await start(t)
  await switchOff(gateway, 'alpha-main', 'alpha-reserve')
  assert.deepEqual(await statusOf(gateway), [200, 'degraded'])
  await switchOff(gateway, 'beta-main', 'beta-reserve')
  assert.deepEqual(await statusOf(gateway), [503, 'down'])
  const [, body] = await health(gateway)
  assert.deepEqual(body.upstreams, ['alpha', 'beta'])
})

test('a vendor without models is not judged, and nothing but such vendors is down', async (t) => {
  const gateway = await start(t)
  const apply = async (text: string): Promise<void> => {
    assert.equal((await applyCatalogue(gateway.context, { text: text })).kind, 'applied')
    await gateway.app.refresh()
  }
  const spare = 'vendors: { spare: { format: chat } }\n'
  const models = 'models: { large-1: { vendor: alpha } }\n'
  const channels = `channels:
  alpha-main: { vendor: alpha, url: "${gateway.sandbox.url}/alpha-main", credential: k, models: [large-1] }
`
  await apply(spare + models + channels)
  assert.deepEqual(await statusOf(gateway), [200, 'ok'])
  const [, body] = await health(gateway)
  assert.deepEqual(body.upstreams, ['alpha', 'spare'])
  await apply(
    `${spare}models: { large-1: { vendor: alpha }, unpriced: { vendor: spare } }\n${channels}`,
  )
  assert.deepEqual(await statusOf(gateway), [200, 'degraded'])
  await apply(`${spare}models: {}\nchannels: {}`)
  assert.deepEqual(await statusOf(gateway), [503, 'down'])
})

test('a main channel that refuses its credential is degraded as soon as that is known', async (t) => {
  const gateway = await start(t)
  const account = await gateway.createAccount()
  gateway.sandbox.faults.set('alpha-main', 'error=401')
  const answer = await post(gateway.url + messagesPath, account.key, messagesRequest())
  assert.equal(answer.status, 200)
  assert.deepEqual(await statusOf(gateway), [200, 'degraded'])
})

test('vendors that rest are not down: requests are still served', async (t) => {
  const gateway = await start(t)
  const { key } = await gateway.createAccount()
  const askAll = async (): Promise<ReadonlySet<number>> => {
    const statuses = new Set<number>()
    for (const { id, vendor } of gateway.app.snapshot().models.values()) {
      const [path, body] =
        vendor === 'alpha'
          ? [messagesPath, messagesRequest({ model: id })]
          : id === 'embed-1'
            ? ['/beta/v1/embeddings', { model: id, input: 'hello' }]
            : [chatPath, chatRequest({ model: id })]
      statuses.add((await post(gateway.url + path, key, body)).status)
    }
    return statuses
  }
  for (const channel of ['alpha-main', 'alpha-reserve', 'beta-main', 'beta-reserve'])
    gateway.sandbox.faults.set(channel, 'error=429; retry_after=300')
  assert.deepEqual(await askAll(), new Set([429]))
  assert.deepEqual(await statusOf(gateway), [200, 'degraded'])
  gateway.sandbox.faults.clear()
  assert.deepEqual(await askAll(), new Set([200]))
  assert.deepEqual(await statusOf(gateway), [200, 'degraded'])
})

test('a gateway that cannot store charges is down', async (t) => {
  const { app } = await start(t)
  const status = (isAvailable: boolean): string =>
    healthStatus(app.snapshot(), { health: app.health, isStoreAvailable: () => isAvailable })
  assert.equal(status(true), 'ok')
  assert.equal(status(false), 'down')
})

test('the health endpoint sends no request to a vendor', async (t) => {
  const gateway = await start(t)
  for (let count = 0; count < 20; count++) await statusOf(gateway)
  assert.equal(gateway.sandbox.log.records.length + gateway.sandbox.log.strayCount, 0)
})
