/** The admin API over real sockets: answers, refusals as problem details, and what hostile clients send. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
let token: string

before(async () => {
  gateway = await scenario()
  token = (await createAdminToken(gateway.context, { name: 'test' })).secret
})

after(() => gateway.close())

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

function call(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return send(`${gateway.adminUrl}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
}

function valueOf(answer: WireAnswer): Record<string, unknown> {
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

function assertProblem(answer: WireAnswer, status: number, code: string): Record<string, unknown> {
  const problem = valueOf(answer)
  assert.equal(answer.status, status, answer.body.toString())
  assert.equal(answer.headers['content-type'], 'application/problem+json')
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(problem['status'], status)
  assert.equal(problem['code'], code)
  assert.equal(problem['request_id'], answer.headers['x-turnpike-request-id'])
  return problem
}

test('an account is created, shown, changed and credited', async () => {
  const created = await call('/accounts', {
    method: 'POST',
    body: JSON.stringify({ name: 'acme/north', balance_usd: '1.5' }),
  })
  assert.equal(created.status, 201, created.body.toString())
  const account = valueOf(created)
  assert.equal(account['balance_usd'], '1.5')
  const path = `/accounts/${encodeURIComponent('acme/north')}`
  const shown = valueOf(await call(path))
  assert.partialDeepStrictEqual(shown, account)
  assert.partialDeepStrictEqual(shown, { held_usd: '0', available_usd: '1.5' })
  const credited = await call(`${path}/credits`, {
    method: 'POST',
    body: JSON.stringify({ amount_usd: '0.000000000001', reference: 'r1' }),
  })
  assert.equal(valueOf(credited)['balance_usd'], '1.500000000001')
  const changed = await call(path, { method: 'PATCH', body: '{"rpm": 7}' })
  assert.equal((valueOf(changed)['limits'] as { rpm: number }).rpm, 7)
})

test('the first page ends with a cursor that leads to the rest', async () => {
  for (const name of ['page-a', 'page-b', 'page-c'])
    await call('/accounts', { method: 'POST', body: JSON.stringify({ name }) })
  const first = valueOf(await call('/accounts?limit=2'))
  assert.equal((first['items'] as unknown[]).length, 2)
  const names = (page: Record<string, unknown>): unknown[] =>
    (page['items'] as { name: string }[]).map(({ name }) => name)
  const rest = valueOf(await call(`/accounts?cursor=${String(first['next_cursor'])}`))
  assert.ok(names(rest).includes('page-c'))
  assert.equal(rest['next_cursor'], null)
  assert.deepEqual(
    names(first).filter((name) => names(rest).includes(name)),
    [],
  )
})

test('a statement is streamed as JSON and as CSV', async () => {
  const { name } = gateway.account
  const json = await call(`/accounts/${name}/statement`)
  assert.equal(json.headers['content-type'], 'application/json')
  assert.equal((valueOf(json)['entries'] as unknown[]).length, 1)
  const csv = await call(`/accounts/${name}/statement?format=csv`)
  assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8')
  assert.match(csv.body.toString(), /^at,kind,amount_usd,/)
  assertProblem(await call('/accounts/nobody-here/statement'), 404, 'operations.not_found')
})

test(
  'HEAD of a statement answers and holds no snapshot of the store',
  { timeout: 60_000 },
  async () => {
    const name = 'head-of-statement'
    await call('/accounts', { method: 'POST', body: JSON.stringify({ name }) })
    for (let number = 0; number < 10; number++)
      await call(`/accounts/${name}/credits`, {
        method: 'POST',
        body: JSON.stringify({ amount_usd: '1', reference: `r${number}` }),
      })
    const head = await call(`/accounts/${name}/statement?format=csv`, { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.headers['content-type'], 'text/csv; charset=utf-8')
    assert.equal(head.body.length, 0)
    // On SQLite an open snapshot would keep every later question waiting.
    assert.equal((await call('/accounts')).status, 200)
    assert.equal((await call('/accounts/nobody-here/statement', { method: 'HEAD' })).status, 404)
  },
)

test('a statement that cannot go on ends its connection, so it never looks complete', async () => {
  const { id, name } = gateway.account
  const atMs = Date.parse('2020-01-01T12:00:00Z')
  const exchangeId = newId('ex', atMs)
  await gateway.context.database.transact(async (transaction) => {
    await transaction.query(
      `INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream, channel,
         started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage, marks, price_lines,
         operator_cost_picos)
       VALUES ($1, $2, 'key_x', 'alpha', 'large-1', 'messages.create', 0, 'alpha-main', $3, $3, 'completed',
         200, 1, 1, NULL, '', 'unreadable', 0)`,
      [id, exchangeId, atMs],
    )
    await transaction.query(
      `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
       VALUES ($1, 'charge', $2, -1, $3)`,
      [id, exchangeId, atMs],
    )
  })
  for (const format of ['csv', 'json']) {
    const path = `/accounts/${name}/statement?format=${format}`
    // The connection may end before the head of the answer has left the process.
    const answer = await call(path).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') return undefined
      throw error
    })
    assert.notEqual(answer?.isComplete, true)
    assert.doesNotMatch(answer?.text ?? '', /Error|unreadable/)
  }
})

test(
  'a client that reads a statement slowly keeps no one waiting',
  { timeout: 120_000 },
  async () => {
    const name = 'much-credited'
    const { id } = valueOf(
      await call('/accounts', { method: 'POST', body: JSON.stringify({ name }) }),
    )
    await gateway.context.database.query(
      `INSERT INTO entry (account_id, kind, reference, amount_picos, input_hash, note, created_at_ms)
     WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < 20000)
     SELECT $1, 'credit', 'r' || value, 1, '', $2, value FROM number`,
      [String(id), 'long '.repeat(100)],
    )
    const socket = connect(Number(new URL(gateway.adminUrl).port), '127.0.0.1')
    socket.write(
      `GET /admin/v1/accounts/${name}/statement HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`,
    )
    await once(socket, 'readable')
    // Reads nothing more: the statement waits, and holds its snapshot.
    assert.equal((await call('/accounts')).status, 200)
    // It was not cut off for that: the rest comes.
    const statement = await text(socket)
    assert.match(statement, /"reference": ?"r20000"[^]*\r\n0\r\n\r\n$/)
  },
)

test('refusals are problem details that name the fields', async () => {
  const wrong = await call('/accounts', {
    method: 'POST',
    body: '{"name":"x","balance_usd":"-1","nmae":"y"}',
  })
  const strange = assertProblem(wrong, 400, 'operations.invalid')
  assert.deepEqual(
    (strange['errors'] as { field: string }[]).map(({ field }) => field),
    ['nmae'],
  )
  const value = assertProblem(
    await call('/accounts', { method: 'POST', body: '{"name":"x","balance_usd":"-1"}' }),
    400,
    'operations.invalid',
  )
  assert.deepEqual(
    (value['errors'] as { field: string }[]).map(({ field }) => field),
    ['balance_usd'],
  )
  for (const query of ['?limt=3', '?limit=3&limit=4', '?limit=0', '?cursor=%00'])
    assertProblem(await call(`/accounts${query}`), 400, 'operations.invalid')
  assertProblem(await call('/accounts/none-such'), 404, 'operations.not_found')
  assertProblem(await call('/nothing'), 404, 'http.not_found')
  const deleted = await call('/accounts', { method: 'DELETE' })
  assertProblem(deleted, 405, 'http.method_not_allowed')
  assert.equal(deleted.headers['allow'], 'GET, HEAD, POST')
})

test('a body must be one JSON object without repeated names', async () => {
  const post = (body: string, headers = {}) => call('/accounts', { method: 'POST', body, headers })
  assertProblem(await post('{"name":'), 400, 'http.malformed')
  assertProblem(await post('[]'), 400, 'operations.invalid')
  assertProblem(await post('{"name":"a","n\\u0061me":"b"}'), 400, 'operations.invalid')
  assertProblem(await post('{"name":"a\\u0000b"}'), 400, 'operations.invalid')
  const plain = { 'content-type': 'text/plain' }
  assertProblem(await post('{"name":"a"}', plain), 415, 'http.unsupported_media_type')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  assertProblem(await post('name=a', form), 415, 'http.unsupported_media_type')
  assertProblem(
    await post('{"name":"a"}', { 'content-encoding': 'gzip' }),
    415,
    'http.unsupported_media_type',
  )
  assertProblem(await post(`{"name":"${'a'.repeat(5_000_000)}"}`), 413, 'http.body_too_large')
})

test('a cookie is no credential, and a page of another origin gets no permission', async () => {
  const answer = await call('/accounts', {
    method: 'POST',
    body: '{"name":"by cookie"}',
    headers: { authorization: '', cookie: `token=${token}`, origin: 'https://evil.example' },
  })
  assertProblem(answer, 401, 'access.credential_invalid')
  assert.equal(answer.headers['access-control-allow-origin'], undefined)
  const preflight = await call('/accounts', {
    method: 'OPTIONS',
    headers: { authorization: '', origin: 'https://evil.example' },
  })
  assert.equal(preflight.headers['access-control-allow-origin'], undefined)
})

/** Sends these bytes and reads until the connection ends. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(gateway.adminUrl).port), '127.0.0.1')
    let text = ''
    socket.on('data', (piece) => (text += piece.toString()))
    // The server closes while bytes are still on their way.
    socket.on('error', () => resolve(text))
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}

test('tricks with the path lead nowhere', async () => {
  for (const target of [
    '/admin/v1/../../metrics',
    '/admin/v1//accounts',
    '/admin/v1/accounts/%2e%2e/channels',
    '/admin\\v1/accounts',
    '/admin/v1/accounts/%ff',
    '/admin/v1/accounts/%00',
    'http://127.0.0.1/admin/v1/accounts',
    '*',
  ]) {
    const answer = await exchange(
      `GET ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 400 /, target)
    assert.match(answer, /application\/problem\+json/, target)
  }
  const slash = await call('/accounts/')
  assertProblem(slash, 404, 'http.not_found')
})

test('what is no request is refused, and too many headers are', async () => {
  assert.match(await exchange('HELLO\r\n\r\n'), /^HTTP\/1\.1 400 .*problem\+json/s)
  const flood = Array.from({ length: 3_000 }, (_, index) => `x-${index}: ${'y'.repeat(40)}`)
  const answer = await exchange(`GET /livez HTTP/1.1\r\nhost: x\r\n${flood.join('\r\n')}\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 431 .*problem\+json/s)
  const both = 'POST /admin/v1/accounts HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n'
  assert.match(await exchange(`${both}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`), / 400 /)
})
