/**
 * Reads a chat answer, streamed or whole: its counts, its output for an estimate, its start and end, and the
 * usage chunk that the client did not request. It knows chunks and choices, no prices.
 */
import { readFields, type FrameBytes } from '../sse.ts'
import type { AnswerReading, MeterReading, StreamMeter, VendorError } from '../answer.ts'
import { reportedFailure, saysFailure } from '../finish-reason.ts'
import type { EventFault, RequestFacts } from '../format.ts'
import { FrameReader, type FrameFate } from '../frame-reader.ts'
import { asArray, asObject, asText, parseJson, type JsonObject, type WantedJson } from '../json.ts'
import { OutputText, outputTextBytesMax } from '../output.ts'
import { StreamGate } from '../stream.ts'
import { classifyChatEvent } from './errors.ts'
import { ChatUsage, usageMembers } from './usage.ts'

export function openChatMeter(facts: RequestFacts): StreamMeter {
  return new StreamGate(new ChatReader(facts, 'delta'))
}

/** Completions have chat's chunks, with the text in place of a delta. */
export function openCompletionsMeter(facts: RequestFacts): StreamMeter {
  return new StreamGate(new ChatReader(facts, 'text'))
}

export function readChatAnswer(answer: unknown): AnswerReading {
  return readWhole(answer, 'message')
}

export function readCompletionsAnswer(answer: unknown): AnswerReading {
  return readWhole(answer, 'text')
}

/** The members that are read of a whole answer. Counts can be in any member beside the choices. */
export const chatAnswerMembers: WantedJson = {
  names: new Set([
    ...`choices error model service_tier usage finish_reason index text message
    content refusal reasoning_content reasoning tool_calls function_call function custom
    name arguments input audio data transcript`.split(/\s+/),
    ...usageMembers,
  ]),
  open: new Set(['', 'usage']),
  textBytesMax: outputTextBytesMax,
}

/** The member of a choice that has its content. */
type ContentField = 'delta' | 'message' | 'text'

function readWhole(value: unknown, field: ContentField): AnswerReading {
  const answer = asObject(value)
  const choices = asArray(answer?.['choices'])
  if (answer === undefined || choices === undefined) return { kind: 'not_the_format' }
  if (asObject(answer['error']) !== undefined) return { kind: 'not_the_format' }
  const gathered = new GatheredAnswer(choices.length)
  gathered.readEnvelope(answer)
  gathered.usage.apply(usageIn(answer))
  for (const choice of choices) gathered.readChoice(asObject(choice) ?? {}, field)
  if (gathered.hasFailed) return { kind: 'error', error: reportedFailure }
  return { kind: 'answer', reading: gathered.reading(true) }
}

/** Everything known of one answer, streamed or whole. */
class GatheredAnswer {
  readonly usage = new ChatUsage()
  readonly output = new OutputText()
  /** By the index of its choice. */
  readonly #finishReasons = new Map<unknown, string>()
  readonly #choiceCount: number
  #model: string | undefined
  #tier: string | undefined
  #isFiltered = false
  /** Some choice has ended by a failure of the vendor. */
  hasFailed = false

  constructor(choiceCount: number) {
    this.#choiceCount = choiceCount
  }

  /** Some choice has its finish reason. */
  get hasFinished(): boolean {
    return this.#finishReasons.size > 0
  }

  /** As many choices as were requested have their finish reason. */
  get hasFinishedAll(): boolean {
    return this.#finishReasons.size >= this.#choiceCount
  }

  readEnvelope(envelope: JsonObject): void {
    this.#model = asText(envelope['model']) ?? this.#model
    this.#tier = asText(envelope['service_tier']) ?? this.#tier
  }

  readChoice(choice: JsonObject, field: ContentField): void {
    const reason = asText(choice['finish_reason'])
    if (reason !== undefined) this.#readReason(reason, choice['index'] ?? 0)
    if (field === 'text') this.output.addText(choice['text'])
    const content = asObject(choice[field])
    if (content === undefined) return
    this.#addContent(content['content'])
    this.output.addText(content['refusal'])
    this.output.addText(content['reasoning_content'] ?? content['reasoning'])
    for (const call of asArray(content['tool_calls']) ?? []) this.#addToolCall(asObject(call))
    if (asObject(content['function_call']) !== undefined) {
      this.#addToolCall({ function: content['function_call'] })
    }
    this.#addAudio(asObject(content['audio']))
  }

  #readReason(reason: string, index: unknown): void {
    if (reason === 'content_filter') this.#isFiltered = true
    if (saysFailure(reason)) this.hasFailed = true
    if (!this.hasFinishedAll) this.#finishReasons.set(index, reason)
  }

  reading(isComplete: boolean): MeterReading {
    const { usage, output } = this
    const { hasOutput } = output
    return {
      usage: usage.toUsage(this.#model, this.#tier),
      isFinal: isComplete && usage.outputTokens !== undefined,
      isImplausible: usage.isImplausible,
      hasOutput,
      // Tokens that the vendor counted before it filtered the answer were output, seen or not.
      isRefusal: this.#isFiltered && !hasOutput && (usage.outputTokens ?? 0) === 0,
      output,
      webSearches: 0,
      model: this.#model,
      finishReasons: this.hasFinished ? [...this.#finishReasons.values()] : undefined,
      tier: this.#tier,
    }
  }

  /** Usually a string; some servers send a list of parts. */
  #addContent(content: unknown): void {
    this.output.addText(content)
    for (const part of asArray(content) ?? []) {
      this.output.hasOutput = true
      this.output.addText(asObject(part)?.['text'])
    }
  }

  #addToolCall(call: JsonObject | undefined): void {
    if (call === undefined) return
    this.output.hasOutput = true
    const called = asObject(call['function']) ?? asObject(call['custom'])
    this.output.addText(called?.['name'])
    this.output.addText(called?.['arguments'] ?? called?.['input'])
  }

  /** Audio is not text; its transcript is. */
  #addAudio(audio: JsonObject | undefined): void {
    this.output.addAudioText(audio?.['data'])
    this.output.addText(audio?.['transcript'])
  }
}

class ChatReader extends FrameReader {
  protected readonly output: OutputText
  readonly #answer: GatheredAnswer
  readonly #field: ContentField
  readonly #asksUsageChunk: boolean
  #isDone = false
  /** The last chunk with a list of choices had an empty one, and counts. */
  #endsWithCounts = false
  /** The frame that passes unread contains audio. */
  #isUnreadAudio = false

  constructor({ asksUsageChunk, choiceCount }: RequestFacts, field: ContentField) {
    super()
    this.#field = field
    this.#asksUsageChunk = asksUsageChunk
    this.#answer = new GatheredAnswer(choiceCount)
    this.output = this.#answer.output
  }

  /** Only the end of an answer has counts and no choices: some vendors leave out the finish reason. */
  get hasFinished(): boolean {
    return this.#answer.hasFinishedAll || this.#endsWithCounts
  }

  /** Counts are final with the usage chunk, or when the stream is over. */
  reading(isOver: boolean): MeterReading {
    return this.#answer.reading(isOver || (this.#endsWithCounts && this.#answer.hasFinished))
  }

  protected parse(frame: FrameBytes): FrameFate {
    const { event, data } = readFields(frame)
    if (data === undefined || data === '') return 'pass'
    if (data.startsWith('[DONE]')) return this.#finish()
    const payload = asObject(parseJson(data))
    // Behind the end of the stream only counts matter.
    if (this.#isDone) return payload === undefined ? 'pass' : this.#readUsage(payload)
    if (payload === undefined) return this.readUnparsable(event, data)
    if (event === 'error' || isError(payload)) return this.readErrorEvent(payload, data)
    return this.#readChunk(payload, frame)
  }

  /** A chunk whose kind its beginning shows. Counts at its end are not read. */
  mayPassUnread(beginning: FrameBytes): boolean {
    const head = beginning.text.slice(beginning.start, beginning.start + 4096)
    this.#isUnreadAudio = /"audio": ?\{[^{}]*"data": ?"/.test(head)
    return /^data: ?\{/.test(head) && /"choices": ?\[ ?\{/.test(head)
  }

  protected readPart({ start, end }: FrameBytes): void {
    const bytes = end - start
    this.eventCount++
    this.begin()
    this.output.hasOutput = true
    if (this.#isUnreadAudio) this.output.addAudio(bytes)
    else this.output.addUnread(bytes)
  }

  #finish(): FrameFate {
    this.eventCount++
    this.begin()
    this.#isDone = true
    return 'terminal'
  }

  protected classifyEvent(error: VendorError): EventFault {
    return classifyChatEvent(error)
  }

  #readChunk(payload: JsonObject, frame: FrameBytes): FrameFate {
    const choices = asArray(payload['choices'])
    if (choices === undefined) return this.#readUsage(payload)
    const { audioBytes } = this.output
    this.eventCount++
    this.#answer.readEnvelope(payload)
    for (const choice of choices) this.#answer.readChoice(asObject(choice) ?? {}, this.#field)
    if (choices.length > 0) this.#endsWithCounts = false
    this.mayRepeat = choices.length === 1 && this.output.audioBytes === audioBytes
    const fate = this.#readUsage(payload)
    if (this.#endsWithCounts || !choices.every((one) => saysNothing(one, this.#field))) this.begin()
    else this.noteWork(frame)
    return this.#answer.hasFailed ? this.readFailure(reportedFailure) : fate
  }

  /** Drops the chunk that the gateway asked for: it has a field `usage`, and no choices. */
  #readUsage(payload: JsonObject): FrameFate {
    const usage = usageIn(payload)
    if (usage === undefined) return 'pass'
    // The answer ends with the first final counts behind [DONE], so no later ones may replace them: what
    // arrives in the same read would otherwise decide.
    if (!this.#isDone || !this.reading(true).isFinal) this.#answer.usage.apply(usage)
    if (asArray(payload['choices'])?.length !== 0 || usage !== payload['usage']) return 'pass'
    this.#endsWithCounts = true
    return this.#asksUsageChunk ? 'pass' : 'drop'
  }
}

/** Whether a choice has a role at most: the vendor works on it. */
function saysNothing(choice: unknown, field: ContentField): boolean {
  const { finish_reason: reason, [field]: content } = asObject(choice) ?? {}
  if (asText(reason) !== undefined) return false
  const delta = asObject(content)
  if (delta === undefined) return isEmpty(content)
  return Object.entries(delta).every(([name, value]) => name === 'role' || isEmpty(value))
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || asArray(value)?.length === 0
}

/** Some servers send `"error": null` on every chunk. */
function isError(payload: JsonObject): boolean {
  const error = payload['error']
  return asObject(error) !== undefined || asText(error) !== undefined
}

/** Returns the payload's own usage, else that of a choice, else that of a member beside the choices. */
function usageIn(payload: JsonObject): JsonObject | undefined {
  return (
    asObject(payload['usage']) ??
    lastUsageOf(asArray(payload['choices']) ?? []) ??
    lastUsageOf(Object.values(payload))
  )
}

function lastUsageOf(places: readonly unknown[]): JsonObject | undefined {
  let usage: JsonObject | undefined
  for (const place of places) usage = asObject(asObject(place)?.['usage']) ?? usage
  return usage
}
