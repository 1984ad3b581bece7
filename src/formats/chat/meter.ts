/**
 * Reads a chat answer, streamed or whole: its counts, its output for an estimate, how it began and
 * ended, and which chunk the client did not ask for. It knows chunks and choices, no prices.
 */
import { readFields, type FrameBytes } from '../../http/sse.ts'
import type {
  AnswerReading,
  MeterReading,
  RequestFacts,
  StreamMeter,
  VendorError,
} from '../format.ts'
import { asArray, asObject, asText, parseJson, type JsonObject } from '../json.ts'
import { OutputText } from '../output.ts'
import { StreamGate, type FrameFate, type FrameReader } from '../stream.ts'
import { namesVendorAccount, readVendorError, unreadableError } from '../vendor-error.ts'
import { classifyChatEvent } from './errors.ts'
import { ChatUsage } from './usage.ts'

export function openChatMeter(facts: RequestFacts): StreamMeter {
  return new StreamGate(new ChatReader(facts.asksUsageChunk))
}

export function readChatAnswer(body: Buffer): AnswerReading {
  const answer = asObject(parseJson(body.toString('utf8')))
  const choices = asArray(answer?.['choices'])
  if (answer === undefined || choices === undefined) return { kind: 'not_the_format' }
  if (asObject(answer['error']) !== undefined) return { kind: 'not_the_format' }
  const gathered = new GatheredAnswer()
  gathered.readEnvelope(answer)
  gathered.usage.apply(answer['usage'])
  for (const choice of choices) gathered.readChoice(asObject(choice) ?? {}, 'message')
  return { kind: 'answer', reading: gathered.reading(true) }
}

/** Everything known of one answer, from wherever it was read. */
class GatheredAnswer {
  readonly usage = new ChatUsage()
  readonly output = new OutputText()
  hasOutput = false
  hasFinished = false
  #model: string | undefined
  #tier: string | undefined
  #isFiltered = false

  readEnvelope(envelope: JsonObject): void {
    this.#model = asText(envelope['model']) ?? this.#model
    this.#tier = asText(envelope['service_tier']) ?? this.#tier
  }

  readChoice(choice: JsonObject, field: 'delta' | 'message'): void {
    const reason = asText(choice['finish_reason'])
    if (reason !== undefined) this.hasFinished = true
    if (reason === 'content_filter') this.#isFiltered = true
    const said = asObject(choice[field])
    if (said === undefined) return
    this.#addContent(said['content'])
    this.addOutput(said['refusal'])
    this.addOutput(said['reasoning_content'] ?? said['reasoning'])
    for (const call of asArray(said['tool_calls']) ?? []) this.#addToolCall(asObject(call))
    if (asObject(said['function_call']) !== undefined) {
      this.#addToolCall({ function: said['function_call'] })
    }
    this.#addAudio(asObject(said['audio']))
  }

  addOutput(value: unknown): void {
    if (typeof value !== 'string' || value === '') return
    this.hasOutput = true
    this.output.add(value)
  }

  reading(isComplete: boolean): MeterReading {
    const { usage, output, hasOutput } = this
    const counted = usage.toUsage(this.#model, this.#tier)
    return {
      usage: counted,
      isFinal: counted !== undefined && isComplete,
      isImplausible: usage.isImplausible,
      hasOutput,
      isRefusal: this.#isFiltered && !hasOutput,
      output,
      webSearches: 0,
      model: this.#model,
    }
  }

  /** Usually a string; some servers send a list of parts. */
  #addContent(content: unknown): void {
    this.addOutput(content)
    for (const part of asArray(content) ?? []) {
      this.hasOutput = true
      this.addOutput(asObject(part)?.['text'])
    }
  }

  #addToolCall(call: JsonObject | undefined): void {
    if (call === undefined) return
    this.hasOutput = true
    const called = asObject(call['function']) ?? asObject(call['custom'])
    this.addOutput(called?.['name'])
    this.addOutput(called?.['arguments'] ?? called?.['input'])
  }

  /** Sound itself is no text; its transcript is. */
  #addAudio(audio: JsonObject | undefined): void {
    const data = asText(audio?.['data'])
    if (data !== undefined) {
      this.hasOutput = true
      this.output.addAudio(data.length)
    }
    this.addOutput(audio?.['transcript'])
  }
}

class ChatReader implements FrameReader {
  readonly #answer = new GatheredAnswer()
  readonly #asksUsageChunk: boolean
  #hasStarted = false
  #isDone = false
  #hasUsageChunk = false
  /** The frame that passes unread is one of sound. */
  #isUnreadAudio = false
  #error: VendorError | undefined
  #errorEnvelope: string | undefined

  constructor(asksUsageChunk: boolean) {
    this.#asksUsageChunk = asksUsageChunk
  }

  get hasStarted(): boolean {
    return this.#hasStarted
  }

  get error(): VendorError | undefined {
    return this.#error
  }

  get errorEnvelope(): string | undefined {
    return this.#errorEnvelope
  }

  /** Counts are final with the chunk that carries nothing else, or when the stream is done. */
  reading(): MeterReading {
    return this.#answer.reading(this.#isDone || (this.#hasUsageChunk && this.#answer.hasFinished))
  }

  read(frame: FrameBytes): FrameFate {
    const { event, data } = readFields(frame)
    if (data === undefined || data === '') return 'pass'
    if (data.startsWith('[DONE]')) return this.#finish()
    const payload = asObject(parseJson(data))
    // Behind the end of the stream only counts are of interest.
    if (this.#isDone) return payload === undefined ? 'pass' : this.#readUsage(payload)
    if (payload === undefined) return this.#readUnparsable(event, data)
    if (event === 'error' || isError(payload)) {
      this.#error = readVendorError(payload)
      if (asObject(payload['error']) !== undefined) this.#errorEnvelope = data
      // What speaks of the operator's account is not for the client to read.
      const isOperators =
        namesVendorAccount(data) || classifyChatEvent(this.#error).fault === 'config'
      return isOperators ? 'drop' : 'pass'
    }
    return this.#readChunk(payload)
  }

  /** A chunk that shows at its beginning what it is; counts it might have at its end are given up. */
  mayPassUnread(beginning: FrameBytes): boolean {
    const head = beginning.text.slice(beginning.start, beginning.start + 4096)
    this.#isUnreadAudio = /"audio": ?\{[^{}]*"data": ?"/.test(head)
    return /^data: ?\{/.test(head) && /"choices": ?\[ ?\{/.test(head)
  }

  noteUnread(bytes: number): void {
    this.#hasStarted = true
    this.#answer.hasOutput = true
    if (this.#isUnreadAudio) this.#answer.output.addAudio(bytes)
    else this.#answer.output.addUnread(bytes)
  }

  #finish(): FrameFate {
    this.#hasStarted = true
    this.#isDone = true
    return 'terminal'
  }

  #readUnparsable(event: string | undefined, data: string): FrameFate {
    if (event === 'error') {
      this.#error = { type: undefined, code: undefined, message: data }
      return namesVendorAccount(data) ? 'drop' : 'pass'
    }
    if (!this.#hasStarted) this.#error = unreadableError
    return 'pass'
  }

  #readChunk(payload: JsonObject): FrameFate {
    const choices = asArray(payload['choices'])
    if (choices === undefined) return this.#readUsage(payload)
    this.#hasStarted = true
    this.#answer.readEnvelope(payload)
    for (const choice of choices) this.#answer.readChoice(asObject(choice) ?? {}, 'delta')
    return this.#readUsage(payload)
  }

  /** Only the chunk that carries nothing else is the one the gateway asked for. */
  #readUsage(payload: JsonObject): FrameFate {
    if (asObject(payload['usage']) === undefined) return 'pass'
    this.#answer.usage.apply(payload['usage'])
    if (asArray(payload['choices'])?.length !== 0) return 'pass'
    this.#hasUsageChunk = true
    return this.#asksUsageChunk ? 'pass' : 'drop'
  }
}

/** Some servers send `"error": null` on every chunk. */
function isError(payload: JsonObject): boolean {
  const error = payload['error']
  return asObject(error) !== undefined || asText(error) !== undefined
}
