/**
 * Ends that vendors report in words of their own: a finish reason that says error, and a stream that ends
 * with its counts and nothing else. Goal: the first is a failure of the vendor, before any output a failover
 * and after it a broken stream; the second is a whole answer, charged as the vendor counts it.
 */
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { ServerResponse } from 'node:http'
import { isErrorEvent } from '../support/answers.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { only, type RecordedExchange } from '../support/money.ts'
import { places, streamedFormats, type StreamedFormat } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

/** The documented words of several vendors; see src/formats/finish-reason.ts. */
const failures = ['error', 'network_error', 'insufficient_system_resource', 'abort']

const plain = await scenario({ vendors: 'scripted' })
const delivered = await scenario({
  vendors: 'scripted',
  settings: { upstream_cut: 'delivered' },
})
after(async () => {
  await plain.close()
  await delivered.close()
})
beforeEach(() => {
  plain.resetHealth()
  delivered.resetHealth()
})

interface Said {
  readonly whole: (text: string, reason: string) => object
  /** The beginning of a stream: a sign of work without output. */
  readonly work: string
  readonly piece: (text: string) => string
  readonly end: (reason: string) => string
}

const counts = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 }

function data(payload: object): string {
  return `data: ${JSON.stringify(payload)}\n\n`
}

function event(type: string, members: object): string {
  return `event: ${type}\n${data({ type, ...members })}`
}

function chunk(choice: object): string {
  return data({ object: 'chunk', choices: [{ index: 0, finish_reason: null, ...choice }] })
}

function response(status: string, rest: object): object {
  return { id: 'resp_1', object: 'response', status, output: [], ...rest }
}

function message(stopReason: string | null, content: readonly object[]): object {
  const usage = { input_tokens: 10, output_tokens: 3 }
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content,
    stop_reason: stopReason,
    usage,
  }
}

const said: Readonly<Record<StreamedFormat, Said>> = {
  chat: {
    whole: (content, reason) => ({
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: reason }],
      usage: counts,
    }),
    work: chunk({ delta: { role: 'assistant', content: '' } }),
    piece: (content) => chunk({ delta: { content } }),
    end: (reason) =>
      chunk({ delta: {}, finish_reason: reason }) +
      data({ choices: [], usage: counts }) +
      'data: [DONE]\n\n',
  },
  completions: {
    whole: (text, reason) => ({
      choices: [{ index: 0, text, finish_reason: reason }],
      usage: counts,
    }),
    work: chunk({ text: '' }),
    piece: (text) => chunk({ text }),
    end: (reason) =>
      chunk({ text: '', finish_reason: reason }) +
      data({ choices: [], usage: counts }) +
      'data: [DONE]\n\n',
  },
  responses: {
    whole: (text, reason) =>
      response('incomplete', {
        incomplete_details: { reason },
        output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
      }),
    work: event('response.created', { response: response('in_progress', {}) }),
    piece: (delta) => event('response.output_text.delta', { output_index: 0, delta }),
    end: (reason) =>
      event('response.incomplete', {
        response: response('incomplete', { incomplete_details: { reason } }),
      }),
  },
  messages: {
    whole: (text, reason) => message(reason, [{ type: 'text', text }]),
    work: event('message_start', { message: message(null, []) }),
    piece: (text) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    end: (reason) =>
      event('message_delta', { delta: { stop_reason: reason }, usage: { output_tokens: 3 } }) +
      event('message_stop', {}),
  },
}

function begin(answer: ServerResponse, isStream: boolean): void {
  answer.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
}

interface Asked {
  readonly answer: WireAnswer
  readonly exchange: RecordedExchange
}

/** Asks once, with an account of its own. The main channel says `bad`, the reserve `good`. */
async function ask(
  gateway: Scenario,
  format: StreamedFormat,
  { isStream, bad, good }: { isStream: boolean; bad: string; good: string },
): Promise<Asked> {
  gateway.scripted.answer((answer, { target }) => {
    begin(answer, isStream)
    answer.end(target.startsWith(`/${places[format].main}/`) ? bad : good)
  })
  const account = await gateway.createAccount()
  const includeUsage = true
  const answer = await gateway.ask({ format, isStream, includeUsage, key: account.key })
  return { answer, exchange: only(await gateway.ended(account, 1)) }
}

for (const format of streamedFormats)
  describe(`a ${format} answer whose finish reason says error`, () => {
    const { whole, work, piece, end } = said[format]

    test('fails over where it is whole', async () => {
      const good = JSON.stringify(
        whole('fine', format === 'responses' ? 'max_output_tokens' : 'stop'),
      )
      for (const reason of failures) {
        plain.resetHealth()
        const bad = JSON.stringify(whole('half of a sen', reason))
        const { answer, exchange } = await ask(plain, format, { isStream: false, bad, good })
        assert.equal(answer.text, good, reason)
        assert.deepEqual([exchange.channel, exchange.attemptCount], [places[format].reserve, 2])
      }
    })

    test('fails over where no output of the stream has come', async () => {
      const good = work + piece('fine') + end(format === 'responses' ? 'max_output_tokens' : 'stop')
      for (const reason of failures)
        for (const beginning of ['', work]) {
          plain.resetHealth()
          const bad = beginning + end(reason)
          const { answer, exchange } = await ask(plain, format, { isStream: true, bad, good })
          assert.equal(answer.text, good, reason)
          assert.ok(answer.isComplete)
          assert.deepEqual([exchange.channel, exchange.attemptCount], [places[format].reserve, 2])
        }
    })

    // A message_start commits, because pings follow it for as long as a model thinks.
    if (format !== 'messages')
      test('fails over where a sign of work came alone before it', async () => {
        const good =
          work + piece('fine') + end(format === 'responses' ? 'max_output_tokens' : 'stop')
        plain.resetHealth()
        plain.scripted.answer((answer, { target }) => {
          begin(answer, true)
          if (target.startsWith(`/${places[format].reserve}/`)) answer.end(good)
          else answer.write(work, () => answer.end(end('error')))
        })
        const account = await plain.createAccount()
        const asked = { format, isStream: true, includeUsage: true, key: account.key }
        const answer = await plain.ask(asked)
        assert.equal(answer.text, good)
        assert.equal(only(await plain.ended(account, 1)).channel, places[format].reserve)
      })

    test('is told as broken where output has come, and costs what the setting says', async () => {
      for (const reason of failures)
        for (const gateway of [plain, delivered]) {
          gateway.resetHealth()
          const shown = work + piece('half of a sen')
          const bad = shown + end(reason)
          const { answer, exchange } = await ask(gateway, format, { isStream: true, bad, good: '' })
          assert.equal(answer.isComplete, false, reason)
          assert.ok(answer.text.startsWith(shown), answer.text)
          const [error, ...more] = answer.text.slice(shown.length).trim().split('\n\n')
          assert.deepEqual(more, [])
          assert.ok(isErrorEvent(error ?? '', format), answer.text)
          assert.deepEqual([exchange.ending, exchange.attemptCount], ['upstream_cut', 1])
          assert.equal(exchange.amountPicos > 0n, gateway === delivered)
        }
    })

    test('is an error of the gateway where no channel answers otherwise', async () => {
      for (const isStream of [true, false]) {
        plain.resetHealth()
        const bad = isStream ? end('error') : JSON.stringify(whole('half', 'error'))
        const { answer, exchange } = await ask(plain, format, { isStream, bad, good: bad })
        assert.equal(answer.status, 502, answer.text)
        assert.deepEqual([exchange.ending, exchange.amountPicos], ['failed', 0n])
      }
    })
  })

test('a response that ends with an error is no whole answer, whatever its last event is called', async () => {
  const { work, piece } = said.responses
  const error = { code: 'server_error', message: 'The model produced an error.' }
  for (const type of ['response.completed', 'response.incomplete']) {
    const end = event(type, { response: response(type.slice(9), { error }) })
    plain.resetHealth()
    const bad = work + piece('half') + end
    const { answer } = await ask(plain, 'responses', { isStream: true, bad, good: '' })
    assert.equal(answer.isComplete, false)
    assert.ok(!answer.text.includes(type), answer.text)
  }
})

describe('a chat stream without a finish reason', () => {
  const last = data({ choices: [], usage: counts })
  const { work, piece } = said.chat
  const shown = work + piece('fine')

  test('is whole where its last chunk has counts and no choices, and its body ends as announced', async () => {
    for (const includeUsage of [true, false])
      for (const framing of ['chunked', 'length']) {
        plain.scripted.answer((answer) => {
          const length = framing === 'length' ? { 'content-length': (shown + last).length } : {}
          answer.writeHead(200, { 'content-type': 'text/event-stream', ...length })
          answer.write(shown)
          answer.end(last)
        })
        plain.resetHealth()
        const account = await plain.createAccount()
        const answer = await plain.ask({
          format: 'chat',
          isStream: true,
          includeUsage,
          key: account.key,
        })
        assert.ok(answer.isComplete, framing)
        assert.equal(answer.text, includeUsage ? shown + last : shown)
        const exchange = only(await plain.ended(account, 1))
        assert.deepEqual([exchange.ending, exchange.marks], ['completed', []])
        assert.equal(exchange.amountPicos, 10n * 2_000_000n + 3n * 10_000_000n)
      }
  })

  test('is broken where the connection ends, or more of the answer follows its counts', async () => {
    const ends: readonly ((answer: ServerResponse) => void)[] = [
      (answer) => answer.end(piece('more')),
      (answer) => answer.destroy(),
      (answer) => answer.socket?.end(),
    ]
    for (const end of ends) {
      plain.resetHealth()
      const all = Promise.withResolvers<void>()
      plain.scripted.answer(async (answer) => {
        begin(answer, true)
        answer.write(shown + last)
        await all.promise
        end(answer)
      })
      const account = await plain.createAccount()
      const answer = await plain.ask({
        format: 'chat',
        isStream: true,
        includeUsage: true,
        key: account.key,
        onChunk: () => {
          all.resolve()
          return undefined
        },
      })
      assert.equal(answer.isComplete, false)
      assert.equal(only(await plain.ended(account, 1)).ending, 'upstream_cut')
    }
  })
})
