/**
 * The meters of streams, of every operation that has them: the bytes pass unchanged, all that is read is the
 * same however they were cut, a stream without its end is never complete, and no charge is above the quote.
 */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../../src/base/random.ts'
import type { RequestFacts, VendorOperation } from '../../../src/formats/format.ts'
import { formatOf } from '../../../src/formats/registry.ts'
import type { UsageCounts } from '../../../src/metering/usage.ts'
import { plainFacts } from '../../transcripts/replay.ts'
import { checkCharges } from '../charges.ts'
import { checkCodings } from '../coded-answer.ts'
import { cutAnywhere } from '../pieces.ts'
import {
  fieldsAt,
  listAt,
  readEvents,
  streamRules,
  type Fields,
  type ReferenceEvent,
} from '../sse-reference.ts'
import type { FuzzTarget } from '../target.ts'
import { chatCounts, chatNames, messagesCounts, responsesNames } from '../usage-reference.ts'

interface Metered {
  readonly operation: VendorOperation
  readonly format: 'messages' | 'chat'
}

/** All that are streamed. */
const metered: readonly Metered[] = (['messages', 'chat'] as const).flatMap((format) =>
  formatOf(format)
    .operations.filter((operation) => operation.kind === 'forwarded')
    .filter(({ name }) => Object.hasOwn(streamRules, name))
    .map((operation) => ({ operation, format })),
)

export const answerStreamTarget: FuzzTarget = {
  name: 'answer-stream',
  words: [
    'data: ',
    'event: ',
    'data:',
    'id: 1\n',
    ': ping\n\n',
    'retry: 1\n',
    'data: [DONE]\n\n',
    '[DONE]',
    'event: message_stop\n',
    '{"type":"message_stop"}',
    '"finish_reason":"stop"',
    'content_filter',
    'event: error\n',
    '"error":{"type":"overloaded_error"}',
    'data: {"choices":[],"usage":{}}\n\n',
    'usage',
    'type',
    'delta',
    'choices',
    'model',
    'response',
    'output_tokens',
    'stop_reason',
    'text',
    'iterations',
    'prompt_tokens',
    'total_tokens',
    'sequence_number',
    'obfuscation',
    'service_tier',
    'response.completed',
    'response.failed',
    'message_delta',
    'error',
    'finish_reason',
    'refusal',
  ],
  testRuns: 200,
  async check(input, random) {
    const events = readEvents(input)
    for (const one of metered) await checkMeter(one, { input, events }, random)
    if (random() < 0.005) await checkCodings(input, random)
  },
}

interface Stream {
  readonly input: Buffer
  readonly events: readonly ReferenceEvent[]
}

async function checkMeter(
  { operation, format }: Metered,
  { input, events }: Stream,
  random: Random,
): Promise<void> {
  const facts: RequestFacts = {
    ...plainFacts,
    asksUsageChunk: random() < 0.5,
    choiceCount: random() < 0.8 ? 1 : 2,
    storesAnswer: random() < 0.5,
    cacheWrite: random() < 0.5 ? undefined : 'long',
  }
  const isAnnounced = random() < 0.5
  const whole = metering({ operation, facts, isAnnounced }, [input])
  for (const pieces of [cutAnywhere(input, random), cutAnywhere(input, random)])
    assertSame(metering({ operation, facts, isAnnounced }, pieces), whole, operation.name)
  checkBytes({ input, events }, { operation, facts, whole })
  checkEnd(events, { operation, isAnnounced, whole })
  checkCounts(operation, { facts, whole, events })
  await checkCharges(format, whole.counts)
}

interface Metering {
  readonly operation: VendorOperation
  readonly facts: RequestFacts
  readonly isAnnounced: boolean
}

/** The stream through the meter, as the relay passes it. */
function metering({ operation, facts, isAnnounced }: Metering, pieces: readonly Buffer[]) {
  const meter = operation.openMeter(facts)
  const passed: Buffer[] = []
  for (const piece of pieces) {
    const repeated = meter.passRepeats(piece, 0, piece.length)
    passed.push(piece.subarray(0, repeated))
    if (repeated < piece.length) passed.push(...meter.push(Buffer.from(piece.subarray(repeated))))
  }
  passed.push(...meter.end(isAnnounced))
  const counts = meter.reading()
  const { output, ...reading } = counts
  const { hasStarted, eventCount, error, errorEnvelope, isErrorWithheld, isTerminated } = meter
  return {
    passed: Buffer.concat(passed).toString('latin1'),
    held: Buffer.concat(meter.held).toString('latin1'),
    read: {
      ...reading,
      output: { text: output.text, bytes: output.bytes, audioBytes: output.audioBytes },
      hasStarted,
      eventCount,
      error,
      errorEnvelope,
      isErrorWithheld,
      isTerminated,
      isInFrame: meter.isInFrame,
      isOverflown: meter.isOverflown,
    },
    counts,
  }
}

type Outcome = ReturnType<typeof metering>

function assertSame(cut: Outcome, whole: Outcome, name: string): void {
  if (!isDeepStrictEqual(cut.read, whole.read))
    assert.deepEqual(cut.read, whole.read, `${name}: cut elsewhere`)
  const hasError = whole.read.error !== undefined
  assert.equal(
    closed(cut.passed, hasError),
    closed(whole.passed, hasError),
    `${name}: other bytes passed`,
  )
  assert.equal(cut.held, whole.held, `${name}: other bytes held`)
}

/** Behind an error its blank line is completed, and its last LF may be missing. */
function closed(text: string, hasError: boolean): string {
  return hasError ? text.replace(/[\r\n]+$/, '') : text
}

interface Passage {
  readonly operation: VendorOperation
  readonly facts: RequestFacts
  readonly whole: Outcome
}

/** The client gets all bytes but the chunk that it has not asked for; up to an error, if there is one. */
function checkBytes({ events }: Stream, { operation, facts, whole }: Passage): void {
  const rules = streamRules[operation.name]
  const hasError = whole.read.error !== undefined
  // An error is passed on, also in a chunk that is otherwise one of usage.
  const isWanted = (event: ReferenceEvent): boolean =>
    facts.asksUsageChunk ||
    rules?.isUsageChunk(event) !== true ||
    (hasError && (event.event === 'error' || (event.payload?.['error'] ?? null) !== null))
  const expected = events
    .filter(isWanted)
    .map(({ text }) => text)
    .join('')
  if (!hasError)
    assert.equal(whole.passed + whole.held, expected, `${operation.name}: bytes are changed`)
  else
    assert.ok(
      expected.startsWith(closed(whole.passed, true)) && whole.held === '',
      `${operation.name}: bytes before an error are changed`,
    )
}

interface End {
  readonly operation: VendorOperation
  readonly isAnnounced: boolean
  readonly whole: Outcome
}

function checkEnd(events: readonly ReferenceEvent[], { operation, isAnnounced, whole }: End): void {
  const rules = streamRules[operation.name]
  const { isTerminated, error } = whole.read
  if (error !== undefined || rules === undefined) return
  const hasEnd = events.some((event) => rules.isTerminal(event))
  if (hasEnd || !isAnnounced)
    assert.equal(isTerminated, hasEnd, `${operation.name}: complete exactly with its last event`)
  else if (isTerminated)
    assert.ok(
      events.some((event) => event.isWhole && rules.hasFinish(event)),
      `${operation.name}: complete without a reason to be`,
    )
  if (!isTerminated && !isAnnounced) assert.equal(whole.held, '', 'nothing is held without an end')
}

interface Counted {
  readonly facts: RequestFacts
  readonly whole: Outcome
  readonly events: readonly ReferenceEvent[]
}

function checkCounts(operation: VendorOperation, { facts, whole, events }: Counted): void {
  const { usage, isImplausible, isFinal, error } = whole.read
  for (const part of usage?.parts ?? [])
    for (const count of [part.promptTokens, ...Object.values(part.counts)])
      assert.ok(Number.isInteger(count) && count >= 0, `${operation.name}: ${count} is no count`)
  const text = usualText(operation, events)
  if (text !== undefined && error === undefined)
    assert.equal(whole.read.output.text, text, `${operation.name}: another output is counted`)
  // No vendor ends an answer twice, with other counts each time.
  const rules = streamRules[operation.name]
  if (events.filter((event) => rules?.isTerminal(event)).length > 1) return
  // The second reading counts tokens, and no calls of tools.
  if (events.some(({ data }) => data.includes('_call"'))) return
  const expected = usualCounts(operation, events, facts.cacheWrite === 'long')
  if (expected === undefined || error !== undefined) return
  assert.ok(!isImplausible, `${operation.name}: usual counts are not believed`)
  assert.ok(isFinal || !whole.read.isTerminated, `${operation.name}: usual counts are not final`)
  assert.deepEqual(usage?.parts[0]?.counts, expected, operation.name)
}

const messagesTypes: readonly unknown[] = [
  'message_start',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
]

/** The output by a second reading; undefined where a stream has other parts than pieces of text. */
function usualText(
  { name }: VendorOperation,
  events: readonly ReferenceEvent[],
): string | undefined {
  if (name !== 'messages.create' && name !== 'chat.completions.create') return undefined
  const end = events.findIndex((event) => streamRules[name]?.isTerminal(event))
  const texts = events.slice(0, end === -1 ? undefined : end).map(({ payload }) => {
    if (payload === undefined) return ''
    return name === 'messages.create' ? messagesText(payload) : chatText(payload)
  })
  // Half a pair of surrogates is no character, and the other half is in no other event.
  return texts.includes(undefined) ? undefined : texts.map((text) => text?.toWellFormed()).join('')
}

function messagesText(payload: Fields): string | undefined {
  const { type } = payload
  if (messagesTypes.includes(type)) return ''
  const { type: blockType, text: first } = fieldsAt(payload, 'content_block') ?? {}
  if (type === 'content_block_start') return blockType === 'text' && first === '' ? '' : undefined
  const { type: deltaType, text, ...others } = fieldsAt(payload, 'delta') ?? {}
  const isUsual = type === 'content_block_delta' && deltaType === 'text_delta'
  if (!isUsual || typeof text !== 'string' || Object.keys(others).length > 0) return undefined
  return text
}

function chatText(payload: Fields): string | undefined {
  const texts = (listAt(payload, 'choices') ?? []).map((choice) => {
    const { role: _, content = '', ...others } = fieldsAt(choice, 'delta') ?? {}
    const isUsual = typeof content === 'string' && Object.keys(others).length === 0
    return isUsual ? content : undefined
  })
  return texts.includes(undefined) ? undefined : texts.join('')
}

/** By the second reading; undefined where the stream has anything unusual. */
function usualCounts(
  operation: VendorOperation,
  events: readonly ReferenceEvent[],
  asksOneHour: boolean,
): UsageCounts | undefined {
  const withUsage = events.filter(({ data }) => data.includes('"usage"') || data.includes('\\u'))
  if (!events.every(({ isWhole }) => isWhole)) return undefined
  const [first, last, ...more] = withUsage.map(({ payload }) => payload)
  if (operation.name === 'messages.create') {
    const isUsual =
      first?.['type'] === 'message_start' && last?.['type'] === 'message_delta' && more.length === 0
    if (!isUsual) return undefined
    return messagesCounts(
      first['message'] && fieldsAt(first, 'message', 'usage'),
      asksOneHour,
      last['usage'],
    )
  }
  if (withUsage.length !== 1) return undefined
  if (operation.name === 'responses.create') {
    const isUsual = first?.['type'] === 'response.completed'
    return isUsual ? chatCounts(fieldsAt(first, 'response', 'usage'), responsesNames) : undefined
  }
  const isUsual = Array.isArray(first?.['choices']) && first['choices'].length === 0
  return isUsual ? chatCounts(first['usage'], chatNames) : undefined
}
