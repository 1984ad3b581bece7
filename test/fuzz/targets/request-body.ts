/**
 * The reader of request bodies: the facts it finds are those of JSON.parse, a body that two readers could
 * take for two is refused, an amended body differs in the amended place alone, and a body is the same in any
 * pieces.
 */
import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { isObject } from '../../../src/base/object.ts'
import type { Random } from '../../../src/base/random.ts'
import {
  vendorFeatures,
  type ForwardedOperation,
  type ReadRequestOptions,
  type RequestFacts,
} from '../../../src/formats/format.ts'
import { TooManySteps } from '../../../src/formats/json-tokens.ts'
import { formatOf } from '../../../src/formats/registry.ts'
import { decodeBody } from '../../../src/http/server/coded-body.ts'
import { ChunkedDecoder, copyPlaces } from '../../../src/http/wire/framing.ts'
import { depthOf, membersOf, numbersOf, type Member } from '../json-reference.ts'
import { cutAnywhere } from '../pieces.ts'
import type { FuzzTarget } from '../target.ts'

const operations = [formatOf('messages'), formatOf('chat')]
  .flatMap((format) => format.operations)
  .filter((operation) => operation.kind === 'forwarded')

/** Most inputs are JSON, and no coded body. */
const openBrace = 0x7b

export const requestBodyTarget: FuzzTarget = {
  name: 'request-body',
  words: [
    ...`model max_tokens max_completion_tokens max_output_tokens stream stream_options include_usage
    messages input prompt system tools service_tier n best_of temperature prompt_cache_key content role
    text type image_url input_audio data function cache_control ttl 1h ephemeral previous_response_id
    store models fallbacks reasoning thinking`.split(/\s+/),
    '"model":',
    '"Model":',
    '"mod\\u0065l":',
    '"stream":true,',
    '"max_to\u212aens":1',
    'm-1',
  ],
  testRuns: 500,
  async check(input, random) {
    checkChunks(input, random)
    checkAnyChunks(input, random)
    const isStrict = random() < 0.5
    const allowedFeatures = new Set(random() < 0.5 ? vendorFeatures : [])
    for (const operation of operations)
      checkOperation(operation, input, { requireMaxTokens: isStrict, allowedFeatures })
    if (input[0] !== openBrace || random() < 0.02) await checkCoded(input)
  },
}

function checkOperation(
  operation: ForwardedOperation,
  body: Buffer,
  options: ReadRequestOptions,
): void {
  const read = operation.readRequest(body, options)
  // Large bodies cross to a thread: their bytes do not begin where their memory does.
  const moved = Buffer.concat([Buffer.from('x'), body]).subarray(1)
  assert.deepEqual(operation.readRequest(moved, options), read)
  checkSteps(operation, body, options, read)
  const refusal = refusalOf(operation, body)
  if ('kind' in read) {
    assert.match(read.message, /^[`A-Z][ -~]*\.$/, 'a refusal is one plain sentence')
    if (/not valid JSON|valid UTF-8/.test(read.message))
      assert.match(
        refusal ?? '',
        /^(JSON|UTF-8)$/,
        `${operation.name}: JSON.parse accepts this body`,
      )
    return
  }
  assert.equal(refusal, undefined, `${operation.name}: this body can be read in two ways`)
  checkFacts(operation, body, read)
  for (const upstreamModel of [undefined, read.model, 'other "model" é'])
    checkAmended(operation, { body, facts: read, upstreamModel })
}

function checkSteps(
  operation: ForwardedOperation,
  body: Buffer,
  options: ReadRequestOptions,
  read: unknown,
): void {
  try {
    assert.deepEqual(operation.readRequest(body, { ...options, stepsMax: 200 }), read)
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error
  }
}

const readFields: Readonly<Record<string, string>> = {
  'messages.create': 'model max_tokens stream messages system tools service_tier',
  'messages.count_tokens': 'model messages system tools',
  'chat.completions.create':
    'model max_tokens max_completion_tokens stream stream_options n messages tools service_tier prompt_cache_key',
  'responses.create':
    'model input max_output_tokens stream tools service_tier store previous_response_id prompt_cache_key',
  'responses.compact': 'model input previous_response_id',
  'responses.input_tokens': 'model input previous_response_id',
  'embeddings.create': 'model input',
  'completions.create': 'model prompt max_tokens stream stream_options n best_of',
}

/** Why no reading of this body may be accepted; undefined where there is no such reason. */
function refusalOf(operation: ForwardedOperation, body: Buffer): string | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    // The decoder has no other way to say so.
    return 'UTF-8'
  }
  const value = parsed(text)
  if (value === undefined) return 'JSON'
  if (!isObject(value)) return 'no object'
  if (depthOf(text) > 512) return 'depth'
  const names = membersOf(text).map(({ name }) => name)
  if (names.some((name) => name.includes('\0'))) return 'U+0000 in a name'
  for (const field of (readFields[operation.name] ?? '').split(' ')) {
    const alike = names.filter((name) => new RegExp(`^${field}$`, 'iu').test(name))
    if (alike.length > 1 || alike.some((name) => name !== field))
      return `${field} twice or in another case`
  }
  if (typeof value['model'] !== 'string' || value['model'] === '') return 'no model'
  return numbersOf(text).some((one) => !Number.isFinite(Number(one)))
    ? 'a number out of range'
    : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // Not being JSON is an expected outcome.
    return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(body: Buffer): Fields {
  const value = parsed(body.toString('utf8'))
  assert.ok(isObject(value))
  return value
}

const withUsageChunk: ReadonlySet<string> = new Set([
  'chat.completions.create',
  'completions.create',
])

function checkFacts(operation: ForwardedOperation, body: Buffer, facts: RequestFacts): void {
  const fields = fieldsOf(body)
  const limits = (operation.outputLimitFields ?? []).map((name) => [name, fields[name]] as const)
  const isAlwaysWhole = limits.length === 0
  const given = limits.filter(([, value]) => value !== undefined && value !== null)
  const hasChunk = withUsageChunk.has(operation.name)
  const streamOptions = hasChunk ? fields['stream_options'] : undefined
  assert.equal(facts.model, fields['model'])
  assert.deepEqual(facts.outputLimits, Object.fromEntries(given))
  for (const [name, value] of given)
    assert.ok(Number.isSafeInteger(value) && Number(value) >= 0, `${name} is a count`)
  assert.equal(facts.isStream, fields['stream'] === true && !isAlwaysWhole)
  assert.equal(
    facts.asksUsageChunk,
    isObject(streamOptions) && streamOptions['include_usage'] === true,
  )
  if (operation.name === 'chat.completions.create')
    assert.equal(facts.choiceCount, fields['n'] ?? 1)
  assert.ok(Number.isSafeInteger(facts.choiceCount) && facts.choiceCount >= 1)
  const { likely, audioLikely, most, images, audioMost } = facts.prompt
  for (const count of [likely, audioLikely, most, images, audioMost]) assert.ok(count >= 0)
  // Where only text is asked for, a token has at least one byte.
  if (facts.isPlainText) assert.ok(most >= body.length, 'the most of a plain text is its bytes')
  const { start, end } = facts.spans.model
  assert.equal(parsed(body.toString('utf8', start, end)), facts.model)
}

interface Amendment {
  readonly body: Buffer
  readonly facts: RequestFacts
  readonly upstreamModel: string | undefined
}

function checkAmended(operation: ForwardedOperation, amendment: Amendment): void {
  const { body, facts, upstreamModel } = amendment
  const amended = Buffer.concat([operation.amend(body, facts, upstreamModel)].flat())
  const addsUsage = withUsageChunk.has(operation.name) && facts.isStream && !facts.asksUsageChunk
  const isRenamed = upstreamModel !== undefined && upstreamModel !== facts.model
  if (!addsUsage && !isRenamed) {
    assert.ok(amended.equals(body), 'a body without an amendment is forwarded byte for byte')
    return
  }
  const fields = fieldsOf(body)
  const options = fields['stream_options']
  assert.deepEqual(fieldsOf(amended), {
    ...fields,
    ...(isRenamed && { model: upstreamModel }),
    ...(addsUsage && {
      stream_options: { ...(isObject(options) ? options : {}), include_usage: true },
    }),
  })
  const members = membersOf(body.toString('latin1'))
  const places = members.filter(
    ({ name }) => (isRenamed && name === 'model') || (addsUsage && name === 'stream_options'),
  )
  const isAdded = addsUsage && !places.some(({ name }) => name === 'stream_options')
  const first = body.indexOf('{') + 1
  assertRestIsSame(body, amended, isAdded ? [{ start: first, end: first }, ...places] : places)
}

/** All bytes outside these places are in the amended body, in order, and it begins and ends with them. */
function assertRestIsSame(
  body: Buffer,
  amended: Buffer,
  places: readonly Pick<Member, 'start' | 'end'>[],
): void {
  let at = 0
  let from = 0
  for (const { start, end } of places) {
    const kept = body.subarray(from, start)
    const found = from === 0 ? 0 : amended.indexOf(kept, at)
    assert.ok(
      found >= 0 && amended.subarray(found, found + kept.length).equals(kept),
      'same before',
    )
    at = found + kept.length
    from = end
  }
  const rest = body.subarray(from)
  assert.ok(
    amended.length - rest.length >= at && amended.subarray(-rest.length).equals(rest),
    'same behind',
  )
}

/** The body in chunks, which arrive in any pieces; behind it another request. */
function checkChunks(body: Buffer, random: Random): void {
  const chunks = cutAnywhere(body, random).filter(({ length }) => length > 0)
  // All extensions of a body may have 16 KiB.
  const extended = chunks.length < 1_000 ? 0.2 : 0
  const coded = Buffer.concat([
    ...chunks.flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)}${random() < extended ? ';a="b"' : ''}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`0\r\n${random() < 0.2 ? 'x-trailer: 1\r\n' : ''}\r\n`),
  ])
  const decoder = new ChunkedDecoder()
  const found: Buffer[] = []
  for (const piece of cutAnywhere(coded, random)) {
    const places = decoder.read(piece, 0)
    found.push(copyPlaces(piece, places) ?? Buffer.alloc(0))
  }
  assert.ok(decoder.isDone, 'the chunks of a body end')
  assert.ok(Buffer.concat(found).equals(body), 'chunks give the body')
}

/** The input as it came for a body in chunks: it is read alike in any pieces. */
function checkAnyChunks(input: Buffer, random: Random): void {
  assert.deepEqual(readChunks(cutAnywhere(input, random)), readChunks([input]))
}

function readChunks(pieces: readonly Buffer[]) {
  const decoder = new ChunkedDecoder()
  const found: Buffer[] = []
  let usedBytes = 0
  for (const piece of pieces) {
    if (decoder.isDone || decoder.isBroken) break
    const places = decoder.read(piece, 0)
    found.push(copyPlaces(piece, places) ?? Buffer.alloc(0))
    usedBytes += decoder.next
  }
  const { isDone, isBroken } = decoder
  return { isDone, isBroken, content: Buffer.concat(found).toString('latin1'), usedBytes }
}

const decoders = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
} as const

const limits = { bytesMax: 1_000_000, reserve: () => undefined }

/** Whatever is taken for a coded body, the usual decoder reads the same in it, and leaves no byte. */
async function checkCoded(input: Buffer): Promise<void> {
  for (const coding of ['gzip', 'deflate', 'br', 'zstd'] as const) {
    const read = await decodeBody(input, coding, limits)
    if (read.kind !== 'body') continue
    // The types of Node do not know what `info` returns.
    const usual: unknown = decoders[coding](input, { info: true })
    const engine = isObject(usual) ? usual['engine'] : undefined
    assert.ok(isObject(usual) && isObject(engine) && Buffer.isBuffer(usual['buffer']))
    assert.ok(read.body.equals(usual['buffer']), `${coding}: another content`)
    assert.equal(engine['bytesWritten'], input.length, `${coding}: bytes behind the content`)
  }
}
