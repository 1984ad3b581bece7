/**
 * Reads a messages answer, streamed or whole: its counts, its output for an estimate, how it began
 * and ended. It knows events and blocks, no prices. Event, block and delta kinds are open lists:
 * what is unknown passes and counts as output where it could have cost something.
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
import { plainStringEnd } from '../scan.ts'
import { StreamGate, type FrameFate, type FrameReader } from '../stream.ts'
import { namesVendorAccount, readVendorError, unreadableError } from '../vendor-error.ts'
import { classifyMessagesEvent } from './errors.ts'
import { MessagesUsage } from './usage.ts'

export function openMessagesMeter(facts: RequestFacts): StreamMeter {
  return new StreamGate(new MessagesReader(facts.asksOneHourCache))
}

export function readMessagesAnswer(body: Buffer, facts: RequestFacts): AnswerReading {
  const answer = asObject(parseJson(body.toString('utf8')))
  const content = asArray(answer?.['content'])
  if (answer === undefined || content === undefined) return { kind: 'not_the_format' }
  if (answer['type'] === 'error' || asObject(answer['error']) !== undefined) {
    return { kind: 'not_the_format' }
  }
  const gathered = new GatheredAnswer(facts.asksOneHourCache)
  gathered.readMessage(answer)
  gathered.usage.apply(answer['usage'], 'answer')
  for (const block of content) gathered.readBlock(asObject(block) ?? {})
  return { kind: 'answer', reading: gathered.reading(true) }
}

/** Everything known of one answer, from wherever it was read. */
class GatheredAnswer {
  readonly usage: MessagesUsage
  readonly output = new OutputText()
  hasOutput = false
  #model: string | undefined
  #stopReason: string | undefined
  #webSearches = 0

  constructor(asksOneHourCache: boolean) {
    this.usage = new MessagesUsage(asksOneHourCache)
  }

  readMessage(message: JsonObject): void {
    this.#model = asText(message['model']) ?? this.#model
    this.noteStop(message)
  }

  /** Why the answer ends, from the message itself or from the end of its stream. */
  noteStop(told: JsonObject): void {
    const reason = told['stop_reason']
    if (typeof reason === 'string') this.#stopReason = reason
    // Which of the client's sequences was met is said outside the content, and can be all it asked for.
    if (asText(told['stop_sequence']) !== undefined) this.hasOutput = true
  }

  /** Nothing more will be said; what has been counted by now is all there is. */
  get hasFinished(): boolean {
    return this.#stopReason !== undefined
  }

  addOutput(value: unknown): void {
    if (typeof value !== 'string' || value === '') return
    this.hasOutput = true
    this.output.add(value)
  }

  /** A block as it starts in a stream, or whole in a body. */
  readBlock(block: JsonObject): void {
    const type = block['type']
    if (type === 'fallback') {
      this.#model = asText(asObject(block['to'])?.['model']) ?? this.#model
      return
    }
    this.addOutput(block['text'])
    this.addOutput(block['thinking'])
    if (type === 'text') return
    if (type === 'thinking') {
      // Where thinking is not shown its signature is all that tells of it.
      if (asText(block['signature']) !== undefined) this.hasOutput = true
      return
    }
    this.hasOutput = true
    // The vendor does not bill a search that failed, which has an object there.
    if (type === 'web_search_tool_result' && asArray(block['content']) !== undefined) {
      this.#webSearches++
    }
    this.addOutput(block['name'])
    const input = asObject(block['input'])
    if (input !== undefined && Object.keys(input).length > 0) this.addOutput(JSON.stringify(input))
  }

  reading(isComplete: boolean): MeterReading {
    const { usage, output, hasOutput } = this
    const counted = usage.toUsage(this.#model)
    return {
      usage: counted,
      isFinal: counted !== undefined && isComplete && usage.hasFinalOutput,
      isImplausible: usage.isImplausible,
      hasOutput,
      isRefusal: this.#stopReason === 'refusal' && !hasOutput,
      output,
      webSearches: this.#webSearches,
      model: this.#model,
    }
  }
}

/** Events that must be understood whole; any other may pass unread when it is too large. */
const essentialEvents: readonly string[] = [
  'message_start',
  'message_delta',
  'message_stop',
  'error',
]

class MessagesReader implements FrameReader {
  readonly #answer: GatheredAnswer
  #hasStarted = false
  #hasStopped = false
  #error: VendorError | undefined
  #errorEnvelope: string | undefined

  constructor(asksOneHourCache: boolean) {
    this.#answer = new GatheredAnswer(asksOneHourCache)
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

  /** Counts are final with the reason why the answer ends, which comes with them. */
  reading(): MeterReading {
    return this.#answer.reading(this.#hasStopped || this.#answer.hasFinished)
  }

  read(frame: FrameBytes): FrameFate {
    if (this.#hasStopped) return 'pass'
    if (this.#hasStarted && this.#readPlainDelta(frame)) return 'pass'
    const { event, data } = readFields(frame)
    if (data === undefined || data === '') return 'pass'
    const payload = asObject(parseJson(data))
    const type = asText(payload?.['type']) ?? event
    if (payload === undefined) return this.#readUnparsable(event, data)
    if (type === 'error' || event === 'error') {
      this.#error = readVendorError(payload)
      if (asObject(payload['error']) !== undefined) this.#errorEnvelope = data
      // What speaks of the operator's account is not for the client to read.
      const isOperators =
        namesVendorAccount(data) || classifyMessagesEvent(this.#error).fault === 'config'
      return isOperators ? 'drop' : 'pass'
    }
    // Clients drop a frame that names no event, so it does not begin an answer.
    if (type === undefined || type === 'ping') return 'pass'
    this.#hasStarted = true
    return this.#readEvent(type, payload)
  }

  mayPassUnread(beginning: FrameBytes): boolean {
    const head = beginning.text.slice(beginning.start, beginning.start + 200)
    const name = /^(?:event: ?|data: ?\{ ?"type": ?")([a-z_]+)/.exec(head)?.[1]
    return name !== undefined && !essentialEvents.includes(name)
  }

  noteUnread(bytes: number): void {
    this.#hasStarted = true
    this.#answer.hasOutput = true
    this.#answer.output.addUnread(bytes)
  }

  #readUnparsable(event: string | undefined, data: string): FrameFate {
    if (event === 'ping') return 'pass'
    if (event === 'error') {
      this.#error = { type: undefined, code: undefined, message: data }
      return namesVendorAccount(data) ? 'drop' : 'pass'
    }
    if (!this.#hasStarted) this.#error = unreadableError
    return 'pass'
  }

  #readEvent(type: string, payload: JsonObject): FrameFate {
    switch (type) {
      case 'message_start': {
        const message = asObject(payload['message']) ?? {}
        this.#answer.readMessage(message)
        this.#answer.usage.apply(message['usage'], 'start')
        return 'pass'
      }
      case 'content_block_start':
        this.#answer.readBlock(asObject(payload['content_block']) ?? {})
        return 'pass'
      case 'content_block_delta':
        this.#readDelta(asObject(payload['delta']) ?? {})
        return 'pass'
      case 'message_delta':
        this.#answer.noteStop(asObject(payload['delta']) ?? {})
        this.#answer.usage.apply(payload['usage'], 'delta')
        return 'pass'
      case 'message_stop':
        this.#hasStopped = true
        return 'terminal'
      default:
        return 'pass'
    }
  }

  #readDelta(delta: JsonObject): void {
    this.#answer.addOutput(delta['text'])
    this.#answer.addOutput(delta['partial_json'])
    this.#answer.addOutput(delta['thinking'])
    this.#answer.addOutput(delta['content'])
    if (
      asText(delta['signature']) !== undefined ||
      asText(delta['encrypted_content']) !== undefined
    ) {
      this.#answer.hasOutput = true
    }
  }

  /**
   * The events a stream mostly consists of, in the spelling vendors use: recognised by their bytes,
   * without a parse. Anything spelled otherwise goes the general way. True when the frame was one.
   */
  #readPlainDelta(frame: FrameBytes): boolean {
    const { bytes, text, start, end } = frame
    if (!text.startsWith(deltaHead, start)) return false
    let at = start + deltaHead.length
    while (isDigit(text.charCodeAt(at))) at++
    const kind = plainDeltas.find((opening) => text.startsWith(opening, at))
    if (kind === undefined) return false
    const from = at + kind.length
    const to = plainStringEnd(text, from)
    if (to < 0 || !closesDelta(text, to + 1, end)) return false
    if (to === from) return true
    if (!text.slice(from, to).includes('\\')) this.#answer.output.addBytes(bytes, from, to)
    else {
      const piece = parseJson(bytes.toString('utf8', from - 1, to + 1))
      if (typeof piece !== 'string') return false
      this.#answer.output.add(piece)
    }
    this.#answer.hasOutput = true
    return true
  }
}

const deltaHead = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":'
const plainDeltas: readonly string[] = [
  ',"delta":{"type":"text_delta","text":"',
  ',"delta":{"type":"input_json_delta","partial_json":"',
  ',"delta":{"type":"thinking_delta","thinking":"',
]

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Two closing braces, possibly padded with spaces, and the blank line. */
function closesDelta(text: string, from: number, end: number): boolean {
  let at = from
  for (let braces = 0; braces < 2; braces++) {
    while (text.charCodeAt(at) === 0x20) at++
    if (text.charCodeAt(at++) !== 0x7d) return false
  }
  while (text.charCodeAt(at) === 0x20) at++
  return at === end - 2 && text.endsWith('\n\n', end)
}
