/**
 * Vendors that say nothing for a while: how long each wait of a stream may last, by the gateway's own clock,
 * and what the client sees meanwhile. The vendors say exactly what a test scripts.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { stringify } from 'yaml'
import { demoCatalogue } from '../../sandbox/demo.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { only } from '../support/money.ts'
import { diagnose, showChannel } from '../support/operations.ts'
import { keepAliveTimer, timersTo } from '../support/tcp-timers.ts'
import {
  openAsk,
  places,
  streamedFormats,
  type StreamedFormat,
  alike,
} from '../support/requests.ts'
import { scenario, type Scenario, type ScenarioOptions } from '../support/scenario.ts'

const second = 1_000
const minute = 60 * second
const tickMs = 100

interface Spoken {
  /** The vendor works, and has no output yet. Absent = the format has no such event that does not commit. */
  readonly work?: string
  readonly whole: string
}

const counts = '"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}'
const chat = (choice: string): string => `data: {"choices":[{"index":0,${choice}}]}\n\n`
const event = (type: string, members: string): string =>
  `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`

const spoken: Readonly<Record<StreamedFormat, Spoken>> = {
  messages: {
    whole:
      event(
        'message_start',
        '"message":{"content":[],"usage":{"input_tokens":10,"output_tokens":1}}',
      ) +
      event('content_block_delta', '"index":0,"delta":{"type":"text_delta","text":"fine"}') +
      event('message_delta', '"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}') +
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
  chat: {
    work: chat('"delta":{"role":"assistant","content":""}'),
    whole: `${chat('"delta":{"content":"fine"}')}${chat('"delta":{},"finish_reason":"stop"')}data: {"choices":[],${counts}}\n\ndata: [DONE]\n\n`,
  },
  completions: {
    work: chat('"text":""'),
    whole: `${chat('"text":"fine"')}${chat('"text":"","finish_reason":"stop"')}data: {"choices":[],${counts}}\n\ndata: [DONE]\n\n`,
  },
  responses: {
    work: event(
      'response.created',
      '"response":{"id":"resp_1","status":"in_progress","output":[]}',
    ),
    whole:
      event('response.output_text.delta', '"output_index":0,"delta":"fine"') +
      event(
        'response.completed',
        '"response":{"id":"resp_1","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"fine"}]}],"usage":{"input_tokens":10,"output_tokens":3,"total_tokens":13}}',
      ),
  },
}

/** How each format asks for reasoning. */
const reasoning = { messages: { thinking: { type: 'enabled', budget_tokens: 2_000 } } }
const asksReasoning = (format: StreamedFormat): Record<string, unknown> =>
  format === 'messages'
    ? reasoning.messages
    : format === 'responses'
      ? { reasoning: { effort: 'high' } }
      : { reasoning_effort: 'high' }

type Say = (response: ServerResponse) => void

const sayHead: Say = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-vendor': 'yes' }).flushHeaders()
}

interface Silent {
  readonly gateway: Scenario
  readonly clock: ManualClock
  /** The vendor of the main channel says this and no more, that of the reserve all. */
  readonly fallSilent: (format: StreamedFormat, say?: Say) => void
  /** Of the latest request to the main channel. */
  readonly vendor: () => Promise<ServerResponse>
  readonly triedCount: () => number
}

async function withSilence(
  options: ScenarioOptions,
  work: (silent: Silent) => Promise<void>,
): Promise<void> {
  const clock = new ManualClock()
  const gateway = await scenario({ ...options, vendors: 'scripted', clock })
  let asked = Promise.withResolvers<ServerResponse>()
  try {
    await work({
      gateway,
      clock,
      vendor: () => asked.promise,
      triedCount: () => gateway.scripted.requestCount,
      fallSilent(format, say = () => undefined) {
        asked = Promise.withResolvers()
        gateway.scripted.answer((response, { target }) => {
          if (!target.startsWith(`/${places[format].main}/`)) {
            response.writeHead(200, { 'content-type': 'text/event-stream' })
            response.end(spoken[format].whole)
            return
          }
          say(response)
          asked.resolve(response)
        })
      },
    })
  } finally {
    await gateway.close()
  }
}

const catalogueWith =
  (model: object) =>
  (url: string): string => {
    const base = demoCatalogue(url)
    const models = Object.entries(base.models).map(([name, one]) => [name, { ...one, ...model }])
    const channels = Object.entries(base.channels).map(([name, one]) => [
      name,
      { ...one, check: 'none' },
    ])
    const all = {
      ...base,
      models: Object.fromEntries(models) as object,
      channels: Object.fromEntries(channels) as object,
    }
    return stringify(all, { aliasDuplicateObjects: false })
  }

/** Nothing but the reserve's answer has reached the client. */
function assertReserve(answer: WireAnswer, format: StreamedFormat): void {
  assert.equal(answer.status, 200)
  assert.ok(answer.isComplete)
  assert.equal(answer.headers['x-vendor'], undefined)
  assert.ok(spoken[format].whole.startsWith(answer.text.slice(0, 40)), answer.text)
}

for (const format of alike(streamedFormats))
  describe(`a ${format} stream`, () => {
    const ask = { format, isStream: true } as const

    test('loses a channel that is silent for 60 s behind its head, and not before', () =>
      withSilence({}, async ({ gateway, clock, fallSilent, triedCount }) => {
        fallSilent(format, sayHead)
        const answer = gateway.ask(ask)
        await gateway.passed('head_received')
        clock.advance(60 * second - tickMs)
        assert.equal(triedCount(), 1)
        clock.advance(2 * tickMs)
        assertReserve(await answer, format)
      }))

    test('waits ten minutes behind the head where reasoning is asked for', () =>
      withSilence({}, async ({ gateway, clock, fallSilent, vendor, triedCount }) => {
        fallSilent(format, sayHead)
        const answer = gateway.ask({ ...ask, more: asksReasoning(format) })
        await gateway.passed('head_received')
        clock.advance(10 * minute - tickMs)
        assert.equal(triedCount(), 1)
        const response = await vendor()
        response.end(spoken[format].whole)
        assert.equal((await answer).headers['x-vendor'], 'yes')
      }))

    test('waits for the head without a short limit where the model thinks', () =>
      withSilence(
        { catalogue: catalogueWith({ thinks: true }) },
        async ({ gateway, clock, fallSilent, vendor, triedCount }) => {
          fallSilent(format)
          const answer = gateway.ask(ask)
          const response = await vendor()
          clock.advance(10 * minute - tickMs)
          assert.equal(triedCount(), 1)
          sayHead(response)
          response.end(spoken[format].whole)
          assert.equal((await answer).headers['x-vendor'], 'yes')
        },
      ))

    test('loses it behind pings as well', () =>
      withSilence({}, async ({ gateway, clock, fallSilent, triedCount }) => {
        fallSilent(format, (response) => {
          const ping =
            format === 'messages' ? 'event: ping\ndata: {"type":"ping"}\n\n' : ': ping\n\n'
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write(ping)
        })
        const answer = gateway.ask(ask)
        await gateway.passed('head_received')
        clock.advance(60 * second - tickMs)
        assert.equal(triedCount(), 1)
        clock.advance(2 * tickMs)
        assertReserve(await answer, format)
      }))

    const { work } = spoken[format]
    if (work !== undefined)
      test('shows nothing of a sign of work that comes alone, and waits 60 s from there', () =>
        withSilence({}, async ({ gateway, clock, fallSilent, triedCount }) => {
          fallSilent(format, (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' }).write(work)
          })
          const answer = gateway.ask(ask)
          await gateway.passed('head_received')
          clock.advance(60 * second - tickMs)
          assert.equal(triedCount(), 1)
          clock.advance(2 * tickMs)
          assertReserve(await answer, format)
        }))
  })

const messages = { format: 'messages', isStream: true } as const

test('fifty answers teach a channel its limit: 1.5 times the longest', () =>
  withSilence({}, async ({ gateway, clock, fallSilent, vendor, triedCount }) => {
    for (let index = 0; index < 50; index++) {
      fallSilent('messages')
      const answer = gateway.ask(messages)
      const response = await vendor()
      clock.advance(8 * second)
      sayHead(response)
      response.end(spoken.messages.whole)
      assert.equal((await answer).status, 200)
    }
    fallSilent('messages')
    const answer = gateway.ask(messages)
    await vendor()
    const before = triedCount()
    clock.advance(12 * second - tickMs)
    assert.equal(triedCount(), before)
    clock.advance(2 * tickMs)
    assertReserve(await answer, 'messages')
    await gateway.app.refresh()
    const { health } = await showChannel(gateway.context, { channel: 'alpha-main' })
    const waits = health.find(({ model }) => model === 'large-1')?.learned_waits
    assert.deepEqual(waits, [
      { wait: 'head', reasoning: false, answers: 50, longest_ms: 8_000, limit_ms: 12_000 },
      { wait: 'output', reasoning: false, answers: 50, longest_ms: 0, limit_ms: 20_000 },
    ])
    const { findings } = await diagnose(gateway.context, {}, () =>
      Promise.resolve({ outcome: 'ok', durationMs: 1, status: 200 }),
    )
    assert.match(JSON.stringify(findings), /alpha-main large-1/)
  }))

test('where no other channel is usable the long limit alone holds', () =>
  withSilence(
    { settings: { first_event_timeout: '8m' } },
    async ({ gateway, clock, fallSilent, vendor }) => {
      gateway.scripted.answer((response) => void response.writeHead(401).end('{}'))
      await gateway.ask(messages)
      assert.equal(gateway.grade('alpha-reserve', 'large-1'), 'off')
      fallSilent('messages')
      const answer = gateway.ask(messages)
      await vendor()
      const before = gateway.scripted.requestCount
      clock.advance(8 * minute - tickMs)
      assert.equal(gateway.scripted.requestCount, before)
      clock.advance(2 * tickMs)
      assertReserve(await answer, 'messages')
    },
  ))

test('a channel that sends nothing gets keep-alive packets, by which a dead peer is found', () =>
  withSilence({}, async ({ gateway, fallSilent, vendor }) => {
    fallSilent('messages')
    const asked = openAsk(gateway.url, gateway.account.key, messages)
    await vendor()
    const timers = timersTo(gateway.scripted.url)
    assert.ok(timers.length > 0 && timers.every((one) => one === keepAliveTimer), timers.join())
    asked.leave()
  }))

describe('an attempt that was cut', () => {
  test('may have cost its prompt and what the model wrote since the head, at most the limit', () =>
    withSilence({}, async ({ gateway, clock, fallSilent }) => {
      const account = await gateway.createAccount()
      const costOf = async (maxTokens: number): Promise<bigint> => {
        gateway.resetHealth()
        fallSilent('messages', sayHead)
        const heads = ++headCount
        const answer = gateway.ask({ ...messages, maxTokens, key: account.key })
        await gateway.passed('head_received', heads * 2 - 1)
        clock.advance(60 * second + tickMs)
        assertReserve(await answer, 'messages')
        const exchange = (await gateway.ended(account, headCount)).at(-1)
        assert.ok(exchange !== undefined && exchange.marks.includes('lost_estimated'))
        return exchange.operatorCostPicos
      }
      let headCount = 0
      const [small, large, huge] = [await costOf(100), await costOf(1_100), await costOf(8_000)]
      const pricePicos = 15_000_000n
      assert.equal(large - small, 1_000n * pricePicos)
      // A minute at 50 tokens a second, until the model's own rate is known.
      assert.ok(huge - small < 3_000n * pricePicos && huge - small > 2_800n * pricePicos)
    }))
})

describe('a kept-alive stream', () => {
  const settings = { stream_keepalive: '15s' }
  const pings = {
    messages: 'event: ping\ndata: {"type": "ping"}\n\n',
    chat: ': keep-alive\n\n',
  } as const

  for (const format of ['messages', 'chat'] as const) {
    const ping = pings[format]
    const ask = { format, isStream: true } as const

    test(`gets pings of the ${format} format, and can still fail over`, () =>
      withSilence({ settings }, async ({ gateway, clock, fallSilent, vendor }) => {
        fallSilent(format)
        const asked = openAsk(gateway.url, gateway.account.key, ask)
        await vendor()
        clock.advance(15 * second + tickMs)
        await asked.until((text) => text === ping)
        clock.advance(15 * second + tickMs)
        const answer = await asked.ended
        assert.equal(answer.status, 200)
        assert.equal(answer.headers['content-type'], 'text/event-stream')
        const id = answer.headers['x-turnpike-request-id']
        assert.equal(answer.headers[format === 'chat' ? 'x-request-id' : 'request-id'], id)
        assert.ok(answer.isComplete)
        assert.ok(answer.text.startsWith(ping))
        assert.ok(answer.text.includes('fine'))
      }))

    test(`gets pings in the middle of a ${format} answer, and none behind its end`, () =>
      withSilence({ settings }, async ({ gateway, clock, fallSilent, vendor }) => {
        const { whole } = spoken[format]
        const shown = whole.slice(0, whole.indexOf('\n\n') + 2)
        fallSilent(format, (response) => {
          sayHead(response)
          response.write(shown)
        })
        const asked = openAsk(gateway.url, gateway.account.key, { ...ask, includeUsage: true })
        const response = await vendor()
        await asked.until((text) => text === shown)
        clock.advance(15 * second + tickMs)
        await asked.until((text) => text === shown + ping)
        response.end(whole.slice(shown.length))
        const answer = await asked.ended
        assert.equal(answer.text, shown + ping + whole.slice(shown.length))
        assert.equal(answer.headers['x-vendor'], 'yes')
      }))

    test(`is told a later refusal as an error event of the ${format} format`, () =>
      withSilence({ settings }, async ({ gateway, clock, fallSilent, vendor }) => {
        fallSilent(format)
        const asked = openAsk(gateway.url, gateway.account.key, ask)
        const response = await vendor()
        clock.advance(15 * second + tickMs)
        await asked.until((text) => text === ping)
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end('{"error":{"type":"invalid_request_error","message":"no such tool"}}')
        const answer = await asked.ended
        assert.equal(answer.status, 200)
        assert.equal(answer.isComplete, false)
        const error = answer.text.slice(ping.length).trim()
        assert.match(error, format === 'chat' ? /^data: \{"error"/ : /^event: error\ndata: \{/)
        assert.match(error, /"invalid_request_error".*no such tool|no such tool/)
        const { ending, status } = await gateway.recorded(answer)
        assert.deepEqual([ending, status], ['refused', 400])
      }))
  }

  test('that its client leaves before the first byte of the vendor is free', () =>
    withSilence({ settings }, async ({ gateway, clock, fallSilent, vendor }) => {
      const account = await gateway.createAccount()
      fallSilent('messages')
      const asked = openAsk(gateway.url, account.key, messages)
      await vendor()
      clock.advance(15 * second + tickMs)
      await asked.until((text) => text === pings.messages)
      asked.leave()
      await gateway.passed('client_left')
      clock.advance(minute)
      const exchange = only(await gateway.ended(account, 1))
      assert.deepEqual([exchange.ending, exchange.amountPicos], ['client_left', 0n])
    }))

  test('is not a whole answer, which stays as it was', () =>
    withSilence({ settings }, async ({ gateway, clock, fallSilent, vendor }) => {
      fallSilent('messages')
      const answer = gateway.ask({ format: 'messages', isStream: false })
      const response = await vendor()
      clock.advance(5 * minute)
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"type":"error"}')
      assert.equal((await answer).status, 400)
    }))
})
