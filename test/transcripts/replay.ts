/**
 * Transcripts: streams as vendors send them, each with the expected reading. A case is two files, `name.txt`
 * (the bytes, with LF as line ends) and `name.json` (the expectation).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { noExtras } from '../../src/formats/fields.ts'
import type { MeterReading, VendorError } from '../../src/formats/answer.ts'
import type { ForwardedOperation, RequestFacts } from '../../src/formats/format.ts'

export interface Transcript {
  readonly name: string
  readonly text: string
  readonly expected: Expected
}

interface Expected {
  readonly facts?: Partial<RequestFacts>
  /** Frames that the client must not see. */
  readonly dropped?: readonly string[]
  /** Nothing behind this text is read or passed on. */
  readonly untilAfter?: string
  readonly hasStarted?: boolean
  readonly isTerminated?: boolean
  readonly error?: Partial<VendorError>
  readonly reading: Record<string, unknown>
}

/** The result of a whole stream: everything the client would receive, and everything read from it. */
export interface Replayed {
  readonly passed: string
  readonly held: string
  readonly hasStarted: boolean
  readonly isTerminated: boolean
  readonly isOverflown: boolean
  readonly error: Partial<VendorError> | undefined
  readonly reading: Record<string, unknown>
}

export const plainFacts: RequestFacts = {
  model: 'large-1',
  outputLimits: { max_tokens: 4096 },
  isStream: true,
  choiceCount: 1,
  isPlainText: true,
  prompt: { likely: 71, audioLikely: 0, most: 2_300, images: 0, audioMost: 0 },
  asksUsageChunk: false,
  extras: noExtras,
  spans: { model: { start: 0, end: 0 }, firstMember: 1 },
}

export function readTranscripts(format: 'messages' | 'chat' | 'responses'): readonly Transcript[] {
  const folder = new URL(`./${format}/`, import.meta.url)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .map((file) => {
      const name = file.slice(0, -'.txt'.length)
      const expected: unknown = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'))
      return {
        name,
        text: readFileSync(new URL(file, folder), 'utf8'),
        expected: expected as Expected,
      }
    })
}

/** Pushes the chunks through a meter and ends the stream. */
export function replay(
  operation: ForwardedOperation,
  facts: RequestFacts,
  chunks: readonly Buffer[],
  isEndAnnounced = false,
): Replayed {
  const meter = operation.openMeter(facts)
  const passed: Buffer[] = []
  for (const chunk of chunks) passed.push(...meter.push(chunk))
  passed.push(...meter.end(isEndAnnounced))
  return {
    passed: closed(Buffer.concat(passed).toString(), meter.error !== undefined),
    held: Buffer.concat(meter.held).toString(),
    hasStarted: meter.hasStarted,
    isTerminated: meter.isTerminated,
    isOverflown: meter.isOverflown,
    error: meter.error === undefined ? undefined : withoutGaps(meter.error),
    reading: plainReading(meter.reading()),
  }
}

/** Returns a reading in the form of the expectation files: null for what is not known. */
export function plainReading(reading: MeterReading): Record<string, unknown> {
  const { usage, isFinal, isImplausible, hasOutput, isRefusal, output, model } = reading
  const { made, vendorToolUses } = reading
  return {
    usage: usage ?? null,
    isFinal,
    isImplausible,
    hasOutput,
    isRefusal,
    outputText: output.text,
    outputBytes: output.bytes,
    model: model ?? null,
    ...(made !== undefined && { made: made.map(({ kind, id }) => `${kind} ${id}`) }),
    ...(vendorToolUses !== undefined && { vendorToolUses }),
  }
}

const terminalStart =
  /(?:event: message_stop\n|event: response\.(?:completed|incomplete)\n|^data: \[DONE\])/m

/** Returns the expected result of a replay, with `lineEnd` in place of each LF. */
export function expectedReplay({ text, expected }: Transcript, lineEnd: string): Replayed {
  const isTerminated = expected.isTerminated ?? true
  const until = expected.untilAfter === undefined ? undefined : text.indexOf(expected.untilAfter)
  let seen = until === undefined ? text : text.slice(0, until + (expected.untilAfter ?? '').length)
  for (const frame of expected.dropped ?? []) seen = seen.replace(frame, '')
  const terminal = terminalStart.exec(seen)
  const heldFrom = isTerminated ? (terminal?.index ?? -1) : seen.length
  const outputText = String(expected.reading['outputText'])
  return {
    passed: closed(seen.slice(0, heldFrom).replaceAll('\n', lineEnd), until !== undefined),
    held: seen.slice(heldFrom).replaceAll('\n', lineEnd),
    hasStarted: expected.hasStarted ?? true,
    isTerminated,
    isOverflown: false,
    error: expected.error,
    reading: { ...expected.reading, outputBytes: Buffer.byteLength(outputText) },
  }
}

/**
 * A CR ends the error's frame, and nothing behind an error is passed on: the LF of its last CRLF may be
 * missing.
 */
function closed(text: string, endsInError: boolean): string {
  return endsInError ? text.replace(/\r\n$/, '\r') : text
}

function withoutGaps(error: VendorError): Partial<VendorError> {
  const entries = Object.entries(error).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Partial<VendorError>
}
