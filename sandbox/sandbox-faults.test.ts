/** Faults on request: errors, cuts, stalls, resets, unusual streams, delays and gates. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ManualClock } from '../test/support/manual-clock.ts'
import { errorPresets } from './error-presets.ts'
import { sendToVendor, type VendorRequest, type WireAnswer } from '../test/support/http-client.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox({ keepBodies: true })
})
after(() => sandbox.close())

const paths = { messages: '/alpha-main/v1/messages', chat: '/beta-main/v1/chat/completions' }
type Format = keyof typeof paths

interface AskOptions extends VendorRequest {
  readonly format?: Format
  readonly stream?: boolean
}

function ask(directives: string, options: AskOptions = {}): Promise<WireAnswer> {
  const { format = 'messages', stream = true, ...more } = options
  const messages = [{ role: 'user', content: 'hello' }]
  return sendToVendor(sandbox.url + paths[format], {
    body: { model: 'large-1', max_tokens: 100, stream, messages },
    headers: { 'x-sandbox': directives },
    ...more,
  })
}

const lastClosed = () => {
  const index = sandbox.log.records.length - 1
  return sandbox.log.waitFor((record) => record.index >= index && record.phase === 'closed')
}

/** The text of an answer without the parts that differ between two answers. */
const comparable = (text: string) => text.replaceAll(/sandbox0\d+|request \w+|"created":\d+/g, '')

test('answers every row of the error table with its status and envelope', async () => {
  for (const [name, row] of errorPresets) {
    const format = name.startsWith('messages') ? 'messages' : 'chat'
    const received = await ask(`error=${name}`, { format })
    assert.equal(received.status, row.status, name)
    assert.equal(received.headers['retry-after'], row.retryAfter, name)
    if (row.page !== undefined) continue
    const body = JSON.parse(received.text) as {
      error: { type: string; code?: string; details?: { error_code: string } }
      request_id?: string
    }
    assert.equal(body.error.type, row.type, name)
    assert.equal(body.error.code ?? body.error.details?.error_code, row.code, name)
    if (format === 'messages') assert.equal(body.request_id, received.headers['request-id'])
  }
})

test('answers with any status, error parts, headers and body', async () => {
  const plain = await ask('status=418; type=odd; message=x; retry_after=2; should_retry=false')
  assert.equal(plain.status, 418)
  assert.match(plain.text, /"type":"odd","message":"x"/)
  assert.equal(plain.headers['retry-after'], '2')
  assert.equal(plain.headers['x-should-retry'], 'false')
  const raw = await ask('status=500; body=%7Boops; content_type=text/plain; header=x-odd: yes')
  assert.equal(raw.text, '{oops')
  assert.equal(raw.headers['content-type'], 'text/plain')
  assert.equal(raw.headers['x-odd'], 'yes')
  const moved = await ask('redirect=http://elsewhere.example/')
  assert.deepEqual([moved.status, moved.headers.location], [307, 'http://elsewhere.example/'])
})

test('reads directives from the model’s name and the prompt; the header wins', async () => {
  const body = (model: string, content: string) => ({
    model,
    max_tokens: 9,
    messages: [{ role: 'user', content }],
  })
  const url = sandbox.url + paths.messages
  assert.equal((await sendToVendor(url, { body: body('large-1+status=503', 'x') })).status, 503)
  const both = body('large-1+status=503', '[[sandbox: status=429]] x')
  assert.equal((await sendToVendor(url, { body: both })).status, 429)
  const headers = { 'x-sandbox': 'status=500' }
  assert.equal((await sendToVendor(url, { body: both, headers })).status, 500)
  const wrong = await sendToVendor(url, { body: body('x', '[[sandbox: statsu=429]]') })
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /no directive \\"statsu\\"/)
})

test('answers 200 with a body that is not an answer', async () => {
  for (const kind of ['json', 'html', 'garbage', 'empty', 'other_format']) {
    const received = await ask(`not_format=${kind}`, { stream: false })
    assert.equal(received.status, 200)
    assert.ok(!received.text.includes('"role":"assistant"'))
  }
  const half = await ask('truncated_json', { stream: false })
  assert.ok(half.isComplete)
  assert.equal(half.headers['content-length'], String(half.body.length))
  assert.throws(() => JSON.parse(half.text) as unknown)
})

test('cuts a body at an exact byte, in three ways', async () => {
  for (const format of ['messages', 'chat'] as const) {
    const whole = await ask('output=2', { format })
    for (const at of [0, 1, 100, whole.body.length - 1]) {
      for (const way of ['destroy', 'reset', 'end']) {
        const directives = `output=2; cut=${at}; cut_as=${way}`
        const received = await ask(directives, { format })
        const name = `${format} ${directives}`
        assert.equal(received.body.length, at, name)
        assert.equal(received.isComplete, way === 'end', name)
        const record = await lastClosed()
        assert.deepEqual(record.responseBody, received.body, name)
        assert.equal(record.isTerminalSent, false, name)
        assert.equal(record.closedBy, 'sandbox', name)
      }
    }
  }
})

test('cuts a JSON body before its announced length', async () => {
  const received = await ask('cut=-3', { stream: false })
  assert.equal(received.isComplete, false)
  assert.equal(received.body.length, Number(received.headers['content-length']) - 3)
})

test('cuts or sends an error at any event', async () => {
  for (const format of ['messages', 'chat'] as const) {
    const whole = await ask('output=2', { format })
    const frames = whole.text.split('\n\n')
    for (let index = 0; index < frames.length - 1; index++) {
      const cut = await ask(`output=2; cut_event=${index}`, { format })
      assert.equal(cut.isComplete, false)
      assert.equal(cut.text.split('\n\n').length - 1, index)
      const erred = await ask(`output=2; error_at=${index}; event_error=500`, { format })
      assert.ok(erred.isComplete)
      assert.equal(erred.text.split('\n\n').length - 1, index + 1)
      assert.match(erred.text.split('\n\n')[index] ?? '', /"error":/)
    }
  }
})

test('begins with an error, after pings on request', async () => {
  const messages = await ask('error_first=529; pings=2')
  assert.match(
    messages.text,
    /^(event: ping\n.*\n\n){2}event: error\ndata: .*overloaded_error.*\n\n$/,
  )
  const chat = await ask('error_first; pings=1; named_error', { format: 'chat' })
  assert.match(chat.text, /^: ping\n\nevent: error\ndata: \{"error":.*server_is_overloaded.*\n\n$/)
})

test('sends nothing more until the client leaves', async () => {
  const received = await ask('stall=700', {
    onChunk: (() => {
      let size = 0
      return (chunk: Buffer) => {
        size += chunk.length
        return size === 700 ? 'leave' : undefined
      }
    })(),
  })
  assert.equal(received.body.length, 700)
  const record = await lastClosed()
  assert.equal(record.closedBy, 'client')
  assert.equal(record.responseBytes, 700)
})

test('ends connections before or after the head', async () => {
  for (const way of ['close', 'reset']) {
    await assert.rejects(ask(`${way}=before_head`))
    const received = await ask(`${way}=after_head`)
    assert.deepEqual([received.isComplete, received.body.length], [false, 0])
  }
})

test('writes the same bytes in any chunks', async () => {
  const whole = await ask('output=3; piece=emoji')
  for (const chunking of ['byte', 'random', 'whole', 'event']) {
    let chunkCount = 0
    const received = await ask(`output=3; piece=emoji; chunking=${chunking}; seed=3`, {
      onChunk: () => chunkCount++,
    })
    assert.equal(comparable(received.text), comparable(whole.text), chunking)
    if (chunking === 'byte') assert.ok(chunkCount > received.body.length / 4)
    const record = await lastClosed()
    assert.equal(record.isTerminalFlushed, true, chunking)
    assert.equal(record.isUsageSent, true, chunking)
  }
})

test('compresses whole and streamed bodies', async () => {
  for (const stream of [true, false]) {
    const plain = await ask('output=4', { stream })
    const zipped = await ask('output=4; gzip', { stream })
    assert.equal(zipped.headers['content-encoding'], 'gzip')
    assert.equal(comparable(gunzipSync(zipped.body).toString()), comparable(plain.text))
  }
})

test('frames the body by length, by chunks or by closing', async () => {
  const headersOf = async (framing: string) => (await ask(`framing=${framing}`)).headers
  assert.ok((await headersOf('length'))['content-length'])
  assert.equal((await headersOf('chunked'))['transfer-encoding'], 'chunked')
  const closing = await headersOf('close')
  assert.deepEqual(
    [closing['content-length'], closing['transfer-encoding'], closing.connection],
    [undefined, undefined, 'close'],
  )
})

test('changes line ends and adds comments without changing events', async () => {
  const plain = comparable((await ask('output=2')).text)
  const bent = async (directives: string) => (await ask(`output=2; ${directives}`)).text
  assert.equal(comparable((await bent('newline=crlf')).replaceAll('\r\n', '\n')), plain)
  assert.equal(comparable((await bent('newline=cr')).replaceAll('\r', '\n')), plain)
  assert.equal(comparable((await ask('output=2; bom')).body.subarray(3).toString()), plain)
  const decorated = await bent('comments; unknown_events; id_lines')
  const stripped = decorated
    .replaceAll(/id: 7\nretry: 3000\n/g, '')
    .replaceAll(/: simulated comment \d+\n\n/g, '')
    .replaceAll(/event: sandbox_unknown\n.*\n\n/g, '')
  assert.equal(comparable(stripped), plain)
  assert.ok(decorated.length > plain.length + 200)
})

test('omits the terminal event, repeats it, or sends bytes after it', async () => {
  const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
  const endings = async (directives: string) => (await ask(directives)).text.split(stop)
  assert.equal((await endings('terminal=missing')).length, 1)
  assert.equal((await lastClosed()).isTerminalSent, false)
  assert.equal((await endings('terminal=twice')).length, 3)
  assert.equal((await endings('after_terminal=more%0A')).at(-1), 'more\n')
  assert.ok((await ask('terminal=unfinished')).text.endsWith('stop"}\n'))
})

test('cuts large frames at the exact byte, however slowly the client reads', async () => {
  const received = await ask('output=3; frame=1000000; cut=2500000', {
    onChunk: () => 'pause',
  })
  assert.deepEqual([received.body.length, received.isComplete], [2_500_000, false])
})

test('sends frames of a megabyte', async () => {
  const received = await ask('output=3; frame=1000000')
  assert.ok(received.body.length > 3_000_000)
  assert.equal((await lastClosed()).usage?.counts.output, 3)
})

test('stops at a gate until it is opened', async () => {
  const points = ['before_head', 'after_head', 'first_event', 'mid', 'before_usage']
  for (const stream of [true, false]) {
    let bytesBefore = -1
    for (const point of [...points, 'before_terminal']) {
      const gate = `${point} ${stream}`
      let bytes = 0
      const answered = ask(`output=6; hold=${gate}@${point}`, {
        stream,
        onChunk: (chunk) => (bytes += chunk.length),
      })
      await sandbox.faults.reached(gate)
      const running = sandbox.log.records.at(-1)
      assert.equal(running?.isTerminalSent, false)
      assert.ok(running.responseBytes >= Math.max(0, bytesBefore), gate)
      bytesBefore = running.responseBytes
      sandbox.faults.release(gate)
      const received = await answered
      assert.ok(received.isComplete)
      assert.equal(received.body.length, bytes)
    }
    assert.ok(bytesBefore > 100)
  }
})

test('refuses unknown names', async () => {
  for (const directives of ['hold=a@nowhere', 'error=nothing', 'content=poem', 'error_first=x']) {
    assert.equal((await ask(directives)).status, 400, directives)
  }
})

test('waits by its own clock, before the head and between events', async () => {
  const clock = new ManualClock()
  const slow = await startSandbox({ clock })
  try {
    const messages = [{ role: 'user', content: 'hello' }]
    const body = { model: 'm', max_tokens: 9, stream: true, messages }
    const directives = 'output=2; delay_ms=1000; first_event_delay_ms=500; event_delay_ms=10'
    const headers = { 'x-sandbox': directives }
    const pending = new Set<string>(['answer'])
    const answered = sendToVendor(slow.url + paths.chat, { body, headers })
    void answered.finally(() => pending.clear())
    await slow.log.waitFor((record) => record.phase === 'received')
    const startMs = clock.monotonic()
    while (pending.size > 0) {
      clock.advance(1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok((await answered).isComplete)
    assert.ok(clock.monotonic() - startMs >= 1000 + 500 + 4 * 10)
  } finally {
    await slow.close()
  }
})

test('sets faults for a channel: fixed, in turn, by rule; and clears them', async () => {
  const { faults } = sandbox
  const status = async (format: Format = 'messages') => (await ask('', { format })).status
  faults.set('alpha-main', 'error=529')
  assert.deepEqual([await status(), await status('chat')], [529, 200])
  faults.set('alpha-main', ['status=500', '', 'status=503'])
  assert.deepEqual(
    [await status(), await status(), await status(), await status()],
    [500, 200, 503, 200],
  )
  faults.set('alpha-main', (index, { isStream }) =>
    index === 1 && isStream ? { status: 429 } : undefined,
  )
  assert.deepEqual([await status(), await status(), await status()], [200, 429, 200])
  faults.set('*', { status: 502 })
  assert.deepEqual([await status(), await status('chat')], [200, 502])
  faults.clear()
  assert.equal(await status('chat'), 200)
  assert.throws(() => faults.set('alpha-main', 'statsu=1'))
})

test('accepts only the configured credential of a channel', async () => {
  const strict = await startSandbox({ credentials: { main: 'right' } })
  try {
    const messages = [{ role: 'user', content: 'hello' }]
    const options = (credential: string) => ({
      body: { model: 'm', messages },
      headers: { authorization: `Bearer ${credential}` },
    })
    const status = async (channel: string, credential: string) =>
      (await sendToVendor(`${strict.url}/${channel}/v1/chat/completions`, options(credential)))
        .status
    assert.deepEqual(
      [await status('main', 'wrong'), await status('main', 'right'), await status('x', 'any')],
      [401, 200, 200],
    )
  } finally {
    await strict.close()
  }
})
