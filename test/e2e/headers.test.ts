/**
 * Which headers pass the gateway, seen on both wires. The vendor is scripted, so that its headers
 * can be anything; requests go out raw where a library would not send them.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { demoCatalogue, demoCredentials } from '../../sandbox/demo.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { connectRaw, post, send, type RawAnswer, type WireAnswer } from '../support/http-client.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ vendors: 'scripted', catalogue: catalogueText })
after(() => gateway.close())
const { scripted: vendor, account } = gateway

/** The demo's, with a vendor of the messages format that has neither version header nor default. */
function catalogueText(url: string): string {
  const catalogue = demoCatalogue(url)
  const { 'alpha-main': main } = catalogue.channels
  return JSON.stringify({
    vendors: { ...catalogue.vendors, gamma: { format: 'messages', credential: 'bearer' } },
    models: { ...catalogue.models, 'gamma-1': { ...catalogue.models['large-1'], vendor: 'gamma' } },
    channels: {
      ...catalogue.channels,
      'gamma-main': { ...main, vendor: 'gamma', models: ['gamma-1'] },
    },
  })
}

const messagesAnswer =
  '{"type":"message","content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":3,"output_tokens":1}}'
const chatAnswer =
  '{"choices":[{"index":0,"message":{"content":"Hi"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}'

type Pairs = readonly (readonly [name: string, value: string])[]

/** The vendor answers with these headers beside the necessary ones. */
function answerWith(headers: Pairs, body = messagesAnswer): void {
  vendor.answer((response) => {
    response.writeHead(200, [
      'Content-Type',
      'application/json',
      'Content-Length',
      String(Buffer.byteLength(body)),
      ...headers.flat(),
    ])
    response.end(Buffer.from(body))
  })
}

interface RawRequest {
  readonly path?: string
  readonly headers: Pairs
  readonly body?: string
}

/** Header lines exactly as given, the key's included. */
async function sendHeaders({ path, headers, body }: RawRequest): Promise<RawAnswer> {
  const content = body ?? JSON.stringify(messagesRequest())
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const connection = await connectRaw(gateway.url)
  connection.write(
    Buffer.from(
      `POST ${path ?? messagesPath} HTTP/1.1\r\nHost: gateway.test\r\nX-Api-Key: ${account.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(content)}\r\n` +
        `${lines}\r\n${content}`,
      'latin1',
    ),
  )
  const answer = await connection.next()
  connection.close()
  assert.ok(answer !== undefined)
  return answer
}

/** What the vendor got, as pairs with lower-case names. */
function vendorHeaders(): Pairs {
  const raw = vendor.last?.rawHeaders ?? []
  return raw.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), raw[index + 1] ?? ''] as const] : [],
  )
}

function valuesOf(headers: Pairs, name: string): readonly string[] {
  return headers.filter(([one]) => one === name).map(([, value]) => value)
}

// --- client to vendor ----------------------------------------------------------------------------

test('end-to-end request headers reach the vendor with their values untouched', async () => {
  answerWith([])
  const passed: Pairs = [
    ['Accept', 'application/json'],
    ['User-Agent', 'Anthropic/JS 1.11.0'],
    ['Anthropic-Beta', 'one-2026-01-01,two-2026-02-02'],
    ['anthropic-dangerous-direct-browser-access', 'true'],
    ['anthropic-never-heard-of', 'x'],
    ['X-Stainless-Retry-Count', '0'],
    ['x-stainless-timeout', 'NOT_GIVEN'],
    ['x-app', 'cli'],
    ['x-claude-code-session-id', '6f'],
    ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    ['x-custom', 'a'],
    ['X-Custom', 'b; c="d", e'],
    ['x-latin', 'caf\u00e9'],
    ['accept-language', '*'],
    ['X-Request-Id', 'client-id-1'],
  ]
  assert.equal((await sendHeaders({ headers: passed })).status, 200)
  const got = vendorHeaders()
  for (const [name] of passed)
    assert.deepEqual(
      valuesOf(got, name.toLowerCase()),
      valuesOf(
        passed.map(([one, value]) => [one.toLowerCase(), value] as const),
        name.toLowerCase(),
      ),
      name,
    )
  assert.deepEqual(valuesOf(got, 'content-type'), ['application/json'])
})

test('credentials, hop-by-hop, address and account headers do not reach the vendor', async () => {
  answerWith([])
  const dropped: Pairs = [
    ['Authorization', `Bearer ${account.key}`],
    ['Cookie', 'session=1'],
    ['Proxy-Authorization', 'Basic eA=='],
    ['Proxy-Connection', 'keep-alive'],
    ['Keep-Alive', 'timeout=5'],
    ['TE', 'trailers'],
    ['Trailer', 'x-t'],
    ['Accept-Encoding', 'gzip, br, zstd'],
    ['X-Forwarded-For', '10.0.0.1'],
    ['X-Forwarded-Proto', 'https'],
    ['Forwarded', 'for=10.0.0.1'],
    ['X-Real-IP', '10.0.0.1'],
    ['Via', '1.1 proxy'],
    ['Origin', 'https://app.example'],
    ['Referer', 'https://app.example/x'],
    ['Sec-Fetch-Mode', 'cors'],
    ['OpenAI-Organization', 'org-x'],
    ['OpenAI-Project', 'proj_x'],
    ['Anthropic-Workspace-Id', 'w'],
    ['Anthropic-User-Profile-Id', 'u'],
    ['Anthropic-Organization-Id', 'o'],
    ['X-Turnpike-Request-Id', 'forged'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Connection', 'keep-alive, X-Nominated, x-api-key, content-type'],
    ['X-Nominated', 'gone'],
  ]
  assert.equal((await sendHeaders({ headers: dropped })).status, 200)
  const got = vendorHeaders()
  const names = new Set(dropped.map(([name]) => name.toLowerCase()))
  for (const name of ['accept-encoding', 'connection']) names.delete(name)
  for (const name of names) assert.deepEqual(valuesOf(got, name), [], name)
  assert.deepEqual(valuesOf(got, 'accept-encoding'), ['identity'])
  assert.deepEqual(valuesOf(got, 'x-api-key'), [demoCredentials['alpha-main']])
  assert.deepEqual(valuesOf(got, 'content-type'), ['application/json'])
  assert.ok(valuesOf(got, 'connection').every((value) => /^(keep-alive|close)$/i.test(value)))
  assert.deepEqual(valuesOf(got, 'host'), [new URL(vendor.url).host])
  assert.ok(!JSON.stringify(got).includes(account.key))
})

test('a header spelled with underscores is dropped as with hyphens, in both directions', async () => {
  const dropped: Pairs = [
    ['Transfer_Encoding', 'chunked'],
    ['Content_Length', '3'],
    ['X_Api_Key', 'other'],
    ['Content_Type', 'text/plain'],
    ['anthropic_version', 'latest'],
    ['X_Forwarded_For', '10.0.0.1'],
    ['Set_Cookie', 'a=1'],
    ['X_Turnpike_Request_Id', 'forged'],
  ]
  answerWith([
    ['Set_Cookie', 'a=1'],
    ['X_Api_Key', 'other'],
    ['x_kept', '1'],
  ])
  const headers: Pairs = [...dropped.filter(([name]) => name !== 'Set_Cookie'), ['x_kept', '1']]
  const answer = await sendHeaders({ headers })
  const got = vendorHeaders()
  for (const [name] of dropped) {
    assert.deepEqual(valuesOf(got, name.toLowerCase()), [], name)
    assert.equal(answer.headers[name.toLowerCase()], undefined, name)
  }
  assert.deepEqual([valuesOf(got, 'x_kept'), answer.headers['x_kept']], [['1'], '1'])
})

test("a vendor's answer does not show the channel's credential", async () => {
  const secret = demoCredentials['alpha-main']
  const shown: Pairs = [
    ['X-Api-Key', secret],
    ['Authorization', `Bearer ${secret}`],
    ['Proxy-Authorization', secret],
    ['X-Echo', `key=${secret}; a`],
    ['Request-Id', secret],
    ['X-Kept', 'demo'],
  ]
  for (const status of [200, 400]) {
    const body = status === 200 ? messagesAnswer : '{"type":"error","error":{"type":"x"}}'
    vendor.answer((response) => {
      response.writeHead(status, ['Content-Type', 'application/json', ...shown.flat()])
      response.end(Buffer.from(body))
    })
    const answer = await askMessages()
    assert.equal(answer.status, status)
    assert.ok(!JSON.stringify(answer.rawHeaders).includes(secret))
    assert.equal(answer.headers['x-kept'], 'demo')
    assert.equal(answer.headers['request-id'], answer.headers['x-turnpike-request-id'])
  }
})

test("a vendor's error does not show the channel's credential in its body", async () => {
  for (const [status, isStream] of [
    [400, false],
    [500, false],
    [200, true],
  ] as const) {
    const type = isStream ? 'text/event-stream' : 'application/json'
    vendor.answer((response, { rawHeaders }) => {
      const sent = rawHeaders[rawHeaders.indexOf('x-api-key') + 1]
      const body = `{"type":"error","error":{"type":"x","message":"You sent x-api-key: ${sent}."}}`
      response.writeHead(status, { 'content-type': type })
      response.end(isStream ? `event: error\ndata: ${body}\n\n` : body)
    })
    gateway.resetHealth()
    const request = messagesRequest({ stream: isStream })
    const answer = await post(gateway.url + messagesPath, account.key, request)
    assert.equal(answer.status, 502, answer.text)
    assert.doesNotMatch(answer.text, /sandbox-credential/)
  }
})

test('more header bytes than vendors accept get 431, and no channel is blamed', async () => {
  answerWith([])
  const before = vendor.requestCount
  await gateway.attempts()
  const many: Pairs = Array.from({ length: 45 }, (_, index) => [`x-h${index}`, 'a'.repeat(990)])
  const tooMuch: readonly RawRequest[] = [
    { headers: [['x-large', 'a'.repeat(45_000)]] },
    { headers: many },
    { path: `${messagesPath}?q=${'a'.repeat(16_000)}`, headers: [] },
  ]
  for (const request of tooMuch) {
    const answer = await sendHeaders(request)
    assert.equal(answer.status, 431)
    assert.match(answer.body.toString(), /"type":"invalid_request_error".*at most 15360/)
  }
  assert.equal(vendor.requestCount, before)
  assert.deepEqual(await gateway.attempts(), {})
  // What does not pass does not count; nearly as much as may pass reaches a vendor on Node.
  const cookie: Pairs = [['cookie', 'a'.repeat(40_000)]]
  assert.equal((await sendHeaders({ headers: cookie })).status, 200)
  assert.equal((await sendHeaders({ headers: [['x-large', 'a'.repeat(15_200)]] })).status, 200)
})

test('the vendor gets exactly one credential, in its own header', async () => {
  answerWith([], chatAnswer)
  const headers: Pairs = [['authorization', `bearer ${account.key}`]]
  const body = JSON.stringify(chatRequest())
  assert.equal((await sendHeaders({ path: chatPath, headers, body })).status, 200)
  const got = vendorHeaders()
  assert.deepEqual(valuesOf(got, 'authorization'), [`Bearer ${demoCredentials['beta-main']}`])
  assert.deepEqual(valuesOf(got, 'x-api-key'), [])
})

const versionCases: readonly (readonly [
  name: string,
  sent: Pairs,
  anthropicVersion: readonly string[],
  alphaVersion: readonly string[],
])[] = [
  ['none', [], ['2023-06-01'], []],
  ['the specified name', [['alpha-version', '2026-10-21']], ['2026-10-21'], ['2026-10-21']],
  ['the vendor name', [['Anthropic-Version', '2023-06-01']], ['2023-06-01'], ['2023-06-01']],
  [
    'both, equal',
    [
      ['alpha-version', '2023-06-01'],
      ['anthropic-version', '2023-06-01'],
    ],
    ['2023-06-01'],
    ['2023-06-01'],
  ],
]

for (const [name, sent, anthropicVersion, alphaVersion] of versionCases)
  test(`a version sent under ${name} reaches the vendor as promised`, async () => {
    answerWith([])
    assert.equal((await sendHeaders({ headers: sent })).status, 200)
    assert.deepEqual(valuesOf(vendorHeaders(), 'anthropic-version'), anthropicVersion)
    assert.deepEqual(valuesOf(vendorHeaders(), 'alpha-version'), alphaVersion)
  })

test('a malformed version, or two that differ, get 400 in the format of the route', async () => {
  answerWith([])
  const before = vendor.requestCount
  const wrong: readonly Pairs[] = [
    [['alpha-version', '2023-6-1']],
    [['alpha-version', 'latest']],
    [['anthropic-version', '2023-02-30']],
    [['anthropic-version', '']],
    [
      ['alpha-version', '2023-06-01'],
      ['anthropic-version', '2026-10-21'],
    ],
    [
      ['anthropic-version', '2023-06-01'],
      ['anthropic-version', '2026-10-21'],
    ],
  ]
  for (const headers of wrong) {
    const answer = await sendHeaders({ headers })
    assert.equal(answer.status, 400, JSON.stringify(headers))
    assert.match(answer.body.toString(), /"type":"invalid_request_error".*-version/)
  }
  assert.equal(vendor.requestCount, before)
})

test('a vendor without a version header gets none, and its prefix has no meaning', async () => {
  answerWith([])
  const body = JSON.stringify(messagesRequest({ model: 'gamma-1' }))
  const headers: Pairs = [['gamma-version', 'whatever']]
  assert.equal((await sendHeaders({ path: '/gamma/v1/messages', headers, body })).status, 200)
  assert.deepEqual(valuesOf(vendorHeaders(), 'anthropic-version'), [])
  assert.deepEqual(valuesOf(vendorHeaders(), 'gamma-version'), ['whatever'])
})

// --- vendor to client ----------------------------------------------------------------------------

function askMessages(): Promise<WireAnswer> {
  return post(gateway.url + messagesPath, account.key, messagesRequest())
}

function clientHeaders({ rawHeaders }: WireAnswer): Pairs {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ''] as const] : [],
  )
}

test('end-to-end answer headers reach the client with their values untouched', async () => {
  const passed: Pairs = [
    ['Request-Id', 'req_011'],
    ['X-Custom', 'a'],
    ['x-custom', 'b'],
    ['openai-processing-ms', '12'],
    ['Openai-Version', '2020-10-01'],
    ['X-Should-Retry', 'true'],
    ['Retry-After', '3'],
    ['anthropic-new-thing', 'x'],
    ['Cache-Control', 'private'],
    ['date', 'Sat, 21 Nov 2026 00:00:00 GMT'],
    ['ETag', 'W/"1"'],
    ['x-latin', 'caf\u00e9'],
  ]
  answerWith(passed)
  const answer = await askMessages()
  const got = clientHeaders(answer)
  const lower = passed.map(([name, value]) => [name.toLowerCase(), value] as const)
  for (const [name] of lower) assert.deepEqual(valuesOf(got, name), valuesOf(lower, name), name)
  assert.deepEqual(valuesOf(got, 'content-length'), [String(Buffer.byteLength(messagesAnswer))])
})

test("removes headers about the operator's vendor account and the vendor's connection", async () => {
  const dropped: Pairs = [
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
    ['Server', 'cloudflare'],
    ['Via', '1.1 edge'],
    ['CF-Ray', '8f'],
    ['cf-cache-status', 'DYNAMIC'],
    ['Alt-Svc', 'h3=":443"'],
    ['Strict-Transport-Security', 'max-age=1'],
    ['NEL', '{}'],
    ['Report-To', '{}'],
    ['Anthropic-Organization-Id', 'o'],
    ['Anthropic-Workspace-Id', 'w'],
    ['OpenAI-Organization', 'o'],
    ['openai-project', 'p'],
    ['anthropic-ratelimit-requests-limit', '4000'],
    ['anthropic-ratelimit-unified-status', 'allowed'],
    ['anthropic-priority-input-tokens-limit', '1'],
    ['anthropic-fast-input-tokens-limit', '1'],
    ['x-ratelimit-limit-requests', '1'],
    ['x-ratelimit-reset-tokens', '6m0s'],
    ['x-turnpike-request-id', 'forged'],
    ['Proxy-Authenticate', 'Basic'],
    ['Keep-Alive', 'timeout=99'],
    ['Connection', 'keep-alive, X-Hop'],
    ['X-Hop', '1'],
  ]
  answerWith(dropped)
  const got = clientHeaders(await askMessages())
  const names = new Set(dropped.map(([name]) => name.toLowerCase()))
  // Of these two the gateway's own stand there.
  for (const name of ['connection', 'keep-alive']) names.delete(name)
  for (const name of names) {
    if (name === 'x-turnpike-request-id')
      assert.match(valuesOf(got, name).join(), /^ex_[0-9a-z]{26}$/)
    else assert.deepEqual(valuesOf(got, name), [], name)
  }
  assert.ok(!JSON.stringify(got).includes('timeout=99'))
})

test("keeps the vendor's request id, and uses ours where there is none", async () => {
  for (const [path, request, body, header] of [
    [messagesPath, messagesRequest(), messagesAnswer, 'request-id'],
    [chatPath, chatRequest(), chatAnswer, 'x-request-id'],
  ] as const) {
    answerWith([[header, 'req_vendor_1']], body)
    const named = await post(gateway.url + path, account.key, request)
    assert.equal(named.headers[header], 'req_vendor_1')
    assert.notEqual(named.headers['x-turnpike-request-id'], 'req_vendor_1')

    answerWith([], body)
    const unnamed = await post(gateway.url + path, account.key, request)
    assert.ok(unnamed.headers['x-turnpike-request-id'])
    assert.equal(unnamed.headers[header], unnamed.headers['x-turnpike-request-id'])
  }
})

test("a stream carries the no-buffering headers once and keeps the vendor's own", async () => {
  const events = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'
  const stream = (headers: Pairs): Promise<WireAnswer> => {
    vendor.answer((response) => {
      response.writeHead(200, ['content-type', 'text/event-stream', ...headers.flat()])
      response.end(Buffer.from(events))
    })
    return post(gateway.url + chatPath, account.key, chatRequest({ stream: true }))
  }
  const plain = clientHeaders(await stream([]))
  assert.deepEqual(valuesOf(plain, 'cache-control'), ['no-cache, no-transform'])
  assert.deepEqual(valuesOf(plain, 'x-accel-buffering'), ['no'])
  assert.deepEqual(valuesOf(plain, 'content-type'), ['text/event-stream'])
  assert.deepEqual(valuesOf(plain, 'content-length'), [])
  const said = clientHeaders(
    await stream([
      ['Cache-Control', 'no-cache'],
      ['X-Accel-Buffering', 'no'],
    ]),
  )
  assert.deepEqual(valuesOf(said, 'cache-control'), ['no-cache'])
  assert.deepEqual(valuesOf(said, 'x-accel-buffering'), ['no'])
})

test("the account's requests per minute are in the vendor's header style", async () => {
  const limited = await gateway.createAccount({ rpm: 5, window_minutes: 2 })
  answerWith([['anthropic-ratelimit-requests-limit', '4000']])
  const beforeMs = Date.now()
  const messages = await post(gateway.url + messagesPath, limited.key, messagesRequest())
  assert.equal(messages.headers['anthropic-ratelimit-requests-limit'], '10')
  assert.equal(messages.headers['anthropic-ratelimit-requests-remaining'], '9')
  const reset = Date.parse(String(messages.headers['anthropic-ratelimit-requests-reset']))
  // In whole seconds.
  assert.ok(reset >= beforeMs + 119_000 && reset <= Date.now() + 121_000, String(reset))

  answerWith([['x-ratelimit-limit-requests', '10000']], chatAnswer)
  const chat = await post(gateway.url + chatPath, limited.key, chatRequest())
  assert.equal(chat.headers['x-ratelimit-limit-requests'], '10')
  assert.equal(chat.headers['x-ratelimit-remaining-requests'], '8')
  assert.match(String(chat.headers['x-ratelimit-reset-requests']), /^1[12]\ds$/)

  const unlimited = await askMessagesOf(account)
  assert.equal(unlimited.headers['anthropic-ratelimit-requests-limit'], undefined)
})

function askMessagesOf({ key }: TestAccount): Promise<WireAnswer> {
  answerWith([])
  return post(gateway.url + messagesPath, key, messagesRequest())
}

// --- request ids ---------------------------------------------------------------------------------

test('every response has a request id', async () => {
  answerWith([])
  const key = { authorization: `Bearer ${account.key}` }
  const reader = { authorization: `Bearer ${account.token}` }
  const responses: readonly (readonly [string, WireAnswer])[] = [
    ['success', await askMessages()],
    ['401', await send(`${gateway.url}${messagesPath}`, { method: 'POST' })],
    ['404 under a prefix', await send(`${gateway.url}/alpha/x`, { headers: key })],
    ['405', await send(`${gateway.url}${messagesPath}`, { headers: key })],
    ['400', await post(gateway.url + messagesPath, account.key, '{')],
    ['404 elsewhere', await send(`${gateway.url}/nothing`)],
    ['health', await send(`${gateway.url}/health`)],
    ['health, wrong method', await send(`${gateway.url}/health`, { method: 'POST' })],
    ['usage', await send(`${gateway.url}/v1/usage`, { headers: reader })],
    ['usage without a token', await send(`${gateway.url}/v1/usage`)],
    ['models', await send(`${gateway.url}/alpha/v1/models`, { headers: key })],
    ['hello', await send(`${gateway.url}/alpha/api/hello`, { method: 'HEAD' })],
  ]
  const ids = new Set<string>()
  for (const [name, { headers }] of responses) {
    const id = String(headers['x-turnpike-request-id'])
    assert.match(id, /^ex_[0-9a-z]{26}$/, name)
    ids.add(id)
  }
  assert.equal(ids.size, responses.length)
})

test('accepts an unencoded answer, however its header says so', async () => {
  for (const encoding of ['identity', 'Identity', 'IDENTITY \t', '']) {
    answerWith([['content-encoding', encoding]])
    const answer = await askMessages()
    assert.equal(answer.status, 200, encoding)
    assert.equal(answer.body.toString(), messagesAnswer)
  }
})
