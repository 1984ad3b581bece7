/**
 * Which paths and methods exist, and the answers to all others. Of a path only the joins of base addresses
 * are understood; nothing is decoded, so that gateway, proxy and vendor can never read one in two ways.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { showRequest } from '../support/operations.ts'
import {
  chatPath,
  chatRequest,
  messagesPath,
  messagesRequest,
  responsesRequest,
} from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { connectRaw, exchangeRaw, post, send, type RawAnswer } from '../support/http-client.ts'

let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario()
  account = await gateway.createAccount()
})
after(() => gateway.close())
beforeEach(() => gateway.sandbox.log.clear())

/** Raw, because client libraries tidy paths up. */
async function ask(method: string, path: string, body?: object): Promise<RawAnswer> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const connection = await connectRaw(gateway.url)
  connection.write(
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${account.key}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  )
  const answer = await connection.next({ isHead: method === 'HEAD' })
  connection.close()
  assert.ok(answer !== undefined)
  return answer
}

function messageOf(answer: { readonly body: Buffer }): string {
  const body = JSON.parse(answer.body.toString()) as { error: { message: string } }
  return body.error.message
}

// --- 404 -----------------------------------------------------------------------------------------

const unknownPaths: readonly (readonly [path: string, hint: RegExp])[] = [
  ['/alpha', /POST \/v1\/messages/],
  ['/alpha?x=1', /POST \/v1\/messages/],
  ['/alpha/', /POST \/v1\/messages/],
  ['/alpha/v1', /POST \/v1\/messages/],
  ['/alpha/v1/complete', /POST \/v1\/messages/],
  ['/alpha/v1/messages%2f', /POST \/v1\/messages/],
  ['/alpha/v1%2fmessages', /POST \/v1\/messages/],
  ['/alpha/v1/%6dessages', /POST \/v1\/messages/],
  ['/alpha/v1/./messages', /POST \/v1\/messages/],
  ['/alpha/v1/x/../messages', /POST \/v1\/messages/],
  ['/alpha/v1/messages;x=1', /POST \/v1\/messages/],
  ['/alpha/v1\\messages', /POST \/v1\/messages/],
  ['/alpha/V1/messages', /POST \/v1\/messages/],
  ['/alpha/v1/Messages', /POST \/v1\/messages/],
  ['/alpha/v1/messages/batches', /POST \/v1\/messages/],
  ['/alpha/v1/v1/v1/messages', /POST \/v1\/messages/],
  ['/alpha/v1/messages%2f/', /POST \/v1\/messages/],
  ['/alpha/v1//x/../messages', /POST \/v1\/messages/],
  ['/alpha/v1;/messages/', /POST \/v1\/messages/],
  ['/alpha/v1/files', /POST \/v1\/messages/],
  ['/alpha/v1/organizations/me', /POST \/v1\/messages/],
  ['/beta', /POST \/v1\/chat\/completions/],
  ['/beta/v1/chat/completions/chatcmpl-1', /POST \/v1\/chat\/completions/],
  ['/beta/v1/images/generations', /POST \/v1\/embeddings, POST \/v1\/completions/],
  ['/beta/v1/moderations', /POST \/v1\/chat\/completions/],
  ['/beta/v1/files', /POST \/v1\/chat\/completions/],
  ['/beta/v1/responses/resp_1/other', /POST \/v1\/responses/],
]

for (const [path, hint] of unknownPaths)
  test(`${path} gets 404 in the format of its vendor that lists the endpoints`, async () => {
    for (const method of ['POST', 'GET']) {
      const body = method === 'POST' ? messagesRequest() : undefined
      const answer = await ask(method, path, body)
      assert.equal(answer.status, 404)
      assert.match(messageOf(answer), hint)
      const told = JSON.parse(answer.body.toString()) as Record<string, unknown>
      if (path.startsWith('/alpha')) assert.equal(told['request_id'], answer.headers['request-id'])
      else assert.deepEqual(Object.keys(told), ['error'])
    }
    assert.equal(gateway.sandbox.log.records.length, 0)
  })

/** How clients join a base address and a path. */
const joins: readonly (readonly [canonical: string, spellings: readonly string[]])[] = [
  [
    '/alpha/v1/messages',
    ['/alpha/messages', '/alpha/v1/v1/messages', '/alpha//v1/messages', '/alpha/v1//messages/'],
  ],
  [
    '/alpha/v1/messages/count_tokens',
    ['/alpha/messages/count_tokens', '/alpha//v1//v1/messages/count_tokens/'],
  ],
  [
    '/beta/v1/chat/completions',
    ['/beta/chat/completions', '/beta/v1/v1/chat/completions', '/beta//chat//completions/'],
  ],
  ['/beta/v1/responses', ['/beta/responses', '/beta/v1/responses/', '/beta/v1//v1/responses']],
]

for (const [canonical, spellings] of joins)
  for (const path of spellings)
    test(`${path} is understood as ${canonical}, and forwarded and counted as that`, async () => {
      const request = canonical.startsWith('/alpha')
        ? messagesRequest()
        : canonical.endsWith('responses')
          ? responsesRequest()
          : chatRequest()
      const answer = await ask('POST', `${path}?beta=true`, request)
      assert.equal(answer.status, 200, answer.body.toString())
      const [record] = gateway.sandbox.log.records
      const { pathname, search } = new URL(record?.target ?? '', 'http://vendor')
      assert.equal(pathname.replace(/^\/[^/]+/, ''), canonical.replace(/^\/[^/]+/, ''))
      assert.equal(search, '?beta=true')
      const id = String(answer.headers['x-turnpike-request-id'])
      const show = () => showRequest(gateway.context, { request: id }).catch(() => undefined)
      const shown = await eventually('the record', show, (found) => found !== undefined)
      assert.match(String(shown?.operation), /create|count_tokens/)
    })

test('lists of models are understood in every join', async () => {
  for (const path of [
    '/alpha/models',
    '/alpha/v1/models/',
    '/alpha/v1/v1/models',
    '/beta//models/',
  ])
    assert.equal((await ask('GET', path)).status, 200, path)
  for (const path of ['/beta/models/chat-1', '/beta//v1/models/chat-1', '/beta/v1/models/chat-1/'])
    assert.equal((await ask('GET', path)).status, 200, path)
  assert.equal((await ask('HEAD', '/alpha/v1/api/hello')).status, 200)
  assert.equal((await ask('HEAD', '/alpha//api/hello/')).status, 200)
  assert.equal((await ask('PUT', '/beta/chat/completions')).status, 405)
})

const chatBase = /the base address ends in "\/beta\/v1" for most clients of the chat format\.$/
const messagesBase = /the base address ends in "\/alpha" for most clients of the messages format\.$/
const versionedBase =
  /the base address ends in "\/alpha\/v1" for most clients of the messages format\.$/

const strayPaths: readonly (readonly [path: string, format: 'chat' | 'messages', hint: RegExp])[] =
  [
    ['/alpha/v1/chat/completions', 'chat', chatBase],
    ['/alpha/chat/completions', 'chat', chatBase],
    ['/alpha/v1/v1/chat/completions', 'chat', chatBase],
    ['/alpha/v1/chat/completions/chatcmpl-1', 'chat', chatBase],
    ['/beta/v1/messages', 'messages', messagesBase],
    ['/beta/v1/v1/messages', 'messages', messagesBase],
    ['/beta/v1/messages/count_tokens', 'messages', messagesBase],
    ['/beta/messages', 'messages', versionedBase],
    ['/v1/chat/completions', 'chat', chatBase],
    ['/chat/completions', 'chat', chatBase],
    ['/v1/v1/chat/completions', 'chat', chatBase],
    ['/v1/messages', 'messages', messagesBase],
    ['/v1/messages/count_tokens', 'messages', messagesBase],
    ['/messages', 'messages', versionedBase],
    [
      '/v1/models',
      'chat',
      /ends in "\/alpha" for most clients of the messages format, and in "\/beta\/v1" for most clients of the chat format\.$/,
    ],
  ]

for (const [path, format, hint] of strayPaths)
  test(`${path} gets 404 in the ${format} format that names the right base address`, async () => {
    for (const method of ['POST', 'GET']) {
      const body = method === 'POST' ? messagesRequest() : undefined
      const answer = await ask(method, path, body)
      assert.equal(answer.status, 404)
      assert.match(messageOf(answer), hint)
      const shown = JSON.parse(answer.body.toString()) as Record<string, Record<string, unknown>>
      assert.match(String(answer.headers['x-turnpike-request-id']), /^ex_/)
      if (format === 'chat') {
        assert.deepEqual([Object.keys(shown), shown['error']?.['code']], [['error'], 'unknown_url'])
        assert.equal(answer.headers['x-request-id'], answer.headers['x-turnpike-request-id'])
      } else {
        assert.equal(shown['error']?.['type'], 'not_found_error')
        assert.equal(shown['request_id'], answer.headers['request-id'])
      }
    }
    assert.equal(gateway.sandbox.log.records.length, 0)
  })

test('a path outside every prefix gets 404 in the plain shape that lists the prefixes', async () => {
  for (const path of [
    '/',
    '/gamma/v1/messages',
    '/alphA/v1/messages',
    '/alphabet',
    '//alpha/v1/messages',
    '/health/',
    '/v1/usage/',
    '/v1/usage%2f',
    '/favicon.ico',
    '/admin',
  ]) {
    const answer = await ask('GET', path)
    assert.equal(answer.status, 404, path)
    assert.match(messageOf(answer), /\/health, \/v1\/usage, \/account, \/alpha, \/beta/)
    const { error } = JSON.parse(answer.body.toString()) as { error: Record<string, unknown> }
    assert.deepEqual(Object.keys(error), ['type', 'message', 'request_id'])
  }
})

test('a fragment in the target is not cut off', async () => {
  const body = JSON.stringify(messagesRequest())
  for (const target of [`${messagesPath}#x`, `${messagesPath}?beta=true#x`, `${messagesPath}#?a`]) {
    const [answer] = await exchangeRaw(
      gateway.url,
      `POST ${target} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${account.key}\r\nConnection: close\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    assert.ok(answer?.status === 404 || answer?.status === 400, `${target} ${answer?.status}`)
  }
  assert.equal(gateway.sandbox.log.records.length, 0)
})

// --- 405 -----------------------------------------------------------------------------------------

const wrongMethods: readonly (readonly [
  path: string,
  allow: string,
  methods: readonly string[],
])[] = [
  [messagesPath, 'POST', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']],
  [`${messagesPath}/count_tokens`, 'POST', ['GET', 'PUT']],
  [chatPath, 'POST', ['GET', 'HEAD', 'DELETE', 'BREW']],
  ['/alpha/v1/models', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
  ['/beta/v1/models/chat-1', 'GET, HEAD', ['POST', 'DELETE']],
  ['/alpha/api/hello', 'HEAD', ['POST', 'GET']],
  ['/health', 'GET, HEAD', ['POST', 'PUT', 'DELETE', 'PROPFIND']],
]

for (const [path, allow, methods] of wrongMethods)
  test(`${path} by another method gets 405 with allow: ${allow}`, async () => {
    for (const method of methods) {
      const answer = await ask(method, path)
      assert.equal(answer.status, 405, method)
      assert.equal(answer.headers['allow'], allow, method)
      if (method === 'HEAD') assert.equal(answer.body.length, 0)
      else assert.match(messageOf(answer), /^Use /)
    }
    assert.equal(gateway.sandbox.log.records.length, 0)
  })

test('a 405 below a prefix names the method that is not served', async () => {
  const answer = await ask('POST', '/beta/v1/responses/resp_1')
  assert.equal(answer.status, 405)
  const message = 'Use GET, HEAD, DELETE here. POST is not served at this path.'
  assert.equal(messageOf(answer), message)
})

test('HEAD is answered as GET is, without the body', async () => {
  for (const path of [
    '/alpha/v1/models',
    '/beta/v1/models',
    '/beta/v1/models/chat-1',
    '/beta/v1/models/none',
  ]) {
    const got = await ask('GET', path)
    const head = await ask('HEAD', path)
    assert.equal(head.status, got.status, path)
    for (const name of ['content-type', 'content-length', 'cache-control'])
      assert.equal(head.headers[name], got.headers[name], `${path} ${name}`)
    assert.ok(got.body.length > 0)
  }
})

test('a method override changes nothing', async () => {
  const answer = await send(`${gateway.url}${messagesPath}?_method=GET`, {
    headers: {
      'x-api-key': account.key,
      'content-type': 'application/json',
      'x-http-method-override': 'DELETE',
    },
    body: JSON.stringify(messagesRequest()),
  })
  assert.equal(answer.status, 200)
  const [record] = gateway.sandbox.log.records
  assert.equal(record?.method, 'POST')
  assert.ok(!record.rawHeaders.some((name) => /override/i.test(name)))
})

test('a body on a GET changes nothing and leaves the connection in step', async () => {
  const bytes =
    `GET ${messagesPath} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${account.key}\r\nContent-Length: 5\r\n\r\nhello` +
    'GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}' +
    'GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const answers = await exchangeRaw(gateway.url, bytes)
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [405, 200, 200],
  )
})

test('a body of an unknown method leaves the connection in step', async () => {
  const head = `Host: a\r\nX-Api-Key: ${account.key}\r\n`
  const bytes =
    `PROPFIND ${messagesPath} HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\nhello` +
    `PROPFIND /alpha/nothing HTTP/1.1\r\n${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`
  const answers = await exchangeRaw(gateway.url, bytes)
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [405, 404],
  )
  for (const answer of answers) assert.match(answer.body.toString(), /^\{"type":"error"/)
})

// --- queries and prefixes --------------------------------------------------------------------------

test('the query reaches the vendor unchanged', async () => {
  for (const query of ['', '?', '?beta=true', '?beta=true&x=%2F..%2f&y=1+2&&z', '?a=b?c=d'])
    for (const [path, request] of [
      [messagesPath, messagesRequest()],
      [`${messagesPath}/count_tokens`, messagesRequest({ max_tokens: undefined })],
      [chatPath, chatRequest()],
    ] as const) {
      gateway.sandbox.log.clear()
      const answer = await ask('POST', path + query, request)
      assert.equal(answer.status, 200, path + query)
      const [record] = gateway.sandbox.log.records
      const channel = path === chatPath ? '/beta-main' : '/alpha-main'
      assert.equal(record?.target, channel + path.slice(path.indexOf('/', 1)) + query)
    }
})

test('a credential in the query does not count', async () => {
  const answer = await send(`${gateway.url}${messagesPath}?api_key=${account.key}`, {
    method: 'POST',
  })
  assert.equal(answer.status, 401)
})

test('a model of the other vendor does not exist under this prefix', async () => {
  const alpha = await post(
    gateway.url + messagesPath,
    account.key,
    messagesRequest({ model: 'chat-1' }),
  )
  const beta = await post(gateway.url + chatPath, account.key, chatRequest({ model: 'large-1' }))
  for (const answer of [alpha, beta]) {
    assert.equal(answer.status, 404)
    assert.match(messageOf(answer), /There is no model/)
  }
  const { error } = JSON.parse(beta.body.toString()) as { error: Record<string, unknown> }
  assert.equal(error['code'], 'model_not_found')
})

test('a model is found by its exact name only', async () => {
  for (const model of [
    'Large-1',
    ' large-1',
    'large-1 ',
    'large-1\u200b',
    'ｌarge-1',
    '__proto__',
    'constructor',
    '\u001b[31mred',
    'x'.repeat(5_000),
  ]) {
    const answer = await post(gateway.url + messagesPath, account.key, messagesRequest({ model }))
    assert.equal(answer.status, 404, model)
    const message = messageOf(answer)
    assert.ok(message.length < 300 && /^[\x20-\x7e]*$/.test(message), message)
  }
  assert.equal(gateway.sandbox.log.records.length, 0)
})
