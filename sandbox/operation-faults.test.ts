/** Faults of responses, embeddings and completions: the same directives as for the first two operations. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advanceUntil, ManualClock } from '../test/support/manual-clock.ts'
import { eventData, open, sendToVendor } from '../test/support/http-client.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const clock = new ManualClock()
let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox({ keepBodies: true, clock })
})
after(() => sandbox.close())

const bodies = {
  responses: { model: 'chat-1', input: 'hello' },
  completions: { model: 'chat-1', prompt: 'hello', max_tokens: 100 },
  embeddings: { model: 'embed-1', input: 'hello' },
}
type Operation = keyof typeof bodies

function ask(operation: Operation, directives: string, stream = operation !== 'embeddings') {
  return sendToVendor(`${sandbox.url}/beta-main/v1/${operation}`, {
    body: { ...bodies[operation], ...(stream ? { stream } : {}) },
    headers: { 'x-sandbox': directives },
  })
}

const operations = Object.keys(bodies) as Operation[]
const streamed = ['responses', 'completions'] as const

interface Event {
  readonly type?: string
  readonly sequence_number?: number
  readonly error?: { readonly code: string | null; readonly message: string }
  readonly code?: string
  readonly response?: { readonly status: string; readonly error: unknown; readonly usage: unknown }
}

const lastClosed = () => {
  const index = sandbox.log.records.length - 1
  return sandbox.log.waitFor((record) => record.index >= index && record.phase === 'closed')
}

test('answers with any error, and with a body that is no answer', async () => {
  for (const operation of operations) {
    const refused = await ask(operation, 'error=429_insufficient_quota')
    assert.equal(refused.status, 429)
    assert.match(refused.text, /"code":"insufficient_quota"/)
    assert.equal((await ask(operation, 'error=529; status=503')).status, 503)
    assert.equal((await ask(operation, 'not_format=empty')).text, '')
    const half = await ask(operation, 'truncated_json', false)
    assert.throws(() => JSON.parse(half.text) as unknown)
    const record = await lastClosed()
    assert.equal(record.isTerminalSent, false)
  }
})

test('cuts an answer at an exact byte and at each event', async () => {
  for (const operation of streamed) {
    const whole = await ask(operation, 'output=2')
    const events = whole.text.split('\n\n').length - 1
    for (let at = 0; at < events; at++) {
      const cut = await ask(operation, `output=2; cut_event=${at}`)
      assert.equal(cut.text.split('\n\n').length - 1, at)
      assert.equal(cut.isComplete, false)
      assert.equal((await lastClosed()).isTerminalSent, false)
    }
    const reset = await ask(operation, 'output=2; cut=-5; cut_as=end')
    assert.equal(reset.body.length, whole.body.length - 5)
  }
  const vector = await ask('embeddings', 'cut=100')
  assert.deepEqual([vector.body.length, vector.isComplete], [100, false])
})

test('sends the errors of a response in each of their forms, numbered in order', async () => {
  const events = async (directives: string) => {
    const all = eventData((await ask('responses', directives)).text) as Event[]
    assert.deepEqual(
      all.map((event) => event.sequence_number),
      all.map((_, index) => index),
    )
    return all
  }
  const [first] = await events('error_first=429')
  assert.deepEqual([first?.type, first?.error?.code], ['error', 'rate_limit_exceeded'])
  const midway = await events('error_at=4; pings=2')
  assert.deepEqual(
    midway.map(({ type }) => type?.replace('response.', '')),
    [
      'created',
      'in_progress',
      'keepalive',
      'keepalive',
      'output_item.added',
      'content_part.added',
      'error',
    ],
  )
  assert.equal(midway.at(-1)?.error?.code, 'server_is_overloaded')
  const flat = await events('error_at=2; event_error=500; error_as=flat')
  assert.deepEqual([flat.at(-1)?.code, flat.at(-1)?.error], [null, undefined])
  const failed = (await events('error_at=2; error_as=failed')).at(-1)
  assert.equal(failed?.type, 'response.failed')
  assert.deepEqual([failed.response?.status, failed.response?.usage], ['failed', null])
  const both = await events('error_at=2; error_as=both')
  assert.deepEqual(
    both.slice(2).map(({ type }) => type),
    ['error', 'response.failed'],
  )
})

test('sends the errors of a completion as those of chat', async () => {
  const { text } = await ask('completions', 'error_at=2')
  assert.match(text, /data: \{"error":\{"message":"The server is overloaded\."/)
  assert.ok(!text.includes('[DONE]'))
})

test('changes the end of a stream and adds what clients must ignore', async () => {
  const { text: missing } = await ask('responses', 'terminal=missing')
  assert.ok(!missing.includes('response.completed'))
  const { text: twice } = await ask('responses', 'terminal=twice; unknown_events; comments')
  assert.equal(twice.match(/^event: response\.completed$/gm)?.length, 2)
  assert.match(twice, /^event: response\.sandbox_unknown$/m)
  assert.match(twice, /^: simulated comment/m)
  const { text: lines } = await ask('responses', 'newline=crlf; bom; id_lines; chunking=byte')
  assert.ok(lines.startsWith('\uFEFFid: 7\r\nretry: 3000\r\nevent: response.created\r\n'))
  const packed = await ask('responses', 'gzip; chunking=random')
  assert.equal(packed.headers['content-encoding'], 'gzip')
})

test('reports wrong counts', async () => {
  const usageOf = async (directives: string) => {
    const { text } = await ask('responses', directives, false)
    return (JSON.parse(text) as { usage?: Record<string, unknown> | null }).usage
  }
  assert.equal(await usageOf('usage=none'), undefined)
  assert.equal(await usageOf('usage=null'), null)
  assert.equal((await usageOf('usage=zero'))?.['total_tokens'], 0)
  assert.equal((await usageOf('usage=text; output=3'))?.['output_tokens'], '3')
  assert.match((await ask('responses', 'usage=huge')).text, /"output_tokens":9007199254740993/)
  const falling = eventData((await ask('responses', 'usage=falling; output=3')).text) as Event[]
  const counts = falling.flatMap(({ response }) => {
    const usage = response?.usage as { output_tokens: number } | null | undefined
    return usage ? [usage.output_tokens] : []
  })
  assert.deepEqual(counts, [103, 3])
  const vector = await ask('embeddings', 'usage=none')
  assert.ok(!vector.text.includes('"usage"'))
})

test('stops at gates around the first output and before the counts', async () => {
  const url = `${sandbox.url}/beta-main/v1/responses`
  const hold = 'begun@first_event,shown@first_output,counted@before_usage'
  const answer = open(url, {
    method: 'POST',
    body: JSON.stringify({ ...bodies.responses, stream: true }),
    headers: { authorization: 'Bearer x', 'x-sandbox': `hold=${hold}` },
  })
  await sandbox.faults.reached('begun')
  await answer.until((text) => text.includes('response.created'))
  assert.equal(sandbox.log.records.at(-1)?.eventCount, 1)
  sandbox.faults.release('begun')
  await sandbox.faults.reached('shown')
  assert.equal(sandbox.log.records.at(-1)?.eventCount, 3)
  sandbox.faults.release('shown')
  await sandbox.faults.reached('counted')
  assert.equal(sandbox.log.records.at(-1)?.isUsageSent, false)
  sandbox.faults.release('counted')
  assert.match((await answer.ended).text, /event: response\.completed/)
  assert.equal((await lastClosed()).isUsageSent, true)
})

test('waits between the beginning of a response and its first output', async () => {
  const url = `${sandbox.url}/beta-main/v1/responses`
  const answer = open(url, {
    method: 'POST',
    body: JSON.stringify({ ...bodies.responses, stream: true }),
    headers: { authorization: 'Bearer x', 'x-sandbox': 'first_output_delay_ms=60000' },
  })
  await answer.until((text) => text.includes('event: response.in_progress'))
  const startMs = clock.monotonic()
  let hasOutput = false
  const shown = answer.until((text) => text.includes('response.output_item.added'))
  void shown.then(() => (hasOutput = true))
  await advanceUntil(clock, 120_000, async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return hasOutput
  })
  assert.ok(clock.monotonic() - startMs >= 60_000)
  assert.match((await answer.ended).text, /response\.output_item\.added/)
})

test('does not offer an operation, in the words of different servers', async () => {
  const missing = async (directives: string) => {
    const { status, text } = await ask('responses', directives)
    return [status, text]
  }
  const [status, text] = await missing('not_offered=responses,embeddings')
  assert.equal(status, 404)
  assert.deepEqual(JSON.parse(String(text)), {
    error: {
      message: 'Invalid URL (POST /v1/responses)',
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
  })
  assert.equal((await missing('not_offered=responses; not_offered_as=405'))[0], 405)
  assert.deepEqual(await missing('not_offered=responses; not_offered_as=404_page'), [
    404,
    'Not Found\n',
  ])
  assert.equal((await ask('embeddings', 'not_offered=responses')).status, 200)
  sandbox.faults.set('beta-main', 'not_offered=responses')
  assert.equal((await ask('responses', '')).status, 404)
  assert.equal((await ask('completions', '')).status, 200)
  sandbox.faults.clear()
})
