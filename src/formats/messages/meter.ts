/**
 * Reads a messages answer, streamed or whole: its counts, its output for an estimate, its start and end. It
 * knows events and blocks, no prices. Event, block and delta types are open lists: an unknown one passes, and
 * counts as output if it could cost something.
 */
import { readFields, type FrameBytes } from '../sse.ts'
import type { AnswerReading, MeterReading, StreamMeter, VendorError } from '../answer.ts'
import { reportedFailure, saysFailure } from '../finish-reason.ts'
import type { EventFault, RequestFacts } from '../format.ts'
import { FrameReader, type FrameFate } from '../frame-reader.ts'
import { asArray, asObject, asText, parseJson, type JsonObject, type WantedJson } from '../json.ts'
import { OutputText, outputTextBytesMax } from '../output.ts'
import { StreamGate } from '../stream.ts'
import { classifyMessagesEvent } from './errors.ts'
import { MessagesUsage, usageMembers } from './usage.ts'

export function openMessagesMeter(facts: RequestFacts): StreamMeter {
  return new StreamGate(new MessagesReader(facts.cacheWrite === 'long'))
}

/** The members that are read of a whole answer. A tool's input is output as a whole. */
export const messagesAnswerMembers: WantedJson = {
  names: new Set([
    ...`type error content model stop_reason stop_sequence usage to text thinking signature name
    input`.split(/\s+/),
    ...usageMembers,
  ]),
  whole: new Set(['input']),
  textBytesMax: outputTextBytesMax,
}

export function readMessagesAnswer(value: unknown, facts: RequestFacts): AnswerReading {
  const answer = asObject(value)
  const content = asArray(answer?.['content'])
  if (answer === undefined || content === undefined) return { kind: 'not_the_format' }
  if (answer['type'] === 'error' || asObject(answer['error']) !== undefined) {
    return { kind: 'not_the_format' }
  }
  const gathered = new GatheredAnswer(facts.cacheWrite === 'long')
  gathered.readMessage(answer)
  if (gathered.hasFailed) return { kind: 'error', error: reportedFailure }
  gathered.usage.apply(answer['usage'], 'answer')
  for (const block of content) gathered.readBlock(asObject(block) ?? {})
  return { kind: 'answer', reading: gathered.reading(true) }
}

/** Everything known of one answer, streamed or whole. */
class GatheredAnswer {
  readonly usage: MessagesUsage
  readonly output = new OutputText()
  #model: string | undefined
  #stopReason: string | undefined
  #webSearches = 0

  constructor(asksOneHourCache: boolean) {
    this.usage = new MessagesUsage(asksOneHourCache)
  }

  readMessage(message: JsonObject): void {
    this.#model = asText(message['model']) ?? this.#model
    this.readStop(message)
  }

  /** Reads why the answer ends, from a message or from the delta at the end of a stream. */
  readStop(message: JsonObject): void {
    const reason = message['stop_reason']
    if (typeof reason === 'string') this.#stopReason = reason
    // The stop sequence is outside the content, and may be all that the client asked for.
    if (asText(message['stop_sequence']) !== undefined) this.output.hasOutput = true
  }

  /** It has ended by a failure of the vendor. */
  get hasFailed(): boolean {
    return this.#stopReason !== undefined && saysFailure(this.#stopReason)
  }

  /** The answer is complete, and so are the counts so far. */
  get hasFinished(): boolean {
    return this.#stopReason !== undefined
  }

  /** Reads a block as it starts in a stream, or whole in a body. */
  readBlock(block: JsonObject): void {
    const type = block['type']
    if (type === 'fallback') {
      this.#model = asText(asObject(block['to'])?.['model']) ?? this.#model
      return
    }
    this.output.addText(block['text'])
    this.output.addText(block['thinking'])
    if (type === 'text') return
    if (type === 'thinking') {
      // Hidden thinking shows only as a signature.
      if (asText(block['signature']) !== undefined) this.output.hasOutput = true
      return
    }
    this.output.hasOutput = true
    // The vendor does not bill a failed search: it has an object here, not a list.
    if (type === 'web_search_tool_result' && asArray(block['content']) !== undefined) {
      this.#webSearches++
    }
    this.output.addText(block['name'])
    const input = asObject(block['input'])
    if (input !== undefined && Object.keys(input).length > 0)
      this.output.addText(JSON.stringify(input))
  }

  reading(isComplete: boolean): MeterReading {
    const { usage, output } = this
    const { hasOutput } = output
    const reason = this.#stopReason
    return {
      usage: usage.toUsage(this.#model),
      isFinal: isComplete && usage.hasFinalOutput,
      isImplausible: usage.isImplausible,
      hasOutput,
      isRefusal: reason === 'refusal' && !hasOutput,
      output,
      webSearches: this.#webSearches,
      model: this.#model,
      finishReasons: reason === undefined ? undefined : [reason],
    }
  }
}

/** Events that must be read whole; any other may pass unread when it is too large. */
const essentialEvents: readonly string[] = [
  'message_start',
  'message_delta',
  'message_stop',
  'error',
]

class MessagesReader extends FrameReader {
  protected readonly output: OutputText
  readonly #answer: GatheredAnswer
  #hasStopped = false
  /** A `message_delta` has said why the answer ends. */
  hasFinished = false

  constructor(asksOneHourCache: boolean) {
    super()
    this.#answer = new GatheredAnswer(asksOneHourCache)
    this.output = this.#answer.output
  }

  /** Counts are final when the stop reason is known: it comes with them. */
  reading(isOver: boolean): MeterReading {
    return this.#answer.reading(isOver || this.#answer.hasFinished)
  }

  protected parse(frame: FrameBytes): FrameFate {
    if (this.#hasStopped) return 'pass'
    const { event, data } = readFields(frame)
    if (data === undefined || data === '') return 'pass'
    const payload = asObject(parseJson(data))
    const type = asText(payload?.['type']) ?? event
    if (payload === undefined) return event === 'ping' ? 'pass' : this.readUnparsable(event, data)
    if (type === 'error' || event === 'error') return this.readErrorEvent(payload, data)
    // Clients drop a frame without an event name, so it does not begin an answer.
    if (type === undefined || type === 'ping') return 'pass'
    this.eventCount++
    this.begin()
    return this.#readEvent(type, payload)
  }

  mayPassUnread(beginning: FrameBytes): boolean {
    const head = beginning.text.slice(beginning.start, beginning.start + 200)
    const name = /^(?:event: ?|data: ?\{ ?"type": ?")([a-z_]+)/.exec(head)?.[1]
    return name !== undefined && !essentialEvents.includes(name)
  }

  protected readPart({ start, end }: FrameBytes): void {
    const bytes = end - start
    this.eventCount++
    this.begin()
    this.output.hasOutput = true
    this.output.addUnread(bytes)
  }

  protected classifyEvent(error: VendorError): EventFault {
    return classifyMessagesEvent(error)
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
        this.mayRepeat = true
        this.#readDelta(asObject(payload['delta']) ?? {})
        return 'pass'
      case 'message_delta':
        this.#readStop(asObject(payload['delta']) ?? {})
        this.#answer.usage.apply(payload['usage'], 'delta')
        return this.#answer.hasFailed ? this.readFailure(reportedFailure) : 'pass'
      case 'message_stop':
        this.#hasStopped = true
        return 'terminal'
      default:
        return 'pass'
    }
  }

  #readStop(delta: JsonObject): void {
    this.#answer.readStop(delta)
    if (asText(delta['stop_reason']) !== undefined) this.hasFinished = true
  }

  #readDelta(delta: JsonObject): void {
    this.output.addText(delta['text'])
    this.output.addText(delta['partial_json'])
    this.output.addText(delta['thinking'])
    this.output.addText(delta['content'])
    if (
      asText(delta['signature']) !== undefined ||
      asText(delta['encrypted_content']) !== undefined
    ) {
      this.output.hasOutput = true
    }
  }
}
