/**
 * The meters of whole answers, of every operation: a large answer, of which only parts are kept, is read like
 * a small one, counts are counts, usual ones are those of a second reading, and no charge is above the quote.
 */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { edgesOf } from '../../../src/formats/answer-edges.ts'
import type { AnswerReading, MeterReading } from '../../../src/formats/answer.ts'
import type { RequestFacts, VendorOperation } from '../../../src/formats/format.ts'
import { JsonExtract } from '../../../src/formats/json-extract.ts'
import { parseBody } from '../../../src/formats/json.ts'
import { formatOf } from '../../../src/formats/registry.ts'
import type { UsageCounts } from '../../../src/metering/usage.ts'
import { plainFacts } from '../../transcripts/replay.ts'
import { checkCharges } from '../charges.ts'
import { depthOf } from '../json-reference.ts'
import { cutAnywhere } from '../pieces.ts'
import { fieldsAt, listAt, type Fields } from '../sse-reference.ts'
import type { FuzzTarget } from '../target.ts'
import { chatCounts, chatNames, messagesCounts, responsesNames } from '../usage-reference.ts'

interface Read {
  readonly operation: VendorOperation
  readonly format: 'messages' | 'chat'
}

const operations: readonly Read[] = (['messages', 'chat'] as const).flatMap((format) =>
  formatOf(format)
    .operations.filter((operation) => operation.kind === 'forwarded' || operation.kind === 'stored')
    .map((operation) => ({ operation, format })),
)

export const answerWholeTarget: FuzzTarget = {
  name: 'answer-whole',
  words:
    `usage input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens iterations
    cache_creation ephemeral_1h_input_tokens server_tool_use web_search_requests prompt_tokens total_tokens
    completion_tokens prompt_tokens_details cached_tokens completion_tokens_details reasoning_tokens
    audio_tokens choices message content text finish_reason stop_reason model service_tier error type output
    data object status incomplete_details reason encrypted_content container_id tool_usage failed refusal
    fallback_message message other-1 priority`.split(/\s+/),
  testRuns: 200,
  async check(input, random) {
    const facts: RequestFacts = {
      ...plainFacts,
      isStream: false,
      storesAnswer: random() < 0.5,
      cacheWrite: random() < 0.5 ? undefined : 'long',
    }
    const value = parseBody(input)
    const cuts = [cutAnywhere(input, random), Array.from(input, (byte) => Buffer.from([byte]))]
    for (const { operation, format } of operations) {
      const read = operation.readAnswer(value, facts)
      const shown = plain(read)
      for (const pieces of isKeptWhole(input) ? cuts : [])
        assertSame(plain(fromPieces(operation, facts, pieces)), shown, operation.name)
      checkEdges(operation, input, facts)
      if (read.kind !== 'answer') continue
      checkCounts(operation, value, { facts, reading: read.reading })
      await checkCharges(format, read.reading)
    }
  },
}

/** Beyond these bounds a large answer is not read as JSON. */
function isKeptWhole(input: Buffer): boolean {
  const text = input.toString('latin1')
  return (
    depthOf(text) <= 512 &&
    !/[^\s,:[\]{}"]{4000}/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""'))
  )
}

function fromPieces(
  operation: VendorOperation,
  facts: RequestFacts,
  pieces: readonly Buffer[],
): AnswerReading {
  const extracted = new JsonExtract(operation.answerMembers)
  for (const piece of pieces) extracted.push(piece, 0, piece.length)
  return operation.readAnswer(extracted.end(), facts)
}

/** The output as plain values. */
function plain(read: AnswerReading | undefined) {
  if (read?.kind !== 'answer') return read
  const { text, bytes, audioBytes } = read.reading.output
  return { ...read.reading, output: { text, bytes, audioBytes } }
}

function assertSame(one: unknown, other: unknown, name: string): void {
  if (!isDeepStrictEqual(one, other)) assert.deepEqual(one, other, `${name}: read in two ways`)
}

const vectors = `{"embedding":[${'0,'.repeat(70_000)}0]}`

/** Where the edges of a large answer are enough, they say what the whole says. */
function checkEdges(operation: VendorOperation, input: Buffer, facts: RequestFacts): void {
  if (operation.readEdges === undefined || !input.includes('"data":[')) return
  const large = Buffer.from(input.toString('utf8').replace('"data":[', `$&${vectors},`))
  const value = parseBody(large)
  const edges = plain(operation.readEdges(edgesOf([large])))
  if (value !== undefined && edges !== undefined)
    assertSame(edges, plain(operation.readAnswer(value, facts)), `${operation.name} by its edges`)
}

interface Counted {
  readonly facts: RequestFacts
  readonly reading: MeterReading
}

function checkCounts(
  operation: VendorOperation,
  value: unknown,
  { facts, reading }: Counted,
): void {
  const { usage, isFinal, isImplausible } = reading
  for (const part of usage?.parts ?? [])
    for (const count of [part.promptTokens, ...Object.values(part.counts)])
      assert.ok(Number.isInteger(count) && count >= 0, `${operation.name}: ${count} is no count`)
  const expected = operation.isFree ? undefined : usualCounts(operation, fieldsAt(value), facts)
  if (expected === undefined) return
  assert.ok(isFinal && !isImplausible, `${operation.name}: usual counts are not believed`)
  assert.deepEqual(usage?.parts[0]?.counts, expected, operation.name)
}

function usualCounts(
  { name }: VendorOperation,
  answer: Fields | undefined,
  { cacheWrite }: RequestFacts,
): UsageCounts | undefined {
  const usage = fieldsAt(answer, 'usage')
  if (name.startsWith('messages.')) {
    const counts = messagesCounts(usage, cacheWrite === 'long')
    return usage?.['output_tokens'] === undefined ? undefined : counts
  }
  // A tool that is billed by its use is counted elsewhere.
  if (name.startsWith('responses.'))
    return hasOnlyTexts(answer) ? chatCounts(usage, responsesNames) : undefined
  return chatCounts(usage, chatNames)
}

function hasOnlyTexts(answer: Fields | undefined): boolean {
  const items = listAt(answer, 'output') ?? []
  return (
    answer?.['tool_usage'] === undefined &&
    items.every((item) => fieldsAt(item)?.['type'] === 'message')
  )
}
