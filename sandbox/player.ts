/**
 * Sends one answer. Answers without faults take a short way, because benchmarks run against it;
 * all others are sent frame by frame, with the delays, gates and breaks that directives ask for.
 */
import { createHash, hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../src/base/clock.ts'
import { isStreamAnswer } from './answer.ts'
import type { Answer, BodyAnswer, Frame, StreamAnswer } from './answer.ts'
import { BodyWriter, whenDrained } from './body-writer.ts'
import { contentDirectives } from './directives.ts'
import type { Directives } from './directives.ts'
import { adjustAnswer } from './plain-answers.ts'
import { faultyFrames } from './event-faults.ts'
import { Pacer } from './faults.ts'
import type { Faults } from './faults.ts'
import type { RecordLog } from './log.ts'
import type { OpenRecord } from './served-record.ts'

export interface Stage {
  readonly response: ServerResponse
  readonly record: OpenRecord
  readonly directives: Directives
  readonly log: RecordLog
  readonly faults: Faults
  readonly clock: Clock
  readonly keepsBodies: boolean
  /** Completes the record's digest when the exchange has ended. The writer of the body sets it. */
  seal: () => void
}

/** Resolves when the response has closed. */
function whenClosed(response: ServerResponse): Promise<void> {
  if (response.closed) return Promise.resolve()
  return new Promise((resolve) => response.once('close', resolve))
}

/** Records a frame that was handed to the socket. */
function noteSent(record: OpenRecord, frame: Frame): void {
  record.eventCount++
  if (frame.usage !== undefined) {
    record.wireUsage = frame.usage
    if (frame.kind === 'usage' || frame.kind === 'terminal') record.isUsageSent = true
  }
  if (frame.kind === 'terminal') record.isTerminalSent = true
}

export async function play(stage: Stage, answer: Answer): Promise<void> {
  const { record, directives } = stage
  record.kind = answer.kind
  record.status = answer.status
  record.usage = answer.usage
  for (const name in directives) {
    if (!contentDirectives.has(name)) return playScripted(stage, answer)
  }
  return isStreamAnswer(answer) ? playStream(stage, answer) : playBody(stage, answer)
}

function playBody(stage: Stage, answer: BodyAnswer): void {
  const { response, record, log } = stage
  const bytes = Buffer.from(answer.body)
  response.writeHead(answer.status, [...answer.headers, 'content-length', String(bytes.length)])
  log.terminal(record)
  noteSent(record, { kind: 'terminal', text: '', usage: answer.wireUsage })
  record.responseBytes = bytes.length
  stage.seal = () => {
    record.responseDigest = hash('sha256', bytes)
    if (stage.keepsBodies) record.responseBody = bytes
  }
  response.end(bytes)
}

async function playStream(stage: Stage, answer: StreamAnswer): Promise<void> {
  const { response, record, log, keepsBodies } = stage
  const digest = createHash('sha256')
  const kept: string[] = []
  stage.seal = () => {
    record.responseDigest = digest.digest('hex')
    if (keepsBodies) record.responseBody = Buffer.from(kept.join(''))
  }
  response.writeHead(answer.status, [...answer.headers])
  for (const frame of answer.frames()) {
    if (response.destroyed) return
    if (frame.kind === 'terminal') log.terminal(record)
    noteSent(record, frame)
    record.responseBytes += Buffer.byteLength(frame.text)
    digest.update(frame.text)
    if (keepsBodies) kept.push(frame.text)
    if (!response.write(frame.text)) await whenDrained(response)
  }
  response.end()
}

async function playScripted(stage: Stage, plain: Answer): Promise<void> {
  const { response, record, directives, clock, faults } = stage
  const answer = adjustAnswer(plain, directives)
  record.status = answer.status
  const closed = whenClosed(response)
  const pacer = new Pacer({ clock, faults, closed, hold: directives.hold })
  await pacer.delay(directives.delayMs)
  await pacer.gate('before_head')
  if (response.destroyed || dropsConnection(stage, 'before_head')) return
  const frames = framesOf(stage, answer, pacer)
  const limits = byteLimits(directives, frames)
  const writer = new BodyWriter({ ...stage, ...limits, closed })
  stage.seal = () => writer.seal()
  sendHead(stage, answer, limits)
  await pacer.gate('after_head')
  if (response.destroyed || dropsConnection(stage, 'after_head')) return
  await playFrames(stage, { frames, writer, pacer, closed })
}

/** Ends the connection before the first body byte, where directives ask for it. */
function dropsConnection({ response, record, directives }: Stage, point: string): boolean {
  if (directives.reset === point) response.socket?.resetAndDestroy()
  else if (directives.close === point) response.destroy()
  else return false
  record.closedBy = 'sandbox'
  return true
}

type Frames = () => Iterable<Frame>

function framesOf(stage: Stage, answer: Answer, pacer: Pacer): Frames {
  const { record, directives } = stage
  if (!isStreamAnswer(answer)) {
    return () => (pacer.hasGates ? splitBody(answer) : [wholeBody(answer)])
  }
  const frames: Frames = () => faultyFrames(answer, record, directives)
  return directives.chunking === 'whole' ? () => [joinFrames(frames())] : frames
}

function wholeBody(answer: BodyAnswer): Frame {
  return { kind: 'terminal', text: answer.body, usage: answer.wireUsage }
}

/** Splits a body into parts, so that gates fit between them: first byte, middle, usage, last. */
function splitBody(answer: BodyAnswer): readonly Frame[] {
  const { body, wireUsage } = answer
  if (body.length < 8) return [wholeBody(answer)]
  const last = body.length - 1
  const usage = Math.max(body.lastIndexOf('"usage"'), 2)
  let mid = Math.floor(usage / 2)
  // Each part is encoded by itself, so a surrogate pair must stay together.
  if (/[\uDC00-\uDFFF]/.test(body.charAt(mid))) mid++
  return [
    { kind: 'start', text: body.slice(0, 1) },
    { kind: 'content', text: body.slice(1, mid) },
    { kind: 'content', text: body.slice(mid, usage) },
    { kind: 'usage', text: body.slice(usage, last), usage: wireUsage },
    { kind: 'terminal', text: body.slice(last) },
  ]
}

function joinFrames(frames: Iterable<Frame>): Frame {
  let text = ''
  let usage: unknown
  let kind: Frame['kind'] = 'content'
  for (const frame of frames) {
    text += frame.text
    usage = frame.usage ?? usage
    if (frame.kind === 'terminal') kind = 'terminal'
  }
  return { kind, text, usage }
}

interface ByteLimits {
  readonly cutAt: number | undefined
  readonly stallAt: number | undefined
  /** Size of the whole body before compression, computed only where it is needed. */
  readonly bodyBytes: () => number
}

function byteLimits(directives: Directives, frames: Frames): ByteLimits {
  const bodyBytes = (): number => {
    let bytes = 0
    for (const frame of frames()) bytes += Buffer.byteLength(frame.text)
    return bytes
  }
  const place = (at: number | undefined): number | undefined =>
    at === undefined || at >= 0 ? at : Math.max(0, bodyBytes() + at)
  const half = directives.truncatedJson === true ? Math.floor(bodyBytes() / 2) : undefined
  return { cutAt: half ?? place(directives.cut), stallAt: place(directives.stall), bodyBytes }
}

function sendHead({ response, directives }: Stage, answer: Answer, limits: ByteLimits): void {
  const standard = isStreamAnswer(answer) || directives.gzip === true ? 'chunked' : 'length'
  const framing = directives.framing ?? standard
  const headers = [...answer.headers]
  if (framing === 'length') {
    const endsAtCut = directives.cutAs === 'end' || directives.truncatedJson === true
    const bytes = limits.bodyBytes()
    const length = endsAtCut ? Math.min(limits.cutAt ?? bytes, bytes) : bytes
    headers.push('content-length', String(length))
  }
  if (framing === 'close') {
    response.useChunkedEncodingByDefault = false
    response.shouldKeepAlive = false
  }
  response.writeHead(answer.status, headers)
  response.flushHeaders()
}

interface Playing {
  readonly frames: Frames
  readonly writer: BodyWriter
  readonly pacer: Pacer
  readonly closed: Promise<void>
}

async function playFrames(stage: Stage, playing: Playing): Promise<void> {
  const { response, record, directives, log } = stage
  const { frames, writer, pacer, closed } = playing
  const middle = pacer.hasGate('mid') ? Math.floor([...frames()].length / 2) : -1
  const passed = new Set<Frame['kind']>()
  let index = 0
  for (const frame of frames()) {
    if (index === directives.cutEvent) return writer.breakOff()
    if (index === directives.stallEvent) return closed
    await waitBefore(frame, { index, passed, directives, pacer })
    if (response.destroyed) return
    if (frame.kind === 'terminal') log.terminal(record)
    if (!(await writer.write(frame.text))) return
    noteSent(record, frame)
    log.changed(record)
    await waitAfter(frame, passed, pacer)
    if (index === middle) await pacer.gate('mid')
    index++
  }
  await writer.end()
}

interface Place {
  readonly index: number
  /** The kinds of the frames before this one. */
  readonly passed: ReadonlySet<Frame['kind']>
  readonly directives: Directives
  readonly pacer: Pacer
}

async function waitBefore(frame: Frame, { index, passed, directives, pacer }: Place) {
  const { firstEventDelayMs, firstOutputDelayMs, eventDelayMs } = directives
  const first = index === 0 ? firstEventDelayMs : undefined
  const isFirstOutput = frame.kind === 'content' && !passed.has('content')
  const delayMs = first ?? (isFirstOutput ? firstOutputDelayMs : undefined) ?? eventDelayMs
  await pacer.delay(delayMs)
  const carriesUsage = frame.kind === 'terminal' && frame.usage !== undefined
  if (frame.kind === 'usage' || carriesUsage) await pacer.gate('before_usage')
  if (frame.kind === 'terminal') await pacer.gate('before_terminal')
}

async function waitAfter({ kind }: Frame, passed: Set<Frame['kind']>, pacer: Pacer) {
  if (kind === 'filler') return
  const isFirst = passed.size === 0
  const isFirstOutput = kind === 'content' && !passed.has(kind)
  passed.add(kind)
  if (isFirst) await pacer.gate('first_event')
  if (isFirstOutput) await pacer.gate('first_output')
}
