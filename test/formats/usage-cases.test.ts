// Every usage object of usage-cases/*.json goes through the meter of its format and the settlement of an
// answer that has ended well. What is charged must be what the case says.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { picos } from '../../src/base/money.ts'
import type { MeterReading } from '../../src/formats/answer.ts'
import { chatCompletions } from '../../src/formats/chat/index.ts'
import type { RequestFacts } from '../../src/formats/format.ts'
import type { JsonObject } from '../../src/formats/json.ts'
import { messagesCreate } from '../../src/formats/messages/index.ts'
import { responsesCreate } from '../../src/formats/responses/index.ts'
import { parsePrices } from '../../src/metering/price-form.ts'
import { decideCharge, type ChargeDecision } from '../../src/metering/settlement.ts'
import { usageClasses, type UsageClass, type UsageCounts } from '../../src/metering/usage.ts'
import { plainFacts } from '../transcripts/replay.ts'
import { isSourced, readUsageCases, type MissingCase, type UsageCase } from './usage-cases.ts'

const operations = {
  chat: chatCompletions,
  messages: messagesCreate,
  responses: responsesCreate,
}

/** In USD per million tokens; those of the examples in the documents. */
const prices = parsePrices({
  input: 3,
  output: 15,
  cache_read: 0.3,
  cache_write_5m: 3.75,
  cache_write_1h: 6,
})

const facts: RequestFacts = { ...plainFacts, asksUsageChunk: true }

/** No case is near them. */
const bounds = {
  promptTokensLikely: 7,
  inputTokensMax: 10_000_000,
  maxOutputTokens: 200_000,
  choiceCount: 1,
  serverTools: { uses: 200 },
}

function wholeAnswer({ api, usage }: UsageCase): JsonObject {
  switch (api) {
    case 'chat': {
      const message = { role: 'assistant', content: 'Hi' }
      return { model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
    }
    case 'messages': {
      const content = [{ type: 'text', text: 'Hi' }]
      return { type: 'message', model: 'm', content, stop_reason: 'end_turn', usage }
    }
    case 'responses': {
      const content = [{ type: 'output_text', text: 'Hi' }]
      const output = [{ type: 'message', id: 'msg_1', content }]
      return { id: 'resp_1', model: 'm', status: 'completed', output, usage }
    }
  }
}

/** Puts a little output before the last events of the case. */
function streamOf({ api, events = [] }: UsageCase): readonly JsonObject[] {
  switch (api) {
    case 'chat': {
      const delta = { role: 'assistant', content: 'Hi' }
      return [{ choices: [{ index: 0, delta, finish_reason: null }] }, ...events]
    }
    case 'messages': {
      const starts = events.filter(({ type }) => type === 'message_start')
      const index = 0
      return [
        ...starts,
        { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Hi' } },
        { type: 'content_block_stop', index },
        ...events.slice(starts.length),
        { type: 'message_stop' },
      ]
    }
    case 'responses':
      return [
        { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
        { type: 'response.output_text.delta', output_index: 0, delta: 'Hi' },
        ...events,
      ]
  }
}

function frameOf(event: JsonObject): string {
  const name = event['type']
  const head = typeof name === 'string' ? `event: ${name}\n` : ''
  return `${head}data: ${JSON.stringify(event)}\n\n`
}

function readingOf(entry: UsageCase): MeterReading {
  const operation = operations[entry.api]
  if (entry.form === 'whole') {
    const read = operation.readAnswer(wholeAnswer(entry), facts)
    if (read.kind !== 'answer') assert.fail('not the format')
    return read.reading
  }
  const meter = operation.openMeter(facts)
  for (const event of streamOf(entry)) meter.push(Buffer.from(frameOf(event)))
  if (entry.api === 'chat') meter.push(Buffer.from('data: [DONE]\n\n'))
  meter.end(true)
  assert.equal(meter.isTerminated, true)
  return meter.reading()
}

function settle(entry: UsageCase): ChargeDecision | Promise<ChargeDecision> {
  return decideCharge(
    {
      ending: 'completed',
      counts: readingOf(entry),
      format: entry.api === 'messages' ? 'messages' : 'chat',
      requestedModel: 'm',
      prices,
      pricesFor: () => prices,
      bounds,
      isHoldFinal: true,
      holdPicos: picos(10n ** 15n),
      multiplierPpm: 1_000_000,
      cutPolicy: 'nothing',
    },
    { count: () => Promise.resolve(1), close: () => Promise.resolve() },
  )
}

/** Without classes that count nothing. */
function counted(counts: UsageCounts): UsageCounts {
  const given: { [Class in UsageClass]?: number } = {}
  for (const usageClass of usageClasses) {
    const count = counts[usageClass] ?? 0
    if (count > 0) given[usageClass] = count
  }
  return given
}

async function assertCharged(entry: UsageCase): Promise<void> {
  const decided = await settle(entry)
  const isEstimated = decided.marks.includes('estimated')
  const { charge, parts = charge === undefined ? [] : [{ charge }] } = entry
  assert.equal(isEstimated, entry.estimated === true, decided.marks.join())
  if (entry.estimated === true) return
  assert.equal(decided.marks.includes('implausible'), false, 'the counts are believed')
  const charged = decided.usage?.parts ?? []
  assert.deepEqual(
    charged.map(({ counts }) => counted(counts)),
    parts.map((part) => counted(part.charge)),
  )
  for (const [index, { model }] of parts.entries())
    if (model !== undefined) assert.equal(charged[index]?.model, model)
  if (entry.usd !== undefined)
    assert.equal(decided.amountPicos, BigInt(Math.round(entry.usd * 1e12)))
  if (entry.api !== 'messages' && charge !== undefined) assertReported(decided, charge)
}

/** The figures of an account are sums of what was charged, with cached tokens in the input. */
function assertReported({ usage }: ChargeDecision, charge: UsageCounts): void {
  const { input = 0, input_audio = 0, cache_read = 0, cache_read_audio = 0 } = charge
  const { cache_write_5m = 0, cache_write_1h = 0, output = 0, output_audio = 0 } = charge
  const cacheTokens = cache_read + cache_read_audio
  assert.deepEqual(usage?.reported, {
    inputTokens: input + input_audio + cacheTokens + cache_write_5m + cache_write_1h,
    outputTokens: output + output_audio,
    cacheTokens,
  })
}

/** Without a source there is no object, and with one there is all that a reader needs to check it. */
function assertForm(entry: UsageCase | MissingCase): void {
  if (!isSourced(entry)) {
    assert.ok(entry.searched.length > 0)
    for (const field of ['usage', 'events', 'charge', 'parts', 'estimated', 'why'])
      assert.equal(field in entry, false, field)
    return
  }
  const { source, usage, events, charge, parts, estimated } = entry
  assert.match(source.address, /^https:\/\//)
  assert.match(source.kind, /^(?:documented|reported)$/)
  assert.match(source.date ?? '2026-01-01', /^20\d\d-\d\d-\d\d$/)
  assert.equal(usage === undefined, entry.form === 'stream')
  assert.equal(events === undefined, entry.form === 'whole')
  assert.equal([charge, parts, estimated].filter((given) => given !== undefined).length, 1)
  assert.ok(entry.why.length > 0)
}

for (const { vendor, checked, cases } of readUsageCases()) {
  describe(`the usage of ${vendor}`, () => {
    test('has its sources', () => {
      assert.match(checked, /^20\d\d-\d\d-\d\d$/)
      for (const entry of cases) assertForm(entry)
    })

    for (const entry of cases.filter(isSourced))
      test(`${entry.api}, ${entry.form}: ${entry.name}`, () => assertCharged(entry))
  })
}
