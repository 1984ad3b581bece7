/**
 * Changes a sequence of frames as directives ask: pings and comments, unknown events, errors in
 * place of events, missing or repeated terminal events, other line ends. Knows neither bytes on the
 * wire nor time.
 */
import type { Frame } from './answer.ts'
import type { Directives } from './directives.ts'
import type { Format } from './endpoints.ts'
import { errorFrame, findPreset } from './plain-answers.ts'
import type { ErrorPreset } from './error-presets.ts'

export interface FrameSubject {
  readonly format: Format
  readonly index: number
}

export function* faultyFrames(
  frames: Iterable<Frame>,
  subject: FrameSubject,
  directives: Directives,
): Generator<Frame> {
  let isFirst = true
  for (const frame of insertFrames(frames, subject, directives)) {
    yield { ...frame, text: rewriteText(frame.text, directives, isFirst) }
    isFirst = false
  }
}

function* insertFrames(
  frames: Iterable<Frame>,
  subject: FrameSubject,
  directives: Directives,
): Generator<Frame> {
  const { pings, errorFirst, errorAt, comments, unknownEvents } = directives
  for (let ping = 0; ping < (pings ?? 0); ping++) yield pingFrame(subject.format)
  if (errorFirst !== undefined) {
    yield eventError(subject, errorFirst, directives)
    return
  }
  let index = 0
  for (const frame of frames) {
    if (index === errorAt) {
      yield eventError(subject, directives.eventError ?? '', directives)
      return
    }
    if (comments === true && index % 3 === 1) yield filler(`: simulated comment ${index}\n\n`)
    if (
      unknownEvents === true &&
      frame.kind !== 'start' &&
      (index === 1 || frame.kind === 'terminal')
    ) {
      yield unknownEvent(subject.format)
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

function pingFrame(format: Format): Frame {
  return filler(format === 'messages' ? 'event: ping\ndata: {"type": "ping"}\n\n' : ': ping\n\n')
}

function unknownEvent(format: Format): Frame {
  return filler(
    format === 'messages'
      ? 'event: sandbox_unknown\ndata: {"type":"sandbox_unknown","detail":{"usage":"none"}}\n\n'
      : 'data: {"object":"sandbox.unknown","choices":[],"detail":{"usage":"none"}}\n\n',
  )
}

const overload: Readonly<Record<Format, ErrorPreset>> = {
  messages: { status: 529, type: 'overloaded_error', message: 'Overloaded' },
  chat: {
    status: 503,
    type: 'service_unavailable_error',
    code: 'server_is_overloaded',
    message: 'The server is overloaded.',
  },
}

function eventError(subject: FrameSubject, name: string, directives: Directives): Frame {
  const row = findPreset(subject.format, name) ?? overload[subject.format]
  return errorFrame(subject, row, directives.namedError === true)
}

function rewriteText(text: string, directives: Directives, isFirst: boolean): string {
  const { newline, bom, idLines } = directives
  let result = text
  if (idLines === true && !result.startsWith(':')) result = `id: 7\nretry: 3000\n${result}`
  if (newline === 'crlf') result = result.replaceAll('\n', '\r\n')
  if (newline === 'cr') result = result.replaceAll('\n', '\r')
  return bom === true && isFirst ? `\uFEFF${result}` : result
}
