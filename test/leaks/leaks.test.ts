/**
 * Private data is neither stored nor shown. Each kind of private data (prompts, answers, keys, tokens,
 * credentials, headers, queries, vendors' errors, names) contains a canary. A varied load runs at the
 * most detailed log level, with commands in between; then everything that was written is searched.
 * Requests and answers of a client may appear on the wire and nowhere else.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { exchangeRaw, send, type WireAnswer, type WireRequest } from '../support/http-client.ts'
import {
  type BodyFormat,
  bodyFormats,
  formsOf,
  places,
  responsesPath,
} from '../support/requests.ts'
import { openProgram, type Program, type Serving } from '../support/program.ts'
import { Canaries, filesIn, findIn, type Place } from './canaries.ts'

const canaries = new Canaries()

/** A hostile name: a page, a table or a shell might run it. */
function hostile(word: string): string {
  return `=1+1"'<script>${word}</script>$(id)`
}

/** Only commands and tables that show it know it. */
const names = {
  account: hostile(canaries.plant('account name', 'store', 'command')),
  key: hostile(canaries.plant('key name', 'store', 'command')),
  token: hostile(canaries.plant('token name', 'store', 'command')),
  admin: hostile(canaries.plant('admin token name', 'store', 'command')),
  reference: hostile(canaries.plant('credit reference', 'store', 'command')),
  note: hostile(canaries.plant('credit note', 'store', 'command')),
  channel: canaries.plant('channel name', 'store', 'command', 'log', 'metrics'),
  model: canaries.plant('model name', 'store', 'command', 'log', 'metrics', 'usage', 'answer'),
  upstreamModel: canaries.plant('vendor-side model name', 'store', 'command', 'answer'),
  environment: canaries.plant('environment name', 'store', 'command'),
}
const secrets = {
  literal: canaries.plant('credential in the catalogue', 'store catalog.yaml'),
  environment: canaries.plant('credential in the environment'),
  master: canaries.watch('master key', 'c'.repeat(20) + '0123456789abcdef'.repeat(3).slice(0, 44)),
}
/** What the client sends; only answers that quote it contain it. */
const sent = {
  prompt: canaries.plant('prompt', 'answer'),
  system: canaries.plant('system prompt', 'answer'),
  tool: canaries.plant('tool definition', 'answer'),
  image: canaries.plant('image', 'answer'),
  field: canaries.plant('unknown field', 'answer'),
  user: canaries.plant('user id in metadata', 'answer'),
  stop: canaries.plant('stop sequence', 'answer'),
  query: canaries.plant('query string', 'answer'),
  header: canaries.plant('request header', 'answer'),
  cookie: canaries.plant('cookie'),
  agent: canaries.plant('user agent', 'answer'),
  forwarded: canaries.plant('forwarding header'),
  path: canaries.plant('unknown path'),
  unknownModel: canaries.plant('unknown model', 'answer'),
  brokenBody: canaries.plant('body that is no JSON'),
  earlierId: canaries.plant('id of an earlier answer', 'answer'),
  encrypted: canaries.plant('encrypted content of no vendor', 'answer'),
  method: canaries.plant('unknown method'),
  wrongKey: canaries.plant('wrong key'),
  head: canaries.plant('head that is no HTTP'),
}
/** What the vendor sends; only the client of that exchange gets it. */
const answered = {
  text: canaries.plant('answer', 'answer'),
  header: canaries.plant('vendor header', 'answer'),
  clientError: canaries.plant('vendor’s own 400', 'answer'),
  serverError: canaries.plant('vendor’s own 500', 'answer'),
  account: canaries.plant('vendor’s own 401'),
  streamError: canaries.plant('vendor’s error in a stream', 'answer'),
  garbage: canaries.plant('vendor’s garbage'),
}

let sandbox: Sandbox
let program: Program
let gateway: Serving
let key: string
let token: string
let adminToken: string
/** Answers of exchanges that quote what was sent or answered, and all the others. */
const exchangeAnswers: Place[] = []
const otherAnswers: Place[] = []

function catalogue(): string {
  const price = '{ input: 3, output: 15 }'
  const channel = (vendor: string, name: string, more: string): string =>
    `{ vendor: ${vendor}, url: "${sandbox.url}/${name}", check: none, ${more} }`
  return `
vendors:
  alpha: { format: messages, version_header: anthropic-version, default_version: "2023-06-01", credential: x-api-key }
  beta: { format: chat, credential: bearer }
models:
  ${names.model}-a: { vendor: alpha, max_output_tokens: 8192, price: ${price} }
  ${names.model}-b: { vendor: beta, max_output_tokens: 8192, price: ${price} }
channels:
  ${names.channel}-a: ${channel('alpha', 'alpha-main', `credential: "${secrets.literal}", models: { ${names.model}-a: ${JSON.stringify(`"'<b>${names.upstreamModel}`)} }`)}
  ${names.channel}-b: ${channel('beta', 'beta-main', `credential: "env:${names.environment}", models: [${names.model}-b]`)}
  spare-a: ${channel('alpha', 'alpha-reserve', `credential: "${secrets.literal}", models: [${names.model}-a], rank: 1`)}
  spare-b: ${channel('beta', 'beta-reserve', `credential: "${secrets.literal}", models: [${names.model}-b], rank: 1`)}
`
}

before(async () => {
  sandbox = await startSandbox({ keepBodies: true })
  program = await openProgram({
    TURNPIKE_LOG_LEVEL: 'trace',
    TURNPIKE_MASTER_KEY: secrets.master,
    TURNPIKE_CLIENT_LEFT_GRACE: '10ms',
    TURNPIKE_BODY_MAX_BYTES: '200000',
    [names.environment]: secrets.environment,
  })
  await program.write('catalog.yaml', catalogue())
  gateway = await program.serve()
  // Without a terminal the first start writes the operator's token to a file.
  const tokenFile = 'turnpike.db.admin-token'
  const written = readFileSync(join(program.folder, 'data', tokenFile), 'utf8').trim()
  adminToken = canaries.watch('admin token', written, `store ${tokenFile}`)
  await program.json('apply', '-f', 'catalog.yaml')
  await program.json('account', 'create', names.account, '--balance', '1000')
  const made = ['create', names.account, '--name']
  const newKey = await program.json<{ key: string }>('key', ...made, names.key)
  key = canaries.watch('client key', newKey.key, 'command key create')
  const newToken = await program.json<{ token: string }>('token', ...made, names.token)
  token = canaries.watch('read-only token', newToken.token, 'command token create')
  const second = await program.json<{ token: string }>(
    'admin-token',
    'create',
    '--name',
    names.admin,
  )
  canaries.watch('second admin token', second.token, 'command admin-token create')
  await untilServed()
})
after(async () => {
  await program.close()
  await sandbox.close()
})

/** The running gateway has followed the changes of the commands. */
async function untilServed(): Promise<void> {
  for (let look = 0; look < 5_000; look++) {
    const answers = await Promise.all(
      bodyFormats.map((format) => ask({ format, isStream: false, maxTokens: 16 })),
    )
    if (answers.every((answer) => answer.status === 200)) return
  }
  throw new Error('the gateway never served')
}

interface Ask {
  readonly format: BodyFormat
  readonly isStream: boolean
  readonly sandbox?: string
  readonly maxTokens?: number
  readonly onChunk?: WireRequest['onChunk']
}

function bodyOf({ format, isStream, maxTokens }: Ask): Record<string, unknown> {
  const schema = { type: 'object', properties: { [sent.tool]: { type: 'string' } } }
  const common = {
    model: `${names.model}-${format === 'messages' ? 'a' : 'b'}`,
    [sent.field]: sent.field,
  }
  const limited = { ...common, max_tokens: maxTokens ?? 60, stream: isStream }
  const image = btoa(sent.image)
  const tool = { name: 'look_up', description: sent.tool }
  switch (format) {
    case 'messages': {
      const source = { type: 'base64', media_type: 'image/png', data: image }
      const content = [
        { type: 'text', text: sent.prompt },
        { type: 'image', source },
      ]
      return {
        ...limited,
        system: sent.system,
        stop_sequences: [sent.stop],
        metadata: { user_id: sent.user },
        tools: [{ ...tool, input_schema: schema }],
        messages: [{ role: 'user', content }],
      }
    }
    case 'chat':
      return {
        ...limited,
        user: sent.user,
        stop: [sent.stop],
        tools: [{ type: 'function', function: { ...tool, parameters: schema } }],
        messages: [
          { role: 'system', content: sent.system },
          { role: 'user', content: sent.prompt },
        ],
      }
    case 'responses': {
      const content = [
        { type: 'input_text', text: sent.prompt },
        { type: 'input_image', image_url: `data:image/png;base64,${image}` },
      ]
      return {
        ...common,
        max_output_tokens: maxTokens ?? 60,
        stream: isStream,
        user: sent.user,
        instructions: sent.system,
        metadata: { user_id: sent.user },
        tools: [{ type: 'function', ...tool, parameters: schema }],
        input: [{ role: 'user', content }],
      }
    }
    case 'completions':
      return { ...limited, user: sent.user, stop: [sent.stop], prompt: sent.prompt }
    case 'embeddings':
      return { ...common, user: sent.user, input: [sent.system, sent.prompt] }
  }
}

const privateHeaders = {
  'user-agent': sent.agent,
  'x-custom': sent.header,
  cookie: `session=${sent.cookie}`,
  'x-forwarded-for': sent.forwarded,
}

async function ask(wish: Ask): Promise<WireAnswer> {
  const { format, sandbox: directives, onChunk } = wish
  const answer = await send(`${gateway.url}${places[format].path}?beta=${sent.query}`, {
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      ...privateHeaders,
      ...(directives === undefined ? {} : { 'x-sandbox': directives }),
    },
    body: JSON.stringify(bodyOf(wish)),
    ...(onChunk === undefined ? {} : { onChunk }),
  })
  exchangeAnswers.push({ name: 'answer', bytes: wholeAnswer(answer) })
  return answer
}

function wholeAnswer(answer: WireAnswer): Buffer {
  return Buffer.concat([Buffer.from(`${answer.rawHeaders.join('\n')}\n`), answer.body])
}

/** A request that is not an exchange; its answer must not quote private data. */
async function request(path: string, wire: WireRequest): Promise<WireAnswer> {
  const answer = await send(`${gateway.url}${path}`, {
    ...wire,
    headers: { ...privateHeaders, ...wire.headers },
  })
  otherAnswers.push({ name: `refusal ${path.split('?')[0]}`, bytes: wholeAnswer(answer) })
  return answer
}

const faults: readonly string[] = [
  `error=400; message=${answered.clientError}`,
  `error=422; message=${answered.clientError}`,
  `error=409; message=${answered.clientError}`,
  `error=500; message=${answered.serverError}`,
  `error=502; body=${answered.serverError}`,
  `error=429; message=${answered.serverError}`,
  `error=401; message=${answered.account}`,
  `error=403; message=${answered.account}`,
  `error=402; status=402; message=${answered.account}`,
  `body=${answered.garbage}; content_type=text/html`,
  `body=${answered.garbage}; content_type=application/json`,
  `redirect=http://127.0.0.1:9/${answered.garbage}; status=302`,
  `reset=before_head`,
  `close=after_head; header=x-vendor:${answered.header}`,
  `cut=60; piece=${answered.text}`,
]

const streamFaults: readonly string[] = [
  `error_first=; message=${answered.streamError}`,
  `cut_event=4; piece=${answered.text}`,
  `error_at=3; event_error=500; message=${answered.streamError}; piece=${answered.text}`,
  `terminal=missing; piece=${answered.text}`,
  `usage=huge; piece=${answered.text}`,
]

async function runLoad(): Promise<void> {
  for (const format of bodyFormats) {
    for (const isStream of formsOf(format)) {
      const plain = `piece=${answered.text}; header=x-vendor:${answered.header}; output=8`
      assert.equal((await ask({ format, isStream, sandbox: plain })).status, 200)
      await ask({ format, isStream, sandbox: `${plain}; content=thinking,text,tool` })
      await ask({ format, isStream, sandbox: `${plain}; usage=none` })
      await ask({ format, isStream, sandbox: `${plain}; usage=negative` })
      await ask({ format, isStream, maxTokens: 90_000_000 })
      for (const fault of isStream ? [...faults, ...streamFaults] : faults)
        await ask({ format, isStream, sandbox: fault })
    }
    // Clients that leave in the middle.
    const leaving = `piece=${answered.text}; output=30; event_delay_ms=1`
    for (let count = 0; count < 3; count++)
      await ask({
        format,
        isStream: format !== 'embeddings',
        sandbox: leaving,
        onChunk: () => 'leave',
      })
  }
  await useEarlierAnswers()
  await sendWrongRequests()
}

/** Stored responses and encrypted content, of this account and of none. */
async function useEarlierAnswers(): Promise<void> {
  const create = async (fields: object): Promise<WireAnswer> => {
    const body = { ...bodyOf({ format: 'responses', isStream: false }), ...fields }
    const answer = await request(responsesPath, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
    otherAnswers.pop()
    exchangeAnswers.push({ name: 'answer', bytes: wholeAnswer(answer) })
    return answer
  }
  const reasoning = { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] }
  const made = await create(reasoning)
  assert.equal(made.status, 200, made.text)
  const { id, output } = JSON.parse(made.text) as {
    readonly id: string
    readonly output: readonly { readonly encrypted_content?: string }[]
  }
  const [thought] = output
  assert.ok(thought?.encrypted_content !== undefined)
  canaries.watch('encrypted content', thought.encrypted_content, 'answer')
  const user = { role: 'user', content: sent.prompt }
  assert.equal((await create({ input: [thought, user] })).status, 200)
  assert.equal((await create({ previous_response_id: id })).status, 200)
  const foreign = { ...thought, id: sent.earlierId, encrypted_content: sent.encrypted }
  await create({ input: [foreign, user] })
  await create({ previous_response_id: sent.earlierId })
  await create({ input: [{ type: 'item_reference', id: sent.earlierId }] })
  for (const name of [id, sent.earlierId])
    for (const [method, path] of [
      ['GET', name],
      ['GET', `${name}/input_items`],
      ['POST', `${name}/cancel`],
      ['DELETE', name],
    ] as const) {
      const headers = { authorization: `Bearer ${key}` }
      await request(`${responsesPath}/${path}`, { method, headers })
      const answer = otherAnswers.pop()
      if (answer !== undefined) exchangeAnswers.push({ ...answer, name: 'answer' })
    }
}

async function sendWrongRequests(): Promise<void> {
  const json = { 'content-type': 'application/json' }
  const keyed = { ...json, authorization: `Bearer ${key}` }
  for (const format of bodyFormats) {
    const { path } = places[format]
    const body = JSON.stringify(bodyOf({ format, isStream: false }))
    const wrongKeys = [sent.wrongKey, `cr_${sent.wrongKey}`, key.slice(0, -1), token, adminToken]
    for (const wrong of wrongKeys) {
      await request(path, { headers: { ...json, 'x-api-key': wrong }, body })
      await request(path, { headers: { ...json, authorization: `Bearer ${wrong}` }, body })
    }
    await request(path, { headers: { ...keyed, 'x-api-key': sent.wrongKey }, body })
    await request(`${path}?key=${sent.query}`, { headers: json, body })
    for (const broken of [
      `{"model": "${sent.brokenBody}`,
      `{${sent.brokenBody}}`,
      `{"model": 7, "messages": "${sent.brokenBody}"}`,
      `{"model": "m", "model": "${sent.brokenBody}", "max_tokens": 1, "messages": [1]}`,
      `[${JSON.stringify(sent.brokenBody)}]`,
      `{"model": "m", "max_tokens": 1, "messages": [{"${sent.brokenBody}": "\ud800"}], "temperature": "${sent.brokenBody}"}`,
      Buffer.concat([Buffer.from(`{"model": "${sent.brokenBody}`), Buffer.from([0xff, 0xfe])]),
    ])
      await request(path, { headers: keyed, body: broken })
    const large = JSON.stringify({ text: sent.brokenBody.repeat(10_000) })
    await request(path, { headers: keyed, body: large })
    await request(path, { headers: { ...keyed, 'content-type': sent.header }, body })
    await request(path, { headers: { ...keyed, 'content-encoding': sent.header }, body })
    if (format === 'messages')
      await request(path, { headers: { ...keyed, 'alpha-version': sent.header }, body })
    const unknown = JSON.stringify({
      ...bodyOf({ format, isStream: false }),
      model: sent.unknownModel,
    })
    const answer = await send(`${gateway.url}${path}`, { headers: keyed, body: unknown })
    exchangeAnswers.push({ name: 'answer', bytes: wholeAnswer(answer) })
    await request(`${path}/${sent.path}`, { headers: keyed, body })
    await request(path, { method: 'PUT', headers: keyed, body })
  }
  await request(`/alpha/v1/models/${sent.unknownModel}`, { headers: keyed })
  await request(`/${sent.path}`, { headers: keyed })
  await request(`/v1/usage?period=${sent.query}`, { headers: { authorization: `Bearer ${token}` } })
  await request('/v1/usage', { headers: { authorization: `Bearer ${key}` } })
  await request('/v1/usage', { headers: { authorization: `Bearer ro_${sent.wrongKey}` } })
  const count = JSON.stringify({ ...bodyOf({ format: 'messages', isStream: false }) })
  await request('/alpha/v1/messages/count_tokens', { headers: keyed, body: count })
  for (const head of [
    `${sent.method} / HTTP/1.1\r\nHost: a\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: a\r\n${sent.head}\r\n\r\n`,
    `GET /${sent.head} HTTP/9.9\r\n\r\n`,
  ]) {
    const answers = await exchangeRaw(gateway.url, head)
    for (const one of answers)
      otherAnswers.push({
        name: 'refusal of a malformed head',
        bytes: Buffer.concat([Buffer.from(JSON.stringify(one.headers)), one.body]),
      })
  }
  const noAdmin = await send(`${gateway.adminUrl}/metrics`, {
    headers: { authorization: `Bearer ad_${sent.wrongKey}` },
  })
  otherAnswers.push({ name: 'refusal /metrics', bytes: wholeAnswer(noAdmin) })
}

/** Every command that shows or changes something, on the store the load runs on. */
async function runCommands(): Promise<void> {
  const { account } = names
  await program.json('account', 'list')
  await program.json('account', 'show', account)
  const credit = ['account', 'credit', account, '1', '--reference', names.reference]
  await program.json(...credit, '--note', names.note)
  await program.json('account', 'limits', account, '--rpm', '100000')
  await program.json('account', 'statement', account)
  await program.run('account', 'statement', account, '--csv')
  await program.json('key', 'list', account)
  await program.json('token', 'list', account)
  await program.json('admin-token', 'list')
  await program.json('channel', 'list')
  await program.json('channel', 'check', `${names.channel}-a`)
  await program.run('channel', 'check', `${names.channel}-b`)
  await program.json('channel', 'off', 'spare-a')
  await program.json('channel', 'on', 'spare-a')
  await program.json('price', 'list')
  await program.json('usage', account, '--period', 'total')
  await program.json('audit')
  await program.json('actions')
  await program.json('doctor')
  await program.run('doctor')
  await program.run('export')
  await program.json('export')
  await program.json('apply', '-f', 'catalog.yaml', '--dry-run')
  // Messages about mistakes do not quote secrets.
  await program.write(
    'wrong.yaml',
    `${catalogue()}  wrong: { credential: "${secrets.literal} x" }\n`,
  )
  await program.run('apply', '-f', 'wrong.yaml', '--json')
  await program.run('apply', '-f', 'wrong.yaml')
  // A secret given in place of an id appears in the operator's own command line only.
  await program.run('key', 'revoke', key, '--json')
  await program.run('account', 'show', `nobody ${account}`, '--json')
}

async function readFigures(): Promise<Place[]> {
  const metrics = await send(`${gateway.adminUrl}/metrics`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  assert.equal(metrics.status, 200)
  const usage = await send(`${gateway.url}/v1/usage?period=total`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(usage.status, 200)
  const models = await send(`${gateway.url}/alpha/v1/models`, { headers: { 'x-api-key': key } })
  const health = await send(`${gateway.url}/health`)
  return [
    { name: 'metrics', bytes: wholeAnswer(metrics) },
    { name: 'usage', bytes: wholeAnswer(usage) },
    { name: 'answer models', bytes: wholeAnswer(models) },
    { name: 'health', bytes: wholeAnswer(health) },
  ]
}

function commandPlaces(): Place[] {
  return program.ran.map(({ words, out, error }) => ({
    name: `command ${words.slice(0, 2).join(' ')}`,
    bytes: Buffer.from(`${out}\n${error}`),
  }))
}

/** What the process shows to every user of the machine. */
function processPlaces(): Place[] {
  return [{ name: 'command line', bytes: readFileSync(`/proc/${gateway.pid}/cmdline`) }]
}

const ownFiles = ['master.key', 'catalog.yaml', 'wrong.yaml']

describe('a canary', () => {
  const places: Place[] = []
  before(async () => {
    await runLoad()
    await runCommands()
    await runLoad()
    const figures = await readFigures()
    const running = [...filesIn(program.folder, ownFiles), ...processPlaces()]
    assert.equal(await gateway.stop(), 0)
    places.push(
      ...figures,
      ...running,
      ...filesIn(program.folder, ownFiles),
      ...commandPlaces(),
      ...exchangeAnswers,
      ...otherAnswers,
      { name: 'log', bytes: Buffer.from(gateway.output()) },
      { name: 'shown at start', bytes: Buffer.from(gateway.errors()) },
    )
  })

  test('is only in allowed places', () => {
    assert.deepEqual([...new Set(canaries.search(places))], [])
  })

  test('of a name is found where names are shown, so the search works', () => {
    const shown = canaries.placesOf('account name', places)
    assert.ok(shown.some((name) => name.startsWith('store turnpike.db')))
    assert.ok(shown.some((name) => name.startsWith('command account list')))
    assert.ok(canaries.placesOf('channel name', places).includes('log'))
    assert.ok(canaries.placesOf('channel name', places).includes('metrics'))
    assert.ok(canaries.placesOf('model name', places).includes('usage'))
    for (const name of ['answer', 'vendor header', 'vendor’s own 400', 'vendor’s own 500'])
      assert.ok(canaries.placesOf(name, places).includes('answer'), `${name} reached its client`)
  })

  test('of a prompt, a header and a credential reaches its vendor', () => {
    const wire = Buffer.concat(
      sandbox.log.records.flatMap((record) => [
        Buffer.from(record.rawHeaders.join('\n') + record.target),
        record.requestBody ?? Buffer.alloc(0),
      ]),
    )
    for (const text of [sent.prompt, sent.system, sent.tool, sent.field, sent.query, sent.header])
      assert.notEqual(findIn(wire, text), undefined)
    for (const text of [sent.cookie, sent.forwarded, key, token])
      assert.equal(findIn(wire, text), undefined, 'what is not the vendor’s did not reach it')
  })

  test('is found in every encoding', () => {
    const text = 'canary000xabcdefghijklmnop'
    for (const written of [
      `before ${text} after`,
      Buffer.from(`a${text}`).toString('base64'),
      Buffer.from(`ab${text}b`).toString('base64'),
      Buffer.from(text).toString('hex'),
      text.toUpperCase(),
      text.slice(4),
      text.slice(0, 20),
    ])
      assert.notEqual(findIn(Buffer.from(written), text), undefined, written)
    assert.equal(findIn(Buffer.from('canary000x'), text), undefined)
  })

  test('the load has every kind of ending in the log', () => {
    const log = gateway.output()
    const lines = log
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { msg: string; ending?: string; level: string })
    const endings = new Set(lines.map((line) => line.ending))
    for (const ending of ['completed', 'client_left', 'upstream_cut', 'refused', 'failed'])
      assert.ok(endings.has(ending), ending)
    const said = new Set(lines.map((line) => line.msg))
    for (const msg of ['serving', 'exchange ended', 'request refused', 'channel state changed'])
      assert.ok(said.has(msg), msg)
    assert.deepEqual(
      lines.filter((line) => line.msg === 'fault'),
      [],
    )
  })
})
