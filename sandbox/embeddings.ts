/**
 * Simulated embeddings: the same text has the same vector of length 1 at each call, in either
 * encoding. Makes the vendor's checks of number and size of the inputs.
 */
import { hash } from 'node:crypto'
import { vendorHeaders } from './answer.ts'
import type { Answer } from './answer.ts'
import { seededRandom } from '../src/base/random.ts'
import type { ErrorPreset } from './error-presets.ts'
import { arrayTooLong, belowMinimum, codedRefusal, emptyArray, missingField } from './refusals.ts'
import { plainRefusal, wrongType } from './refusals.ts'
import { readFacts } from './request.ts'
import type { FactsOptions, JsonObject } from './request.ts'
import { countUsage, distort, finishJson } from './usage.ts'

type Input = string | readonly number[]

const inputsMax = 2_048
const inputTokensMax = 8_192
const requestTokensMax = 300_000
const usualDimensions = 1_536
const dimensionsMax = 3_072

/** The inputs of a request: one text, a list of texts, one list of tokens, or a list of those. */
function readInputs(given: unknown): readonly Input[] | undefined {
  if (typeof given === 'string') return [given]
  if (!Array.isArray(given)) return undefined
  const list: readonly unknown[] = given
  if (list.length > 0 && list.every(isToken)) return [list]
  const inputs = list.filter((one) => typeof one === 'string' || isTokens(one))
  return inputs.length === list.length ? inputs : undefined
}

function isToken(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(isToken)
}

function countTokens(input: Input): number {
  return typeof input === 'string' ? Math.ceil(Buffer.byteLength(input) / 4) : input.length
}

/** The text that directives and the marker stand in. */
export function embeddingsPrompt({ input }: JsonObject): string {
  return readInputs(input)?.findLast((one) => typeof one === 'string') ?? ''
}

export function findEmbeddingsFault(body: JsonObject): ErrorPreset | undefined {
  const { model, input, dimensions, encoding_format: encoding } = body
  if (model === undefined) return plainRefusal('you must provide a model parameter')
  if (typeof model !== 'string') return wrongType('model', 'a string', model)
  if (input === undefined) return missingField('input')
  const inputs = readInputs(input)
  if (inputs === undefined) return wrongType('input', 'a string or an array', input)
  if (inputs.length === 0) return emptyArray('input')
  if (inputs.length > inputsMax) return arrayTooLong('input', inputsMax, inputs.length)
  if (encoding !== undefined && encoding !== 'float' && encoding !== 'base64') {
    return codedRefusal(
      `Invalid value: '${typeof encoding === 'string' ? encoding : ''}'. Supported values are: 'float' and 'base64'.`,
      'invalid_value',
      'encoding_format',
    )
  }
  return findSizeFault(inputs) ?? findDimensionsFault(dimensions)
}

function findSizeFault(inputs: readonly Input[]): ErrorPreset | undefined {
  if (inputs.includes('')) {
    return plainRefusal("Invalid 'input': input cannot be an empty string.", 'input')
  }
  const counts = inputs.map(countTokens)
  const long = counts.findIndex((count) => count > inputTokensMax)
  if (long !== -1) {
    const name = inputs.length === 1 ? 'input' : `input[${long}]`
    return plainRefusal(`Invalid '${name}': maximum input length is ${inputTokensMax} tokens.`)
  }
  const total = counts.reduce((sum, count) => sum + count, 0)
  return total > requestTokensMax
    ? plainRefusal(
        `Invalid 'input': maximum request size is ${requestTokensMax} tokens per request.`,
      )
    : undefined
}

function findDimensionsFault(dimensions: unknown): ErrorPreset | undefined {
  if (dimensions === undefined) return undefined
  if (typeof dimensions !== 'number' || !Number.isInteger(dimensions))
    return wrongType('dimensions', 'an integer', dimensions)
  if (dimensions < 1) return belowMinimum('dimensions', 1, dimensions)
  if (dimensions <= dimensionsMax) return undefined
  const message = `Invalid value for 'dimensions' = ${dimensions}. Must be less than or equal to ${dimensionsMax}.`
  return plainRefusal(message)
}

export function answerEmbeddings(options: FactsOptions): Answer {
  const { body, directives } = options
  const inputs = readInputs(body['input']) ?? []
  const promptTokens = inputs.reduce((sum, input) => sum + countTokens(input), 0)
  // Embeddings have no output and no cache, whatever a directive for the whole channel says.
  const { outputTokens: _output, cached: _cached, ...inputDirectives } = directives
  const request = { ...readFacts(options), promptTokens, directives: inputDirectives }
  const usage = countUsage(request, { output: 0, reasoning: 0, audio: 0 })
  const { input } = usage.counts
  const counts = { prompt_tokens: input, total_tokens: input }
  const wireUsage = distort(counts, directives.usage)
  const size = typeof body['dimensions'] === 'number' ? body['dimensions'] : usualDimensions
  const isBase64 = body['encoding_format'] === 'base64'
  const content = {
    object: 'list',
    data: inputs.map((one, index) => {
      const vector = vectorOf(one, size)
      const embedding = isBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector]
      return { object: 'embedding', index, embedding }
    }),
    model: directives.answerModel ?? request.model,
    usage: wireUsage,
  }
  return {
    kind: 'answer',
    status: 200,
    headers: vendorHeaders(request, 'application/json'),
    body: finishJson(JSON.stringify(content)),
    usage,
    wireUsage,
  }
}

function vectorOf(input: Input, size: number): Float32Array<ArrayBuffer> {
  const digest = hash('sha256', typeof input === 'string' ? input : input.join(','), 'buffer')
  const random = seededRandom(digest.readUInt32LE(0))
  const vector = Float32Array.from({ length: size }, () => random() * 2 - 1)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
