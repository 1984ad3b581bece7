/**
 * A vendor that has begun a stream and then sends nothing but pings, each well within the idle limit: the
 * stream lives as long as the setting or its model says, and every event of the answer begins that anew.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { smallCatalogue } from '../support/catalogues.ts'
import { ManualClock } from '../support/manual-clock.ts'
import {
  openAsk,
  places,
  streamedFormats,
  type StreamedFormat,
  alike,
} from '../support/requests.ts'
import { scenario, type ScenarioOptions } from '../support/scenario.ts'

const minute = 60_000

const begun: Readonly<Record<StreamedFormat, string>> = {
  messages:
    'event: message_start\ndata: {"type":"message_start","message":{"model":"large-1","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}\n\n',
  chat: 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n',
  responses:
    'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}\n\n',
  completions: 'data: {"choices":[{"index":0,"text":"b"}]}\n\n',
}
const pings: Readonly<Record<StreamedFormat, string>> = {
  messages: 'event: ping\ndata: {"type": "ping"}\n\n',
  chat: ': still thinking\n\n',
  responses: 'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n',
  completions: ': still thinking\n\n',
}
const events: Readonly<Record<StreamedFormat, string>> = {
  messages:
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}\n\n',
  chat: 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
  responses: 'data: {"type":"response.output_text.delta","output_index":0,"delta":"a"}\n\n',
  completions: 'data: {"choices":[{"index":0,"text":"a"}]}\n\n',
}

/** A minute passes before each of these pieces. Returns the answer and how many pings are in it. */
async function play(format: StreamedFormat, pieces: readonly string[], options: ScenarioOptions) {
  const clock = new ManualClock()
  const gateway = await scenario({ ...options, vendors: 'scripted', clock })
  try {
    const opened = Promise.withResolvers<ServerResponse>()
    gateway.scripted.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun[format])
      opened.resolve(response)
    })
    const asked = openAsk(gateway.url, gateway.account.key, { format, isStream: true })
    const vendor = await opened.promise
    let expected = begun[format]
    await asked.until((text) => text.length >= expected.length)
    const isOver = asked.ended.then(() => true)
    for (const piece of pieces) {
      // The gateway looks at its limits while the clock moves, before the vendor writes.
      clock.advance(minute)
      expected += piece
      vendor.write(piece)
      const arrived = asked.until((text) => text.startsWith(expected)).then(() => false)
      if (await Promise.race([arrived.catch(() => isOver), isOver])) break
    }
    vendor.destroy()
    const answer = await asked.ended
    const { ending } = await gateway.recorded(answer)
    const pingCount = answer.text.split(pings[format]).length - 1
    return { answer, pingCount, ending, attempts: await gateway.attempts() }
  } finally {
    await gateway.close()
  }
}

for (const format of alike(streamedFormats)) {
  const { main } = places[format]
  const onlyPings = Array.from({ length: 30 }, () => pings[format])

  test(`pings keep a ${format} stream alive for ten minutes, and no longer`, async () => {
    const { answer, pingCount, ending, attempts } = await play(format, onlyPings, {})
    assert.equal(pingCount, 9)
    assert.equal(answer.isComplete, false)
    assert.match(answer.text, /broke off before it was complete/)
    assert.equal(ending, 'upstream_cut')
    assert.deepEqual(attempts, { [`${main} broken`]: 1 })
  })

  test(`an event of the answer begins the time of pings anew (${format})`, async () => {
    const before = Array.from({ length: 8 }, () => pings[format])
    const pieces = [...before, events[format], ...onlyPings]
    const { pingCount } = await play(format, pieces, { settings: { ping_timeout: '570s' } })
    assert.equal(pingCount, 8 + 9)
  })
}

test('a model has its own time for pings, from the catalogue', async () => {
  const pieces = Array.from({ length: 30 }, () => pings.messages)
  const catalogue = (url: string): string =>
    smallCatalogue(url).replace(
      'max_output_tokens: 8192',
      'max_output_tokens: 8192, ping_timeout: 3m',
    )
  const { pingCount } = await play('messages', pieces, { catalogue })
  assert.equal(pingCount, 2)
})

test('a model that thinks may be silent for ten minutes, any other for two, unless its channel says else', async () => {
  const silence = (minutes: number): readonly string[] => Array.from({ length: minutes }, () => '')
  const pieces = [...silence(8), events.messages, ...silence(10), events.messages]
  const thinking = (url: string): string =>
    smallCatalogue(url).replace('max_output_tokens: 8192', 'max_output_tokens: 8192, thinks: true')
  const onChannel = (text: string, time: string): string =>
    text.replace('models: [large-1]', `models: [large-1], idle_timeout: ${time}`)
  for (const [catalogue, eventCount] of [
    [smallCatalogue, 0],
    [thinking, 1],
    [(url: string) => onChannel(smallCatalogue(url), '570s'), 1],
    [(url: string) => onChannel(thinking(url), '90s'), 0],
  ] as const) {
    const { answer, ending } = await play('messages', pieces, { catalogue })
    assert.equal(answer.text.split(events.messages).length - 1, eventCount)
    assert.equal(answer.isComplete, false)
    assert.equal(ending, 'upstream_cut')
  }
})
