/**
 * The two edits the gateway may make to a body, seen from both ends: the usage chunk asked for in a
 * chat stream, and a model named as its channel knows it. Everything beside the edit is compared to
 * the byte.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { demoCatalogue } from '../../sandbox/demo.ts'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import { chatPath, messagesPath, responsesPath } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { post, type WireAnswer } from '../support/http-client.ts'

let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario({ catalogue: mappedCatalogue })
  account = await gateway.createAccount()
})
after(() => gateway.close())

/** The demo's, with one model of each vendor that its channel knows by another name. */
function mappedCatalogue(url: string): string {
  const catalogue = demoCatalogue(url)
  const { channels } = catalogue
  return JSON.stringify({
    ...catalogue,
    channels: {
      'alpha-main': {
        ...channels['alpha-main'],
        models: { 'large-1': 'large-1', 'small-1': 'vendor-side/small:1' },
      },
      'beta-main': {
        ...channels['beta-main'],
        models: { 'chat-1': 'chat-1', 'chat-mini-1': 'mini' },
      },
    },
  })
}

interface Seen {
  readonly answer: WireAnswer
  readonly record: ServedRecord
  readonly vendorGot: string
  readonly vendorSaid: string
}

let count = 0

/** Sends a body as it stands and gives both ends' view of it. */
async function see(path: string, body: string, sandbox = ''): Promise<Seen> {
  const marker = `seen-${++count}`
  const headers = { 'x-sandbox-marker': marker, ...(sandbox !== '' && { 'x-sandbox': sandbox }) }
  const answer = await post(gateway.url + path, account.key, body, headers)
  assert.equal(answer.status, 200, answer.body.toString())
  const record = await gateway.sandbox.log.waitFor(
    (one) => one.marker === marker && one.phase === 'closed',
  )
  return {
    answer,
    record,
    vendorGot: record.requestBody?.toString() ?? '',
    vendorSaid: record.responseBody?.toString() ?? '',
  }
}

const rest = '"model":"chat-1", "max_tokens":1e1 ,"messages":[{"role":"user","content":"hi"}]'
const streaming = `"stream":true,${rest}`

const asked = '"stream_options":{"include_usage":true},'

const usageRequests: readonly (readonly [name: string, sent: string, got: string])[] = [
  ['no stream_options', `{ ${streaming}}`, `{${asked} ${streaming}}`],
  [
    'stream_options null',
    `{"stream_options":null,${streaming}}`,
    `{"stream_options":{"include_usage":true},${streaming}}`,
  ],
  [
    'empty stream_options',
    `{${streaming},"stream_options" : { } }`,
    `{${streaming},"stream_options" : {"include_usage":true } }`,
  ],
  [
    'include_usage false',
    `{"stream_options":{ "include_usage" : false , "x":1.0},${streaming}}`,
    `{"stream_options":{ "include_usage" : true , "x":1.0},${streaming}}`,
  ],
  [
    'another stream option',
    `{"stream_options":{ "include_obfuscation":false},${streaming}}`,
    `{"stream_options":{"include_usage":true, "include_obfuscation":false},${streaming}}`,
  ],
  [
    'names spelled with escapes',
    `{"stream\\u005foptions":{"include\\u005fusage":null},"n":1,${streaming}}`,
    `{"stream\\u005foptions":{"include\\u005fusage":true},"n":1,${streaming}}`,
  ],
]

for (const [name, sent, got] of usageRequests)
  test(`a chat stream with ${name} gains exactly the one field and loses exactly the one chunk`, async () => {
    const { answer, vendorGot, vendorSaid } = await see(chatPath, sent)
    assert.equal(vendorGot, got)
    const usageChunk = /data: \{[^\n]*"choices":\[\],"usage":\{[^\n]*\}\n\n/.exec(vendorSaid)?.[0]
    assert.ok(usageChunk !== undefined)
    assert.equal(answer.body.toString(), vendorSaid.replace(usageChunk, ''))
    assert.ok(answer.isComplete)
  })

test('a chat stream whose client requests the usage chunk is unchanged in both directions', async () => {
  for (const options of ['{"include_usage":true}', '{ "x":1 , "include_usage" : true}']) {
    const body = `{"stream_options":${options},${streaming}}`
    const { answer, vendorGot, vendorSaid } = await see(chatPath, body)
    assert.equal(vendorGot, body)
    assert.equal(answer.body.toString(), vendorSaid)
    assert.match(vendorSaid, /"choices":\[\],"usage":\{/)
  }
})

test('a chat request without a stream is unchanged in both directions', async () => {
  for (const body of [`{${rest}}`, `{"stream":false,${rest}}`, `{"stream":null,${rest}}`]) {
    const { answer, vendorGot, vendorSaid } = await see(chatPath, body)
    assert.equal(vendorGot, body)
    assert.equal(answer.body.toString(), vendorSaid)
  }
})

test('removes from a chat stream only the chunk that has nothing but counts', async () => {
  for (const place of ['chunk', 'finish', 'every', 'after_done']) {
    const { answer, vendorSaid } = await see(chatPath, `{${streaming}}`, `usage_at=${place}`)
    const frames = vendorSaid.split(/(?<=\n\n)/)
    const kept = frames.filter((frame) => !/"choices":\[\],"usage":\{/.test(frame))
    assert.equal(answer.body.toString(), kept.join(''), place)
    assert.ok(answer.isComplete, place)
    if (place === 'finish' || place === 'every') assert.match(kept.join(''), /"usage":\{/)
  }
})

test('the usage chunk is removed for every line end and every cut of the stream', async () => {
  for (const newline of ['lf', 'crlf', 'cr'])
    for (const chunking of ['event', 'byte', 'random', 'whole']) {
      const wish = `newline=${newline}; chunking=${chunking}; comments; unknown_events`
      const { answer, vendorSaid } = await see(chatPath, `{${streaming}}`, wish)
      const blank = { lf: '\n\n', crlf: '\r\n\r\n', cr: '\r\r' }[newline] ?? ''
      const frames = vendorSaid.split(blank)
      const kept = frames.filter((frame) => !/"choices":\[\],"usage":\{/.test(frame))
      assert.equal(kept.length, frames.length - 1)
      assert.equal(answer.body.toString(), kept.join(blank), wish)
    }
})

test('a messages stream is never edited', async () => {
  const body =
    '{"model":"large-1","max_tokens":20,"stream":true,"messages":[{"role":"user","content":"hi"}]}'
  const { answer, vendorGot, vendorSaid } = await see(messagesPath, body, 'content=all; comments')
  assert.equal(vendorGot, body)
  assert.equal(answer.body.toString(), vendorSaid)
})

test('a mapped model is renamed in the request and nothing else is', async () => {
  const messages = (model: string): string =>
    `{ "x":1.0,"model" : ${model} ,"max_tokens":5,"messages":[{"role":"user","content":"small-1"}]}`
  const mapped = '"vendor-side/small:1"'
  for (const spelling of ['"small-1"', '"sm\\u0061ll-1"']) {
    const { answer, vendorGot, vendorSaid } = await see(messagesPath, messages(spelling))
    assert.equal(vendorGot, messages(mapped))
    assert.equal(answer.body.toString(), vendorSaid)
  }
  const counted = await see(`${messagesPath}/count_tokens`, messages('"small-1"'))
  assert.equal(counted.vendorGot, messages(mapped))
})

test('a mapped model and the usage chunk are spliced into one chat request', async () => {
  const chat =
    '{"messages":[{"role":"user","content":"hi"}],"model":"chat-mini-1","stream":true,"max_tokens":3}'
  const { vendorGot } = await see(chatPath, chat)
  assert.equal(vendorGot, `{${asked}${chat.slice(1).replace('chat-mini-1', 'mini')}`)
})

test('a request for a response is renamed where its channel maps the model, and never edited else', async () => {
  const asking = (model: string): string =>
    `{ "stream" : true,"input":[{"role":"user","content":"chat-mini-1"}], "model":${model},"x":1.0}`
  for (const spelling of ['"chat-mini-1"', '"ch\\u0061t-mini-1"']) {
    const { answer, vendorGot, vendorSaid } = await see(responsesPath, asking(spelling))
    assert.equal(vendorGot, asking('"mini"'))
    assert.equal(answer.body.toString(), vendorSaid)
  }
  const plain = await see(responsesPath, asking('"chat-1"'))
  assert.equal(plain.vendorGot, asking('"chat-1"'))
})

test('tool calls, thinking, refusals and every other kind of content pass unchanged', async () => {
  const kinds: readonly (readonly [string, string, readonly string[]])[] = [
    [
      messagesPath,
      '"model":"large-1","max_tokens":90,"messages":[{"role":"user","content":"hi"}]',
      ['content=all', 'content=tool', 'content=omitted', 'refusal=empty', 'refusal=partial'],
    ],
    [
      chatPath,
      rest,
      [
        'content=tool',
        'content=reasoning,text',
        'content=refusal',
        'content=audio',
        'refusal=empty',
      ],
    ],
    [
      responsesPath,
      '"model":"chat-1","max_output_tokens":90,"input":"hi"',
      [
        'content=tool',
        'content=reasoning,text',
        'content=refusal',
        'content=audio',
        'refusal=empty',
        'stop=max_output_tokens',
      ],
    ],
  ]
  for (const [path, fields, wishes] of kinds)
    for (const wish of [...wishes, 'frame=100000; output=3', 'cached=5; reasoning=2'])
      for (const stream of ['', '"stream":true,"stream_options":{"include_usage":true},']) {
        const body = `{${path === chatPath ? stream : stream.slice(0, 14)}${fields}}`
        const { answer, vendorGot, vendorSaid } = await see(path, body, wish)
        assert.equal(vendorGot, body)
        assert.equal(answer.body.toString(), vendorSaid, `${path} ${wish} ${stream}`)
      }
})
