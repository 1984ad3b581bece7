/**
 * Commands beside a gateway on the same store: real processes of `bin/turnpike`. The gateway follows each
 * change without a restart, all figures agree, and the ledger audit passes meanwhile. The tests wait for a
 * change by asking the gateway; the time limit only ends a failing test.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { eventually } from '../support/eventually.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import { openProgram, type Program, type Serving } from '../support/program.ts'

let sandbox: Sandbox
let program: Program
let gateway: Serving
before(async () => {
  sandbox = await startSandbox()
  program = await openProgram({
    ALPHA_MAIN_KEY: 'vendor-main',
    ALPHA_RESERVE_KEY: 'vendor-reserve',
  })
  gateway = await program.serve()
})
after(async () => {
  await program.close()
  await sandbox.close()
})

function catalogue(inputPrice: number): string {
  return `
vendors:
  alpha: { format: messages, version_header: anthropic-version, default_version: "2023-06-01", credential: x-api-key }
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: ${inputPrice}, output: 15 } }
channels:
  alpha-main: { vendor: alpha, url: "${sandbox.url}/alpha-main", credential: "env:ALPHA_MAIN_KEY", models: [large-1], rank: 0 }
  alpha-reserve: { vendor: alpha, url: "${sandbox.url}/alpha-reserve", credential: "env:ALPHA_RESERVE_KEY", models: [large-1], rank: 1 }
`
}

interface NewAccount {
  readonly name: string
  readonly keyId: string
  readonly key: string
  readonly tokenId: string
  readonly token: string
}

async function newAccount(name: string, ...options: readonly string[]): Promise<NewAccount> {
  await program.json('account', 'create', name, ...options)
  const key = await program.json<{ id: string; key: string }>('key', 'create', name)
  const token = await program.json<{ id: string; token: string }>('token', 'create', name)
  return { name, keyId: key.id, key: key.key, tokenId: token.id, token: token.token }
}

function ask(key: string): Promise<WireAnswer> {
  return post(`${gateway.url}/alpha/v1/messages`, key, {
    model: 'large-1',
    max_tokens: 20,
    messages: [{ role: 'user', content: 'hello' }],
  })
}

async function untilStatus(key: string, status: number): Promise<WireAnswer> {
  return eventually(
    `status ${status}`,
    () => ask(key),
    (answer) => answer.status === status,
  )
}

async function figures(token: string, period = 'day'): Promise<Record<string, unknown>> {
  const answer = await send(`${gateway.url}/v1/usage?period=${period}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(answer.status, 200)
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

function costOf(usage: Record<string, unknown>): number {
  return (usage['usage'] as { cost_usd: number }).cost_usd
}

test('warns on a new store that the catalogue is empty, and says what to do', async () => {
  assert.equal((await send(`${gateway.url}/health`)).status, 503)
  const warnings = async (): Promise<readonly string[]> => {
    await send(`${gateway.url}/health`)
    return gateway.output().match(/.*"level":"warn".*/g) ?? []
  }
  const [warning] = await eventually('it warns', warnings, (lines) => lines.length > 0)
  assert.match(warning ?? '', /catalogue is empty.*turnpike apply/)
})

test('serves a catalogue that is applied while the gateway runs', async () => {
  assert.equal((await send(`${gateway.url}/health`)).status, 503)
  await program.write('catalog.yaml', catalogue(3))
  assert.equal((await program.json('apply', '-f', 'catalog.yaml'))['kind'], 'applied')
  const { key } = await newAccount('first', '--balance', '5')
  await untilStatus(key, 200)
  assert.equal((await send(`${gateway.url}/health`)).status, 200)
})

test('lets the next request through after a credit, and ignores a repeated one', async () => {
  const { key, name, token } = await newAccount('poor')
  await untilStatus(key, 402)
  const credit = ['account', 'credit', name, '2.5', '--reference', 'bank-1']
  assert.equal((await program.json(...credit))['repeated'], false)
  await untilStatus(key, 200)
  assert.equal((await program.json(...credit))['repeated'], true)
  const { balance_usd: balance } = await figures(token)
  assert.ok(Number(balance) < 2.5 && Number(balance) > 2)
})

test('refunds a request by the id that its client has seen', async () => {
  const { key, name, token } = await newAccount('refunded', '--balance', '5')
  const answer = await untilStatus(key, 200)
  const request = String(answer.headers['x-turnpike-request-id'])
  const before = await figures(token)
  const line = ['account', 'refund', request, '--reason', 'wrong answer']
  const refunded = await program.json(...line)
  assert.deepEqual(
    [refunded['request_id'], refunded['account'], refunded['balance_usd']],
    [request, name, '5'],
  )
  assert.equal(Number(refunded['amount_usd']), costOf(before))
  assert.deepEqual(await program.json(...line), { ...refunded, repeated: true })
  const after = await figures(token)
  assert.deepEqual([after['balance_usd'], costOf(after)], [5, 0])
  assert.equal((after['usage'] as { requests: number }).requests, 1)
  const { totals } = await program.json<{ totals: object }>('account', 'statement', name)
  assert.ok('refunded' in totals && totals.refunded === refunded['amount_usd'])
  assert.deepEqual((await program.json('audit'))['differences'], [])
})

test('follows limits up and down', async () => {
  const { key, name, token } = await newAccount('limited', '--balance', '5')
  await untilStatus(key, 200)
  await program.json('account', 'limits', name, '--rpm', '1')
  const refused = await untilStatus(key, 429)
  assert.ok(Number(refused.headers['retry-after']) <= 60)
  await eventually(
    'rpm',
    () => figures(token),
    (usage) => {
      return (usage['limits'] as { rpm: number }).rpm === 1
    },
  )
  await program.json('account', 'limits', name, '--rpm', '0', '--daily', '0.000001')
  const daily = await eventually(
    'the daily limit',
    () => ask(key),
    (answer) => answer.status === 429 && answer.headers['x-should-retry'] === 'false',
  )
  assert.equal(daily.headers['retry-after'], undefined)
  await program.json('account', 'limits', name, '--daily', '0')
  await untilStatus(key, 200)
})

test('refuses a suspended account and serves a resumed one', async () => {
  const { key, name } = await newAccount('paused', '--balance', '5')
  await untilStatus(key, 200)
  await program.json('account', 'suspend', name)
  await untilStatus(key, 403)
  await program.json('account', 'resume', name)
  await untilStatus(key, 200)
})

test('refuses a revoked key or token, and takes a new one', async () => {
  const { key, keyId, name, token, tokenId } = await newAccount('rotating', '--balance', '5')
  await untilStatus(key, 200)
  const next = await program.json<{ key: string }>('key', 'create', name, '--name', 'next')
  await untilStatus(next.key, 200)
  await program.json('key', 'revoke', keyId)
  await untilStatus(key, 401)
  assert.equal((await ask(next.key)).status, 200)

  const readUsage = (secret: string) => (): Promise<WireAnswer> =>
    send(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${secret}` } })
  assert.equal((await readUsage(token)()).status, 200)
  await program.json('token', 'revoke', tokenId)
  await eventually('401', readUsage(token), (answer) => answer.status === 401)
})

test('shows the metrics to an admin token', async () => {
  const { token } = await program.json<{ token: string }>('admin-token', 'create')
  const answer = await eventually(
    'metrics',
    () => send(`${gateway.adminUrl}/metrics`, { headers: { authorization: `Bearer ${token}` } }),
    ({ status }) => status === 200,
  )
  assert.match(answer.body.toString(), /^turnpike_exchanges_total/m)
})

test('sends no request to a disabled channel until it is enabled', async () => {
  const { key } = await newAccount('switched', '--balance', '50')
  const servedBy = async (): Promise<string | undefined> => {
    sandbox.log.clear()
    await ask(key)
    return sandbox.log.records.at(-1)?.channel
  }
  await eventually('the main channel', servedBy, (channel) => channel === 'alpha-main')
  await program.json('channel', 'off', 'alpha-main')
  await eventually('the reserve', servedBy, (channel) => channel === 'alpha-reserve')
  const health = await send(`${gateway.url}/health`)
  assert.equal((JSON.parse(health.body.toString()) as { status: string }).status, 'degraded')
  await program.json('channel', 'off', 'alpha-reserve')
  await untilStatus(key, 503)
  await program.json('channel', 'on', 'alpha-main')
  await eventually('the main channel', servedBy, (channel) => channel === 'alpha-main')
  await program.json('channel', 'on', 'alpha-reserve')
  const listed = await program.json<{ name: string; enabled: boolean }[]>('channel', 'list')
  assert.deepEqual(
    listed.map(({ name, enabled }) => [name, enabled]),
    [
      ['alpha-main', true],
      ['alpha-reserve', true],
    ],
  )
  assert.equal((await program.json('channel', 'check', 'alpha-main'))['ok'], true)
})

test('charges a changed price from the next request on', async () => {
  const { key, token } = await newAccount('priced', '--balance', '50')
  await untilStatus(key, 200)
  const before = costOf(await figures(token))
  await program.write('catalog.yaml', catalogue(3_000))
  assert.equal((await program.json('apply', '-f', 'catalog.yaml'))['kind'], 'applied')
  let seen = before
  const cost = await eventually(
    'the new price',
    async () => {
      assert.equal((await ask(key)).status, 200)
      const now = costOf(await figures(token))
      const difference = now - seen
      seen = now
      return difference
    },
    (difference) => difference > before * 10,
  )
  const [record] = sandbox.log.records.slice(-1)
  const counts = record?.usage?.parts[0]?.counts
  assert.ok(counts !== undefined)
  const expected = (counts.input * 3_000 + counts.output * 15) / 1e6
  assert.ok(Math.abs(cost - expected) < 1e-9, `${cost} is not ${expected}`)
})

test('shows the same usage as the endpoint, for every period', async () => {
  const { key, token, name } = await newAccount('compared', '--balance', '5')
  for (let count = 0; count < 3; count++) await untilStatus(key, 200)
  for (const period of ['day', 'month', 'total']) {
    const shown = await program.json('usage', name, '--period', period)
    assert.deepEqual(shown, await figures(token, period))
  }
})

test('passes audit and doctor while requests run', async () => {
  const { key } = await newAccount('busy', '--balance', '50')
  await untilStatus(key, 200)
  const load = { isOver: false }
  const clients = Array.from({ length: 4 }, async () => {
    let count = 0
    while (!load.isOver) {
      assert.equal((await ask(key)).status, 200)
      count++
    }
    return count
  })
  try {
    for (let round = 0; round < 3; round++) {
      const audit = await program.json<{ clean: boolean; differences: unknown[] }>('audit')
      assert.deepEqual([audit.clean, audit.differences], [true, []])
    }
    const doctor = await program.json('doctor')
    assert.equal(doctor['ok'], true, JSON.stringify(doctor))
  } finally {
    load.isOver = true
  }
  const counts = await Promise.all(clients)
  assert.ok(counts.every((count) => count > 0))
})

test('applies an exported catalogue without a change', async () => {
  const { out, code } = await program.run('export')
  assert.equal(code, 0)
  await program.write('exported.yaml', out)
  assert.equal((await program.json('apply', '-f', 'exported.yaml'))['kind'], 'unchanged')
})

test('ends with 0 on a signal, and the ledger audit passes', async () => {
  assert.equal(await gateway.stop(), 0)
  assert.equal((await program.json('audit'))['clean'], true)
})
