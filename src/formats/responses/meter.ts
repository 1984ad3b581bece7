/**
 * Reads a response, streamed or whole. A stream is a list of typed events: some say that the vendor works,
 * most have a piece of the output, and the last one repeats the whole response with its counts. Event types
 * are an open list: an unknown one passes.
 */
import { classifyChatEvent } from '../chat/errors.ts'
import { usageMembers } from '../chat/usage.ts'
import type { AnswerReading, MeterReading, StreamMeter, VendorError } from '../answer.ts'
import { saysFailure } from '../finish-reason.ts'
import type { EventFault, RequestFacts } from '../format.ts'
import { FrameReader, type FrameFate } from '../frame-reader.ts'
import { asArray, asObject, asText, parseJson, type JsonObject, type WantedJson } from '../json.ts'
import { JsonExtract } from '../json-extract.ts'
import { LongText } from '../long-text.ts'
import { readFields, type FrameBytes } from '../sse.ts'
import { outputTextBytesMax, type OutputText } from '../output.ts'
import { StreamGate } from '../stream.ts'
import { readVendorError } from '../vendor-error.ts'
import { GatheredResponse, rememberedMax } from './answer.ts'

export function openResponsesMeter(facts: RequestFacts): StreamMeter {
  return new StreamGate(new ResponsesReader(facts))
}

export function readResponsesAnswer(answer: unknown, facts: RequestFacts): AnswerReading {
  const response = asObject(answer)
  const items = asArray(response?.['output'])
  if (response === undefined || items === undefined) return { kind: 'not_the_format' }
  const failed = failureOf(response)
  if (failed !== undefined) {
    const errorEnvelope = envelopeOf(failed)
    return { kind: 'error', error: readVendorError({ error: failed }), errorEnvelope }
  }
  const gathered = new GatheredResponse(facts)
  gathered.readEnvelope(response)
  for (const item of objectsIn(items)) {
    gathered.endItem(item)
    gathered.readItem(item)
  }
  return { kind: 'answer', reading: gathered.reading(true) }
}

/** The error of a response that has failed. */
function failureOf(response: JsonObject): JsonObject | undefined {
  const error = asObject(response['error'])
  if (error !== undefined) return error
  const reason = asText(asObject(response['incomplete_details'])?.['reason'])
  const hasFailed = response['status'] === 'failed' || (reason !== undefined && saysFailure(reason))
  return hasFailed ? {} : undefined
}

/** The form of the vendor's error bodies. */
function envelopeOf(error: JsonObject): string {
  const { message, type, param, code } = error
  return JSON.stringify({
    error: {
      message: message ?? 'The model produced an error.',
      type: type ?? 'server_error',
      param: param ?? null,
      code: code ?? null,
    },
  })
}

function objectsIn(list: readonly unknown[]): readonly JsonObject[] {
  return list.map((element) => asObject(element) ?? {})
}

/** They say that the vendor works on it, and no more: the answer has not begun. */
const workingEvents: ReadonlySet<string> = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
])

const pings: ReadonlySet<string | undefined> = new Set(['ping', 'keepalive', 'heartbeat'])

const terminalEvents: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])

/** The members that are read of a whole answer, and of an event that is too large to be kept whole. */
export const responsesAnswerMembers: WantedJson = {
  names: new Set([
    ...`type response item delta output_index id status model store service_tier
    incomplete_details reason error
    usage input_tokens output_tokens input_tokens_details output_tokens_details
    tool_usage web_search num_requests
    output encrypted_content action commands container_id name arguments input code operation diff
    summary content text refusal transcript data`.split(/\s+/),
    ...usageMembers,
  ]),
  open: new Set(['usage']),
  whole: new Set(['error']),
  hashed: 'encrypted_content',
  textBytesMax: outputTextBytesMax,
}

/** A stream keeps little of the texts of such an event. */
const largeEventMembers: WantedJson = { ...responsesAnswerMembers, textBytesMax: 1_024 }

class ResponsesReader extends FrameReader {
  /** A stream without its terminal event has no counts: it was cut. */
  readonly hasFinished = false
  override readonly holdsTail = true
  protected readonly output: OutputText
  readonly #answer: GatheredResponse
  /** Indexes of the items whose text has come in pieces. */
  readonly #inPieces = new Set<unknown>()
  #isDone = false
  #large: JsonExtract | undefined

  constructor(facts: RequestFacts) {
    super()
    this.#answer = new GatheredResponse(facts)
    this.output = this.#answer.output
  }

  reading(): MeterReading {
    return this.#answer.reading(this.#isDone)
  }

  protected parse(frame: FrameBytes): FrameFate {
    const { event, data } = readFields(frame)
    if (this.#isDone || data === undefined || data === '' || data.startsWith('[DONE]'))
      return 'pass'
    const payload = asObject(parseJson(data))
    if (payload === undefined) return pings.has(event) ? 'pass' : this.readUnparsable(event, data)
    const type = asText(payload['type']) ?? event
    if (type !== undefined && workingEvents.has(type)) this.noteWork(frame)
    return this.#readEvent(type, payload)
  }

  /** An error is dropped where it names the operator's account, so it must be read whole. */
  mayPassUnread({ text, start }: FrameBytes): boolean {
    const head = text.slice(start, start + 200)
    return (
      /^(?:event|data): ?/.test(head) &&
      !/^event: ?error|^data: ?\{ ?"(?:error"|type": ?"error)/.test(head)
    )
  }

  protected readPart({ bytes, text, start, end }: FrameBytes): void {
    this.eventCount++
    this.begin()
    let from = start
    if (this.#large === undefined) {
      this.#large = new JsonExtract(largeEventMembers)
      const data = /(?:^|[\r\n])data: ?/.exec(text.slice(start, Math.min(end, start + 4096)))
      from = data === null ? end : start + data.index + data[0].length
    }
    this.#large.push(bytes, from, end)
  }

  override finishParts(): FrameFate {
    const payload = asObject(this.#large?.end())
    this.#large = undefined
    if (payload === undefined || this.#isDone) return 'pass'
    const type = asText(payload['type'])
    return type === 'error' ? 'pass' : this.#readEvent(type, payload)
  }

  protected classifyEvent(error: VendorError): EventFault {
    return classifyChatEvent(error)
  }

  #readEvent(type: string | undefined, payload: JsonObject): FrameFate {
    if (type === 'error' || (type === undefined && asObject(payload['error']) !== undefined))
      return this.#readError(asObject(payload['error']) ?? { ...payload, type: undefined })
    if (type === undefined || pings.has(type)) return 'pass'
    this.eventCount++
    const response = asObject(payload['response'])
    if (response !== undefined) this.#answer.readEnvelope(response)
    if (type === 'response.failed') return this.#readError(failureOf(response ?? {}) ?? {})
    if (workingEvents.has(type) || !type.startsWith('response.')) return 'pass'
    this.begin()
    if (terminalEvents.has(type)) return this.#end(response ?? {})
    this.#readOutput(type, payload)
    return 'pass'
  }

  #readError(error: JsonObject): FrameFate {
    return this.readErrorEvent({ error }, envelopeOf(error))
  }

  #readOutput(type: string, payload: JsonObject): void {
    const item = asObject(payload['item'])
    if (type === 'response.output_item.added') this.#answer.beginItem(item ?? {})
    else if (type === 'response.output_item.done')
      this.#endItem(payload['output_index'], item ?? {})
    else if (type.endsWith('.delta')) this.#addPiece(type, payload)
  }

  #addPiece(type: string, { delta, output_index: index }: JsonObject): void {
    if (typeof delta !== 'string' && !(delta instanceof LongText)) return
    if (this.#inPieces.size < rememberedMax) this.#inPieces.add(index)
    if (type === 'response.audio.delta') this.output.addAudioText(delta)
    else {
      this.output.addText(delta)
      this.mayRepeat = true
    }
  }

  #endItem(index: unknown, item: JsonObject): void {
    this.#answer.endItem(item)
    // Some servers send whole items only.
    if (!this.#inPieces.has(index)) this.#answer.readItem({ ...item, name: undefined })
  }

  #end(response: JsonObject): FrameFate {
    const failed = failureOf(response)
    return failed === undefined
      ? this.#finish(response)
      : this.readFailure(readVendorError({ error: failed }))
  }

  #finish(response: JsonObject): FrameFate {
    const isUnseen = !this.output.hasOutput
    for (const item of objectsIn(asArray(response['output']) ?? [])) {
      this.#answer.endItem(item)
      if (isUnseen) this.#answer.readItem(item)
    }
    this.#isDone = true
    return 'terminal'
  }
}
