/**
 * Changes a sequence of frames as directives ask: pings and comments, unknown events, errors in
 * place of events, missing or repeated terminal events, other line ends. Knows neither bytes on the
 * wire nor time.
 */
import type { Frame, StreamAnswer } from './answer.ts'
import type { Directives } from './directives.ts'
import type { Format } from './endpoints.ts'
import { errorFrame, findPreset } from './plain-answers.ts'
import type { ErrorPreset } from './error-presets.ts'

export interface FrameSubject {
  readonly format: Format
  readonly index: number
}

export function* faultyFrames(
  answer: StreamAnswer,
  subject: FrameSubject,
  directives: Directives,
): Generator<Frame> {
  const inserted = insertFrames(answer, subject, directives)
  let isFirst = true
  for (const frame of isTyped(answer) ? renumber(inserted) : inserted) {
    yield { ...frame, text: rewriteText(frame.text, directives, isFirst) }
    isFirst = false
  }
}

/** Whether each event of the stream has a type and a number. */
function isTyped(answer: StreamAnswer): boolean {
  return answer.errorFrames !== undefined
}

/** Numbers the events in the order in which they are sent. */
function* renumber(frames: Iterable<Frame>): Generator<Frame> {
  let number = 0
  for (const frame of frames) {
    const hasNumber = frame.text.startsWith('event: ')
    const text = hasNumber
      ? frame.text.replace(/"sequence_number":\d+/, () => `"sequence_number":${number++}`)
      : frame.text
    yield { ...frame, text }
  }
}

function* insertFrames(
  answer: StreamAnswer,
  subject: FrameSubject,
  directives: Directives,
): Generator<Frame> {
  const { errorFirst, errorAt, comments, unknownEvents } = directives
  const family = isTyped(answer) ? 'typed' : subject.format
  const pings = Array.from({ length: directives.pings ?? 0 }, () => filler(pingTexts[family]))
  // A client of typed events reads nothing before the one that begins the answer.
  if (family !== 'typed') yield* pings.splice(0)
  if (errorFirst !== undefined) {
    yield* eventErrors(answer, subject, { name: errorFirst, directives })
    return
  }
  let index = 0
  for (const frame of answer.frames()) {
    if (frame.kind !== 'start') yield* pings.splice(0)
    if (index === errorAt) {
      yield* eventErrors(answer, subject, { name: directives.eventError ?? '', directives })
      return
    }
    if (comments === true && index % 3 === 1) yield filler(`: simulated comment ${index}\n\n`)
    if (
      unknownEvents === true &&
      frame.kind !== 'start' &&
      (index === 1 || frame.kind === 'terminal')
    ) {
      yield filler(unknownTexts[family])
    }
    yield* terminalFrames(frame, directives)
    index++
  }
}

function* terminalFrames(frame: Frame, directives: Directives): Generator<Frame> {
  if (frame.kind !== 'terminal') {
    yield frame
    return
  }
  const { terminal, afterTerminal } = directives
  if (terminal === 'unfinished') yield { ...frame, text: frame.text.slice(0, -1) }
  else if (terminal !== 'missing') yield frame
  if (terminal === 'twice') yield frame
  if (afterTerminal !== undefined) yield filler(afterTerminal)
}

function filler(text: string): Frame {
  return { kind: 'filler', text }
}

const pingTexts = {
  messages: 'event: ping\ndata: {"type": "ping"}\n\n',
  chat: ': ping\n\n',
  typed: 'event: keepalive\ndata: {"type":"keepalive","sequence_number":0}\n\n',
} as const

const unknownDetail = '"detail":{"usage":"none"}'

const unknownTexts = {
  messages: `event: sandbox_unknown\ndata: {"type":"sandbox_unknown",${unknownDetail}}\n\n`,
  chat: `data: {"object":"sandbox.unknown","choices":[],${unknownDetail}}\n\n`,
  typed: `event: response.sandbox_unknown\ndata: {"type":"response.sandbox_unknown","sequence_number":0,${unknownDetail}}\n\n`,
} as const

const overload: Readonly<Record<Format, ErrorPreset>> = {
  messages: { status: 529, type: 'overloaded_error', message: 'Overloaded' },
  chat: {
    status: 503,
    type: 'service_unavailable_error',
    code: 'server_is_overloaded',
    message: 'The server is overloaded.',
  },
}

interface AskedError {
  readonly name: string
  readonly directives: Directives
}

function eventErrors(
  answer: StreamAnswer,
  subject: FrameSubject,
  { name, directives }: AskedError,
): readonly Frame[] {
  const row = findPreset(subject.format, name) ?? overload[subject.format]
  return (
    answer.errorFrames?.(row, directives.errorAs ?? 'event') ?? [
      errorFrame(subject, row, directives.namedError === true),
    ]
  )
}

function rewriteText(text: string, directives: Directives, isFirst: boolean): string {
  const { newline, bom, idLines } = directives
  let result = text
  if (idLines === true && !result.startsWith(':')) result = `id: 7\nretry: 3000\n${result}`
  if (newline === 'crlf') result = result.replaceAll('\n', '\r\n')
  if (newline === 'cr') result = result.replaceAll('\n', '\r')
  return bom === true && isFirst ? `\uFEFF${result}` : result
}
