/**
 * Bodies that are wrong in one way each: the contract's 400, 413 or 415 in the shape of the route's
 * format, with a message that says what to change and never quotes the body; no vendor hears of it.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { operatorFeatures } from '../../src/formats/format.ts'
import { demoCatalogue } from '../../sandbox/demo.ts'
import {
  chatPath,
  chatRequest,
  type JsonFields,
  messagesPath,
  messagesRequest,
} from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { connectRaw, post, send, usage, type WireAnswer } from '../support/http-client.ts'

const bodyBytesMax = 20_000

let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario({ settings: { body_max_bytes: String(bodyBytesMax) } })
  account = await gateway.createAccount()
})
after(() => gateway.close())
beforeEach(() => gateway.sandbox.log.clear())

/** The error's message, once its shape is what the format's clients read. */
function readError(path: string, answer: WireAnswer, type: string): string {
  const text = answer.body.toString()
  assert.equal(answer.headers['content-type'], 'application/json', text)
  assert.ok(answer.isComplete)
  const error = JSON.parse(text) as Record<string, unknown> & { error: Record<string, unknown> }
  if (path.startsWith('/alpha')) {
    assert.deepEqual(Object.keys(error), ['type', 'error', 'request_id'])
    assert.equal(error['type'], 'error')
    assert.deepEqual(Object.keys(error.error), ['type', 'message'])
    assert.equal(error['request_id'], answer.headers['request-id'])
  } else {
    assert.deepEqual(Object.keys(error.error), ['message', 'type', 'param', 'code', 'request_id'])
    assert.ok(answer.headers['x-request-id'])
  }
  assert.equal(error.error['type'], type)
  return String(error.error['message'])
}

const canary = 'canary-5f1e'

async function expectRefusal(path: string, body: Buffer | string, hint: RegExp): Promise<void> {
  const answer = await post(gateway.url + path, account.key, body)
  assert.equal(answer.status, 400, `${String(body).slice(0, 200)} → ${answer.body.toString()}`)
  const message = readError(path, answer, 'invalid_request_error')
  assert.match(message, hint)
  assert.ok(!message.includes(canary), 'no error quotes the body')
  assert.equal(gateway.sandbox.log.records.length, 0, 'no vendor heard of it')
}

const text = (fields: JsonFields = {}): string => JSON.stringify(messagesRequest(fields))

/** The plain request's members, with one more in front or behind. */
const withMember = (member: string): string => `{${member},${text().slice(1)}`

const malformed: readonly (readonly [name: string, body: Buffer | string, hint: RegExp])[] = [
  ['an empty body', '', /empty/],
  ['white space', ' \r\n', /not valid JSON/],
  ['half an object', text({ canary }).slice(0, -1), /not valid JSON/],
  ['a trailing comma', `{"${canary}":1,}`, /not valid JSON/],
  ['something behind the object', text() + canary, /not valid JSON/],
  ['two objects', text() + text(), /not valid JSON/],
  ['single quotes', `{'model':'${canary}'}`, /not valid JSON/],
  ['a comment', `/* ${canary} */${text()}`, /not valid JSON/],
  ['an array', '[]', /must be a JSON object/],
  ['an array of requests', `[${text()}]`, /must be a JSON object/],
  ['a string', `"${canary}"`, /must be a JSON object/],
  ['null', 'null', /must be a JSON object/],
  ['a number', '1', /must be a JSON object/],
  ['NaN', withMember('"x":NaN'), /not valid JSON/],
  ['Infinity', withMember('"x":-Infinity'), /not valid JSON/],
  ['a leading zero', withMember('"x":01'), /not valid JSON/],
  ['a hexadecimal number', withMember('"x":0x10'), /not valid JSON/],
  ['a bare plus', withMember('"x":+1'), /not valid JSON/],
  ['a raw control character', withMember('"x":"\u0001"'), /not valid JSON/],
  ['a raw line break in a string', withMember('"x":"a\nb"'), /not valid JSON/],
  ['a wrong escape', withMember('"x":"\\x41"'), /not valid JSON/],
  ['half an escape', withMember('"x":"\\u12"'), /not valid JSON/],
  ['a number out of range', withMember('"x":1e400'), /out of range/],
  ['a number out of range, nested', withMember('"x":{"y":[-1e999]}'), /out of range/],
  ['a number of 400 digits', withMember(`"x":${'9'.repeat(400)}`), /out of range/],
  ['513 levels', withMember(`"x":${'['.repeat(512)}${']'.repeat(512)}`), /deeper than 512/],
  ['9,000 levels', '['.repeat(9_000), /deeper than 512/],
  ['9,000 levels of objects', '{"a":'.repeat(3_000), /deeper than 512/],
  ['a byte order mark', `\uFEFF${text()}`, /byte order mark/],
  ['UTF-16', Buffer.from(text(), 'utf16le'), /not valid/],
  ['a lone continuation byte', Buffer.from(withMember('"x":"\x80"'), 'latin1'), /UTF-8/],
  ['an overlong form', Buffer.from(withMember('"x":"\xc0\xaf"'), 'latin1'), /UTF-8/],
  ['half a surrogate pair', Buffer.from(withMember('"x":"\xed\xa0\x80"'), 'latin1'), /UTF-8/],
  ['a cut character', Buffer.from(withMember('"x":"\xe2\x82"'), 'latin1'), /UTF-8/],
  ['NUL bytes', '\0\0\0', /not valid JSON/],
  ['U+0000 in a name', withMember('"model\\u0000":"small-1"'), /contains the character U\+0000/],
  ['a name of U+0000', withMember('"\\u0000":1'), /contains the character U\+0000/],
  ['a form', `model=large-1&canary=${canary}`, /not valid JSON/],
]

for (const [name, body, hint] of malformed)
  test(`${name} gets 400 in both formats`, async () => {
    await expectRefusal(messagesPath, body, hint)
    await expectRefusal(chatPath, body, hint)
  })

const limit512 = `"x":${'['.repeat(511)}${']'.repeat(511)}`

test('accepts 512 levels, big integers and escaped lone surrogates', async () => {
  for (const member of [limit512, '"x":123456789012345678901234567890', '"x":"\\ud800"'])
    assert.equal(
      (await post(gateway.url + messagesPath, account.key, withMember(member))).status,
      200,
      member.slice(0, 40),
    )
})

const readTwice: Readonly<Record<string, string>> = {
  model: '"small-1"',
  max_tokens: '5',
  stream: 'false',
  messages: '[{"role":"user","content":"x"}]',
  system: '"x"',
  tools: '[]',
  service_tier: '"auto"',
  temperature: '1',
  n: '1',
  stream_options: '{}',
  max_completion_tokens: '5',
}

for (const [name, value] of Object.entries(readTwice))
  test(`"${name}" twice gets 400, in every spelling of the second one`, async () => {
    const escaped = `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`
    const upper = `${name.slice(0, -1)}\\u00${name
      .charCodeAt(name.length - 1)
      .toString(16)
      .toUpperCase()}`
    for (const [first, second] of [
      [name, name],
      [name, escaped],
      [upper, name],
      [escaped, upper],
    ]) {
      const fields = { [name]: undefined }
      for (const [path, rest] of [
        [messagesPath, JSON.stringify(messagesRequest(fields))],
        [chatPath, JSON.stringify(chatRequest(fields))],
      ] as const) {
        const body = `{"${first}":${value}, "x":{"${name}":1} ,"${second}":${value},${rest.slice(1)}`
        await expectRefusal(path, body, new RegExp(`\`${name}\` occurs twice in the request body`))
      }
    }
  })

test('accepts a known field again at a deeper level, and other fields twice', async () => {
  const member = '"x":1,"x":2,"metadata":{"model":"a","model":"b"},"TOP_P":1,"model ":1'
  const answer = await post(gateway.url + messagesPath, account.key, withMember(member))
  assert.equal(answer.status, 200)
  const [record] = gateway.sandbox.log.records
  assert.equal(record?.requestBody?.toString(), withMember(member))
})

test('a known field in other letter case gets 400: some vendors would read it', async () => {
  const dearer = '"Model":"small-1","MAX_TO\u212aENS":5000'
  for (const [path, request] of [
    [messagesPath, messagesRequest()],
    [chatPath, chatRequest()],
  ] as const) {
    const body = `${JSON.stringify(request).slice(0, -1)},${dearer}}`
    await expectRefusal(path, body, /`model` occurs in the request body in another letter case/)
  }
  const options = '{"Include_Usage":true}'
  const body = `{"stream":true,"stream_options":${options},${JSON.stringify(chatRequest()).slice(1)}`
  await expectRefusal(
    chatPath,
    body,
    /`include_usage` occurs in `stream_options` in another letter case/,
  )
})

test('U+0000 in a name within `stream_options` gets 400', async () => {
  const options = '{"include_usage\\u0000":false}'
  const body = `{"stream":true,"stream_options":${options},${JSON.stringify(chatRequest()).slice(1)}`
  await expectRefusal(chatPath, body, /`stream_options` contains the character U\+0000/)
})

test('accepts U+0000 in values and in names at a deeper level', async () => {
  const member = '"x":"\\u0000","metadata":{"\\u0000":1}'
  assert.equal(
    (await post(gateway.url + messagesPath, account.key, withMember(member))).status,
    200,
  )
})

test('`include_usage` twice within `stream_options` gets 400', async () => {
  const options = '{"include_usage":false,"include\\u005fusage":true}'
  const body = `{"stream":true,"stream_options":${options},${JSON.stringify(chatRequest()).slice(1)}`
  await expectRefusal(chatPath, body, /`include_usage` occurs twice in `stream_options`/)
})

const never = undefined
const wrongFields: readonly (readonly [field: string, values: readonly unknown[], hint: RegExp])[] =
  [
    ['model', [never, null, '', 1, true, ['large-1'], { id: 'large-1' }], /`model`/],
    ['max_tokens', [0, -1, -0, 1.5, 0.999, '16', true, [16], {}, 1e300, 2 ** 53], /`max_tokens`/],
    ['messages', [never, null, [], {}, 'hi', 1], /`messages`/],
    ['temperature', ['hot', true, [], {}], /`temperature`/],
    ['stream', ['true', 'false', 1, 0, [], {}], /`stream`/],
  ]

for (const [field, values, hint] of wrongFields)
  test(`a wrong ${field} gets a 400 that names it, in both formats`, async () => {
    for (const value of values) {
      await expectRefusal(messagesPath, JSON.stringify(messagesRequest({ [field]: value })), hint)
      await expectRefusal(chatPath, JSON.stringify(chatRequest({ [field]: value })), hint)
    }
  })

test('a body without max_tokens gets a 400 in the messages format', async () => {
  for (const value of [never, null])
    await expectRefusal(messagesPath, text({ max_tokens: value }), /`max_tokens` is required/)
})

test('wrong fields of the chat format get a 400 that names them', async () => {
  const wrong: readonly (readonly [string, readonly unknown[]])[] = [
    ['n', ['2', 0, -1, 1.5, 1e9, [], true]],
    ['max_completion_tokens', [0, -5, 1.5, '16', true, {}]],
    ['stream_options', ['x', 1, true, []]],
  ]
  for (const [field, values] of wrong)
    for (const value of values) {
      const body = JSON.stringify(chatRequest({ stream: true, [field]: value }))
      await expectRefusal(chatPath, body, new RegExp(`\`${field}\``))
    }
  const inner = chatRequest({ stream: true, stream_options: { include_usage: 'yes' } })
  await expectRefusal(chatPath, JSON.stringify(inner), /`stream_options.include_usage`/)
})

test('accepts a whole number in any spelling', async () => {
  for (const spelling of ['16', '16.0', '1.6e1', '160E-1', '1e1'])
    for (const path of [messagesPath, chatPath]) {
      const request = path === messagesPath ? messagesRequest() : chatRequest()
      const body = JSON.stringify(request).replace('"max_tokens":16', `"max_tokens":${spelling}`)
      assert.equal((await post(gateway.url + path, account.key, body)).status, 200, spelling)
    }
  gateway.sandbox.log.clear()
  for (const spelling of ['1.6', '16.0001', '1e-1']) {
    const body = text().replace('"max_tokens":16', `"max_tokens":${spelling}`)
    await expectRefusal(messagesPath, body, /`max_tokens`/)
  }
})

test('`max_completion_tokens` counts as `max_tokens` in the chat format only', async () => {
  const fields = { max_tokens: undefined, max_completion_tokens: 16 }
  const chat = await post(gateway.url + chatPath, account.key, chatRequest(fields))
  assert.equal(chat.status, 200)
  gateway.sandbox.log.clear()
  await expectRefusal(messagesPath, text(fields), /`max_tokens` is required/)
})

test('null counts as absent where the vendor treats it so', async () => {
  const nulls = { temperature: null, stream: null, n: null, stream_options: null, tools: null }
  assert.equal((await post(gateway.url + chatPath, account.key, chatRequest(nulls))).status, 200)
})

test("features of the operator's own account are refused by name unless allowed", async (t) => {
  const strict = await scenario()
  t.after(() => strict.close())
  const { key } = await strict.createAccount()
  const file = { type: 'document', source: { type: 'file', file_id: 'file_1' } }
  const refused: readonly (readonly [string, JsonFields, RegExp])[] = [
    [messagesPath, { container: 'c_1' }, /container/i],
    [messagesPath, { tools: [{ type: 'code_execution_20250825', name: 'x' }] }, /code execution/i],
    [messagesPath, { messages: [{ role: 'user', content: [file] }] }, /[Ff]iles/],
    ...[messagesPath, chatPath].flatMap((path): [string, JsonFields, RegExp][] => [
      [path, { models: ['small-1'] }, /`models`/],
      [path, { plugins: [{ id: 'web' }] }, /`plugins`/],
      [path, { search_parameters: { mode: 'on' } }, /`search_parameters`/],
      [path, { enable_search: true }, /`enable_search`/],
      [path, { route: 'fallback' }, /`route`/],
    ]),
    [chatPath, { store: true }, /[Ss]tored completions/],
    [chatPath, { web_search_options: {} }, /[Ww]eb search/],
    [
      chatPath,
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      /[Ff]iles/,
    ],
  ]
  for (const [path, fields, hint] of refused) {
    const request = path === messagesPath ? messagesRequest(fields) : chatRequest(fields)
    const answer = await post(strict.url + path, key, request)
    assert.equal(answer.status, 400, JSON.stringify(fields))
    assert.match(readError(path, answer, 'invalid_request_error'), hint)
  }
  assert.equal(strict.sandbox.log.records.length, 0)
  const threaded = await post(
    strict.url + messagesPath,
    key,
    messagesRequest({ thread: { type: 'create' } }),
  )
  const { error } = JSON.parse(threaded.body.toString()) as { error: { details: unknown } }
  assert.deepEqual(error.details, {
    error_code: 'thread_unsupported_request',
    unsupported: ['thread'],
  })
})

test("features of the operator's own account pass where the vendor's entry allows them", async (t) => {
  const open = await scenario({
    catalogue(url) {
      const catalogue = demoCatalogue(url)
      const beta = { ...catalogue.vendors.beta, allow: operatorFeatures }
      return stringify({ ...catalogue, vendors: { ...catalogue.vendors, beta } })
    },
  })
  t.after(() => open.close())
  const { key } = await open.createAccount()
  assert.equal((await post(open.url + chatPath, key, chatRequest({ store: true }))).status, 200)
  const refused = await post(open.url + messagesPath, key, messagesRequest({ container: 'c_1' }))
  assert.equal(refused.status, 400)
})

// --- size and type -------------------------------------------------------------------------------

async function expectStatus(
  path: string,
  expected: { readonly status: number; readonly type: string; readonly hint: RegExp },
  answer: WireAnswer,
): Promise<void> {
  assert.equal(answer.status, expected.status, answer.body.toString())
  assert.match(readError(path, answer, expected.type), expected.hint)
  assert.equal(gateway.sandbox.log.records.length, 0)
}

const tooLarge = { status: 413, hint: /larger than 20000 bytes/ }

test('a body over the limit gets 413, by its announced length and by its bytes', async () => {
  const padding = 'x'.repeat(bodyBytesMax)
  for (const [path, type] of [
    [messagesPath, 'request_too_large'],
    [chatPath, 'invalid_request_error'],
  ] as const) {
    const announced = await post(gateway.url + path, account.key, text({ padding }))
    await expectStatus(path, { ...tooLarge, type }, announced)
    const connection = await connectRaw(gateway.url)
    connection.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${account.key}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    for (let sent = 0; sent <= bodyBytesMax; sent += 1_000)
      connection.write(`3e8\r\n${'x'.repeat(1_000)}\r\n`)
    const counted = await connection.next()
    assert.equal(counted?.status, 413)
    assert.equal(await connection.next(), undefined)
    connection.close()
  }
})

test('accepts a body of exactly the limit', async () => {
  const room = bodyBytesMax - Buffer.byteLength(text({ padding: '' }))
  const largest = text({ padding: 'x'.repeat(room) })
  assert.equal(Buffer.byteLength(largest), bodyBytesMax)
  assert.equal((await post(gateway.url + messagesPath, account.key, largest)).status, 200)
  gateway.sandbox.log.clear()
  const larger = await post(gateway.url + messagesPath, account.key, `${largest} `)
  await expectStatus(messagesPath, { ...tooLarge, type: 'request_too_large' }, larger)
})

function sendAs(headers: Readonly<Record<string, string>>): Promise<WireAnswer> {
  return send(gateway.url + messagesPath, {
    headers: { 'x-api-key': account.key, ...headers },
    body: text(),
  })
}

test('a body that is not declared as JSON gets 415', async () => {
  const type = 'invalid_request_error'
  for (const contentType of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json, text/plain',
    'json',
    '',
  ]) {
    const expected = { status: 415, type, hint: /content-type: application\/json/ }
    await expectStatus(messagesPath, expected, await sendAs({ 'content-type': contentType }))
  }
  const expected = { status: 415, type, hint: /content-type: application\/json/ }
  await expectStatus(messagesPath, expected, await sendAs({}))
})

test('a charset other than utf-8 gets 415', async () => {
  for (const charset of [
    'charset=utf-16',
    'charset=iso-8859-1',
    'Charset = "UTF-7"',
    'charset=',
    'charset=utf-8; charset=latin1',
    'profile=x;charset=us-ascii',
  ]) {
    const expected = { status: 415, type: 'invalid_request_error', hint: /must be UTF-8/ }
    const answer = await sendAs({ 'content-type': `application/json; ${charset}` })
    await expectStatus(messagesPath, expected, answer)
  }
})

test('accepts every content type of JSON', async () => {
  for (const contentType of [
    'application/json; charset="utf-8"',
    'application/json; profile=x; charset=utf8',
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/vnd.vendor+json',
  ])
    assert.equal((await sendAs({ 'content-type': contentType })).status, 200, contentType)
})

test('a coding that is not decoded, or several of them, get 415', async () => {
  for (const encoding of ['compress', 'x-gzip', 'identity, gzip', 'gzip, gzip', 'x']) {
    const answer = await sendAs({
      'content-type': 'application/json',
      'content-encoding': encoding,
    })
    const expected = { status: 415, type: 'invalid_request_error', hint: /content-encoding/ }
    await expectStatus(messagesPath, expected, answer)
  }
  for (const encoding of ['identity', 'Identity'])
    assert.equal(
      (await sendAs({ 'content-type': 'application/json', 'content-encoding': encoding })).status,
      200,
      encoding,
    )
})

// --- anything at all -----------------------------------------------------------------------------

test('property: any bytes as a body get an answer below 500, and the next request is served', async () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '"model":"large-1"',
    '"max_tokens":1',
    '"messages":[1]',
    '"stream":true',
    '1e999',
    '\u0000',
    'é',
    ' ',
    '-',
  )
  const bodies = fc.oneof(
    fc.array(pieces, { maxLength: 20 }).map((parts) => Buffer.from(parts.join(''))),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  )
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom(messagesPath, chatPath), async (body, path) => {
      const answer = await post(gateway.url + path, account.key, body)
      assert.ok(answer.status < 500, `${answer.status} ${body.toString('latin1')}`)
      assert.ok(answer.isComplete)
    }),
    { numRuns: 150 },
  )
  assert.equal((await post(gateway.url + messagesPath, account.key, text())).status, 200)
})

test('refused requests leave no charge and no hold', async () => {
  const poor = await gateway.createAccount({ balance_usd: '1' })
  for (const body of ['', '{', text({ max_tokens: -1 }), text({ model: 'none' })])
    await post(gateway.url + messagesPath, poor.key, body)
  const figures = await usage(gateway.url, poor.token)
  assert.equal(figures['balance_usd'], 1)
  assert.equal((figures['usage'] as { requests: number }).requests, 0)
  assert.equal((await gateway.audit()).clean, true)
})
