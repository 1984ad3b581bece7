/**
 * An event is with the client before the vendor says anything more. The vendor goes on only when
 * the client has what there is, so that a gateway which waits for anything else never gets it.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { connectRaw, send, type WireAnswer } from '../support/http-client.ts'
import {
  chatPath,
  chatRequest,
  messagesPath,
  messagesRequest,
  responsesPath,
  responsesRequest,
} from '../support/requests.ts'
import { writePieces } from '../support/scripted-vendor.ts'
import { readTranscripts } from '../transcripts/replay.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor, account } = gateway

const paths = { messages: messagesPath, chat: chatPath, responses: responsesPath } as const
type FormatName = keyof typeof paths

/** Counts what the client has, and lets others wait for a number of bytes. */
class Arrivals {
  #bytes = 0
  #wanted = Infinity
  #wake: () => void = () => undefined

  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes >= this.#wanted) this.#wake()
  }

  async reach(bytes: number): Promise<void> {
    if (this.#bytes >= bytes) return
    this.#wanted = bytes
    await new Promise<void>((resolve) => (this.#wake = resolve))
  }
}

function ask(
  format: FormatName,
  arrivals: Arrivals,
  headers: Readonly<Record<string, string>> = {},
): Promise<WireAnswer> {
  const options = { stream: true, max_tokens: 4_096 }
  const body = {
    messages: messagesRequest(options),
    chat: chatRequest({ ...options, stream_options: { include_usage: true } }),
    responses: responsesRequest({ stream: true }),
  }[format]
  return send(gateway.url + paths[format], {
    headers: { 'content-type': 'application/json', 'x-api-key': account.key, ...headers },
    body: JSON.stringify(body),
    onChunk(chunk) {
      arrivals.add(chunk.length)
      return undefined
    },
  })
}

for (const format of ['messages', 'chat', 'responses'] as const)
  for (const lineEnd of ['\n', '\r\n', '\r'])
    test(`each event of a ${format} stream with ${JSON.stringify(lineEnd)} reaches the client before the next one exists`, async () => {
      const blank = lineEnd + lineEnd
      for (const { name, text, expected } of readTranscripts(format)) {
        if (expected.isTerminated === false || expected.error !== undefined) continue
        const frames = text
          .replaceAll('\n', lineEnd)
          .split(blank)
          .filter((frame) => frame !== '')
          .map((frame) => frame + blank)
        const terminal = frames.findIndex((frame) =>
          /\[DONE\]|message_stop|event: response\.(?:completed|incomplete)/.test(frame),
        )
        const arrivals = new Arrivals()
        vendor.answer(async (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          let bytes = 0
          for (const [index, frame] of frames.entries()) {
            const event = Buffer.from(frame)
            await writePieces(response, [event.subarray(0, -1), event.subarray(-1)])
            bytes += event.length
            const hasBegun = frames.slice(0, index + 1).some(isCommitting)
            if (index < terminal && hasBegun) await arrivals.reach(bytes)
          }
          response.end()
        })
        const answer = await ask(format, arrivals)
        assert.equal(answer.body.toString(), frames.join(''), name)
        assert.ok(answer.isComplete, name)
      }
    })

/** Neither a comment nor a ping nor a sign of work: from here on the answer belongs to the client. */
function isCommitting(frame: string): boolean {
  if (/^event: (?:ping|keepalive|response\.(?:created|in_progress|queued))/.test(frame))
    return false
  if (!/^(?:event: ?|data: ?[{[])/m.test(frame)) return false
  return !frame.includes('"type":"response.created"') && !isRoleAlone(frame)
}

/** A chat chunk without output, finish reason or counts. */
function isRoleAlone(frame: string): boolean {
  const data = /^data: ?(\{.*"choices".*\})\r?$/m.exec(frame)?.[1]
  if (data === undefined) return false
  const { choices = [], usage } = JSON.parse(data) as Chunk
  const isEmpty = (value: unknown): boolean =>
    value === null || value === '' || (Array.isArray(value) && value.length === 0)
  if (choices.length === 0 && usage !== undefined && usage !== null) return false
  return choices.every(
    ({ delta = {}, finish_reason: reason }) =>
      (reason ?? null) === null &&
      Object.entries(delta).every(([name, value]) => name === 'role' || isEmpty(value)),
  )
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: Readonly<Record<string, unknown>>
    readonly finish_reason?: string | null
  }[]
  readonly usage?: object | null
}

test('the last event waits for the charge and for nothing else', async () => {
  const arrivals = new Arrivals()
  const events = [
    'data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
    'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    'data: {"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n',
    'data: [DONE]\n\n',
  ]
  let goOn: () => void = () => undefined
  const mayEnd = new Promise<void>((resolve) => (goOn = resolve))
  vendor.answer(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await writePieces(
      response,
      events.map((event) => Buffer.from(event)),
    )
    // The vendor keeps its connection open; the client must have the whole all the same.
    await mayEnd
    response.end()
  })
  const answered = ask('chat', arrivals)
  await arrivals.reach(Buffer.byteLength(events.join('')))
  goOn()
  assert.equal((await answered).body.toString(), events.join(''))
})

test('the head of a stream waits for an event that is neither ping nor comment', async () => {
  const starts = {
    messages: 'event: ping\ndata: {"type": "ping"}\n\n: hello\n\n',
    chat: ': hello\n\n: again\n\n',
    responses:
      'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n' +
      'event: keepalive\ndata: {"type":"keepalive"}\n\n',
  }
  const requests = {
    messages: messagesRequest({ stream: true }),
    chat: chatRequest({ stream: true }),
    responses: responsesRequest({ stream: true }),
  }
  for (const format of ['messages', 'chat', 'responses'] as const) {
    const body = JSON.stringify(requests[format])
    const connection = await connectRaw(gateway.url)
    let bytesTooSoon: number | undefined
    vendor.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      await writePieces(response, [Buffer.from(starts[format])])
      // A whole exchange in between: had a head been passed on, it would have come by now.
      await send(`${gateway.url}/health`)
      bytesTooSoon = connection.unread().length
      vendor.answer((second) => void second.writeHead(503).end())
      response.socket?.resetAndDestroy()
    })
    connection.write(
      `POST ${paths[format]} HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${account.key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    const answer = await connection.next()
    connection.close()
    assert.equal(bytesTooSoon, 0)
    assert.equal(answer?.status, 503, 'nothing had been sent, so the status could still be sent')
  }
})
