/**
 * The memory of large bodies is used again. Goal: no byte of one request appears in another. Approach: many
 * requests at once, each repeats a different word, with clients that leave and vendors that are slow, answer
 * early or break off; the vendor compares each byte that arrives.
 */
import assert from 'node:assert/strict'
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { chatCompletions } from '../../src/formats/chat/index.ts'
import { operatorFeatures, type ForwardedOperation } from '../../src/formats/format.ts'
import { messagesCreate } from '../../src/formats/messages/index.ts'
import { responsesCreate } from '../../src/formats/responses/index.ts'
import { releaseMemory } from '../../src/gateway/memory.ts'
import { eventually } from '../support/eventually.ts'
import { chatPath } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

/** What a vendor does with one attempt. */
const answers = ['whole', 'slow', 'early_stream', 'early_error', 'reset'] as const
const clients = ['stays', 'leaves_in_upload', 'leaves_behind_upload'] as const

interface Plan {
  readonly kilobytes: number
  readonly client: (typeof clients)[number]
  /** By attempt; those behind are whole. */
  readonly attempts: readonly (typeof answers)[number][]
}

const planned: fc.Arbitrary<Plan> = fc.record({
  kilobytes: fc.integer({ min: 100, max: 1_100 }),
  client: fc.constantFrom('stays', ...clients),
  attempts: fc.array(fc.constantFrom(...answers), { maxLength: 2 }),
})

const word = (number: number): string => `request ${String(number).padStart(7, '0')} `

function bodyOf(number: number, { kilobytes }: Plan): Buffer {
  const content = word(number).repeat(Math.ceil((kilobytes * 1_000) / word(number).length))
  const messages = [{ role: 'user', content }]
  return Buffer.from(JSON.stringify({ model: 'chat-1', max_tokens: 5, stream: true, messages }))
}

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'chat-1', ...fields })}\n\n`
const beginning = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'yes' } }] })
const ending = `${chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`

/** A vendor that compares what it gets with `bodies`. */
async function startVendor(plans: readonly Plan[], bodies: readonly Buffer[]) {
  const attemptCounts = new Map<number, number>()
  const mistakes: string[] = []
  let wholeCount = 0
  let openCount = 0

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const number = Number(request.headers['x-number'])
    const attempt = attemptCounts.get(number) ?? 0
    attemptCounts.set(number, attempt + 1)
    const expected = bodies[number] ?? Buffer.alloc(0)
    const course = plans[number]?.attempts[attempt] ?? 'whole'
    let at = 0
    openCount++
    if (course === 'early_error') response.writeHead(503).end('{}')
    if (course === 'early_stream') begin()
    function begin(): void {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(beginning)
    }
    request.on('data', (piece: Buffer) => {
      // The gateway asks for the usage, which stands in front of all else.
      const seen = at === 0 ? withoutUsage(piece) : piece
      if (!seen.equals(expected.subarray(at, at + seen.length)))
        mistakes.push(`request ${number} at ${at}`)
      at += seen.length
      if (course === 'reset') request.socket.destroy()
      if (course === 'whole') return
      request.pause()
      setImmediate(() => request.resume())
    })
    request.on('end', () => {
      if (at !== expected.length) mistakes.push(`request ${number} has ${at} bytes`)
      wholeCount++
      if (course === 'early_error') return
      if (course !== 'early_stream') begin()
      response.end(ending)
    })
    request.on('error', () => undefined)
    response.on('close', () => void openCount--)
  }

  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    mistakes,
    wholeCount: () => wholeCount,
    openCount: () => openCount,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const usage = Buffer.from('"stream_options":{"include_usage":true},')

function withoutUsage(piece: Buffer): Buffer {
  assert.ok(piece.includes(usage))
  return Buffer.concat([piece.subarray(0, 1), piece.subarray(1 + usage.length)])
}

/** Resolves when the client has its answer, or has left. */
function ask(
  url: string,
  key: string,
  { number, plan, body }: { readonly number: number; readonly plan: Plan; readonly body: Buffer },
): Promise<void> {
  return new Promise((resolve) => {
    const request = httpRequest(url + chatPath, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        authorization: `Bearer ${key}`,
        'x-number': String(number),
      },
    })
    request.on('response', (response) => response.resume().on('close', resolve))
    request.on('error', () => resolve())
    request.on('close', resolve)
    const leave = (): void => void request.destroy()
    if (plan.client === 'stays') request.end(body)
    else if (plan.client === 'leaves_in_upload')
      request.write(body.subarray(0, body.length / 2), leave)
    else request.end(body, leave)
  })
}

const catalogue = (url: string): string => `
models:
  chat-1: { vendor: beta, max_output_tokens: 8192, price: { input: 3.00, output: 15.00 } }
channels:
${[1, 2, 3, 4].map((number) => `  beta-${number}: { vendor: beta, url: "${url}/${number}", credential: vendor-canary, models: [chat-1], check: none }`).join('\n')}
`

test('no byte of one request appears in another', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(planned, { minLength: 20, maxLength: 30 }), async (plans) => {
      const bodies = plans.map((plan, number) => bodyOf(number, plan))
      const vendor = await startVendor(plans, bodies)
      const gateway = await scenario({ catalogue: () => catalogue(vendor.url) })
      try {
        const { key } = await gateway.createAccount()
        const askOne = (plan: Plan, number: number): Promise<void> =>
          ask(gateway.url, key, { number, plan, body: bodies[number] ?? Buffer.alloc(0) })
        const first = plans.slice(0, plans.length / 2).map(askOne)
        // The others begin while memory of these comes back.
        await Promise.race(first)
        const others = plans
          .slice(first.length)
          .map((plan, index) => askOne(plan, first.length + index))
        await Promise.all([...first, ...others])
        await eventually(
          'the vendor has ended all',
          () => turn(vendor.openCount()),
          (count) => count === 0,
        )
        assert.deepEqual(vendor.mistakes, [])
        assert.ok(vendor.wholeCount() > 0)
      } finally {
        vendor.close()
        await gateway.close()
      }
    }),
    { numRuns: 4 },
  )
})

/** Goal: a long answer keeps no body. Approach: the facts of 30 bodies of 1 MB take little memory. */
test('the facts of a body keep nothing else of it in memory', () => {
  const name = 'a-name-that-is-longer-than-some-letters'
  const texts = {
    model: name,
    models: [name],
    service_tier: name,
    speed: name,
    inference_geo: name,
    prompt_cache_key: name,
    previous_response_id: name,
  }
  const content = 'x'.repeat(1_000_000)
  const input = [{ type: 'message', id: name, content }]
  const bodies: readonly [ForwardedOperation, object][] = [
    [messagesCreate, { ...texts, tools: [{ type: name, model: name }], messages: [{ content }] }],
    [chatCompletions, { ...texts, messages: [{ content }] }],
    [responsesCreate, { ...texts, input }],
  ]
  const options = { requireMaxTokens: false, allowedFeatures: new Set(operatorFeatures) }
  for (const [operation, body] of bodies) {
    const bytes = Buffer.from(JSON.stringify(body))
    releaseMemory()
    const before = process.memoryUsage().heapUsed
    const kept = Array.from({ length: 30 }, () => operation.readRequest(bytes, options))
    releaseMemory()
    const grownBytes = process.memoryUsage().heapUsed - before
    assert.ok(kept.every((facts) => 'model' in facts && facts.model === name))
    assert.ok(grownBytes < 5_000_000, `${operation.name}: ${grownBytes} bytes`)
  }
})
