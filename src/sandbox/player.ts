/**
 * Sends one answer that needs no faults, as cheaply as it can: benchmarks run against this path.
 * Hands everything else to scripted-player.ts.
 */
import { createHash, hash } from 'node:crypto'
import type { Directives } from './directives.ts'
import { isStreamAnswer } from './frames.ts'
import type { Answer, BodyAnswer, StreamAnswer } from './frames.ts'
import { playScripted } from './scripted-player.ts'
import { noteSent, whenDrained } from './stage.ts'
import type { Stage } from './stage.ts'

/** Directives about what an answer says; any other needs the slow way of sending. */
const contentDirectives: ReadonlySet<string> = new Set<keyof Directives>([
  'output',
  'piece',
  'frame',
  'content',
  'refusal',
  'stop',
  'answerModel',
  'lateContent',
  'input',
  'outputTokens',
  'cached',
  'cacheWrite5m',
  'cacheWrite1h',
  'cacheWrite',
  'cacheWriteLate',
  'reasoning',
  'audioIn',
  'audioOut',
  'tier',
  'speed',
  'geo',
  'webSearch',
  'iterations',
  'otherModel',
  'usage',
  'usageAt',
  'usageAlways',
])

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
