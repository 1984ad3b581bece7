/**
 * Large answers that are not streamed, and large errors, are read part by part, whatever they hold: the event
 * loop parses none of them at once, and each passes, is charged and is judged as a small one.
 */
import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { post, type WireAnswer } from '../support/http-client.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const bytesMin = 2_400_000
/** Parsed at once up to this size. */
const smallBytesMax = 131_072

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor, account } = gateway

const parse = JSON.parse
/** Lengths of what this process's event loop has parsed: gateway and vendors run in it. */
let parsedLengths: number[] = []

beforeEach(() => {
  parsedLengths = []
  JSON.parse = (text: string, reviver?: Parameters<typeof JSON.parse>[1]): unknown => {
    parsedLengths.push(text.length)
    return parse(text, reviver)
  }
  gateway.resetHealth()
})
afterEach(() => {
  JSON.parse = parse
})

interface VendorAnswer {
  readonly status?: number
  readonly path?: string
  readonly body: Buffer
}

async function ask({ status = 200, path = messagesPath, body }: VendorAnswer): Promise<WireAnswer> {
  vendor.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    for (let at = 0; at < body.length; at += 100_000)
      response.write(body.subarray(at, at + 100_000))
    response.end()
  })
  const request = path === messagesPath ? messagesRequest() : chatRequest()
  const answer = await post(gateway.url + path, account.key, request)
  assert.ok(Math.max(...parsedLengths) <= smallBytesMax, 'parsed on the event loop')
  return answer
}

/** Texts of at least this size, in shapes that take long or much memory to parse. */
const shapes: Readonly<Record<string, string>> = {
  'one text': JSON.stringify('word '.repeat(bytesMin / 5)),
  'short members': `{${Array.from({ length: bytesMin / 10 }, (_, at) => `"m${at}":0`).join(',')}}`,
  'empty lists': `[${Array(bytesMin / 3)
    .fill('[]')
    .join(',')}]`,
  'escaped text': `"${String.raw`\u00e9`.repeat(bytesMin / 6)}"`,
}

function answerOf(path: string, shape: string): Buffer {
  const [content, usage] =
    path === messagesPath
      ? [
          '"type":"message","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"',
          '"usage":{"input_tokens":1000,"output_tokens":5}',
        ]
      : [
          '"choices":[{"index":0,"message":{"content":"hello"},"finish_reason":"stop"}]',
          '"usage":{"prompt_tokens":1000,"completion_tokens":5,"total_tokens":1005}',
        ]
  return Buffer.from(`{${content},"extra":${shape},${usage}}`)
}

describe('a large whole answer', () => {
  for (const path of [messagesPath, chatPath])
    for (const [name, shape] of Object.entries(shapes))
      test(`of ${path} with ${name} passes as it came and is charged by its count`, async () => {
        const small = await ask({ path, body: answerOf(path, '0') })
        const { amountPicos } = await gateway.recorded(small)
        const body = answerOf(path, shape)
        assert.ok(body.length >= bytesMin)
        const answer = await ask({ path, body })
        assert.equal(answer.status, 200)
        assert.ok(answer.body.equals(body))
        assert.deepEqual(
          [(await gateway.recorded(answer)).amountPicos, amountPicos > 0n],
          [amountPicos, true],
        )
      })

  test('that is no answer of the format fails over, and no client sees it', async () => {
    const countBefore = vendor.requestCount
    const answer = await ask({ body: Buffer.from(`{"content":${shapes['short members']}}`) })
    assert.equal(answer.status, 502)
    assert.ok(answer.body.length < 1_000)
    assert.equal(vendor.requestCount, countBefore + 2, 'main and reserve were tried')
  })

  test('of several accounts at once is each read once', async () => {
    const body = answerOf(messagesPath, shapes['one text'] ?? '')
    const others = await Promise.all([gateway.createAccount(), gateway.createAccount()])
    vendor.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(body)
    })
    const keys = [account.key, account.key, ...others.map(({ key }) => key)]
    const answers = await Promise.all(
      keys.map((key) => post(gateway.url + messagesPath, key, messagesRequest())),
    )
    for (const answer of answers) {
      assert.ok(answer.body.equals(body))
      assert.equal((await gateway.recorded(answer)).chargeCount, 1)
    }
  })
})

describe('a large error', () => {
  test("that quotes the client's body passes as it came, and is the client's fault", async () => {
    const body = Buffer.from(
      `{"type":"error","error":{"type":"invalid_request_error","message":"bad"},"input":${shapes['empty lists']}}`,
    )
    const answer = await ask({ status: 400, body })
    assert.equal(answer.status, 400)
    assert.ok(answer.body.equals(body))
    assert.equal(gateway.grade('alpha-main', 'large-1'), 'on')
  })

  test("that names the operator's account is not shown", async () => {
    const text = 'x'.repeat(bytesMin)
    const body = Buffer.from(`{"error":{"message":"${text} org-abcdefgh1234"}}`)
    const answer = await ask({ status: 500, body })
    assert.equal(answer.status, 502)
    assert.doesNotMatch(answer.body.toString(), /org-abcdefgh/)
  })
})
