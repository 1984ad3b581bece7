/**
 * One active check of a channel: a real, tiny model request or a cheap listing call, sent like any
 * other exchange's attempt and judged by the same classes. It knows no health and books no money.
 */
import type { Clock } from '../base/clock.ts'
import { formatOf } from '../formats/registry.ts'
import type { Format, UpstreamFault } from '../formats/format.ts'
import { parseJson } from '../formats/json.ts'
import { unreadError } from '../formats/vendor-error.ts'
import { readableBody } from '../http/content-encoding.ts'
import { forwardRequestHeaders } from '../http/headers.ts'
import type { Usage } from '../metering/usage.ts'
import type { Channel, Vendor } from './channel.ts'
import type { Outcome } from './health-event.ts'
import { readRetryAfterMs } from './retry-after.ts'
import { isStaleConnection, type FailureKind } from './upstream-failure.ts'
import type { Upstream, UpstreamHead } from './upstream.ts'

export interface CheckRequest {
  readonly vendor: Vendor
  readonly channel: Channel
  /** A model of the catalogue that the channel serves. */
  readonly model: string
  /** What to ask: the channel's own setting, unless an operator wants a real request. */
  readonly by: 'request' | 'models'
  readonly timeoutMs: number
}

export interface CheckResult {
  readonly outcome: Outcome
  readonly durationMs: number
  /** HTTP status, or undefined where no answer came. */
  readonly status: number | undefined
  /** What the vendor asked for with a throttle, where it said so. */
  readonly retryAfterMs?: number | undefined
  /** What a real request took by the vendor's own count. */
  readonly usage?: Usage | undefined
}

const answerBytesMax = 1_048_576

interface CheckParts {
  readonly upstream: Upstream
  readonly clock: Clock
}

export async function checkChannel(request: CheckRequest, parts: CheckParts): Promise<CheckResult> {
  const startedMs = parts.clock.monotonic()
  let asked: AskedResult = { outcome: 'hard', status: undefined }
  for (const body of bodiesOf(request)) {
    asked = await askTwice(request, body, parts)
    if (asked.outcome !== 'client') break
  }
  return { ...asked, durationMs: parts.clock.monotonic() - startedMs }
}

function bodiesOf({ vendor, channel, model, by }: CheckRequest): readonly (Buffer | undefined)[] {
  if (by === 'models') return [undefined]
  return formatOf(vendor.format).checkBodies(channel.models.get(model) ?? model)
}

/** Traffic repeats on another connection too where one has gone stale, and nobody blames the channel. */
async function askTwice(
  request: CheckRequest,
  body: Buffer | undefined,
  parts: CheckParts,
): Promise<AskedResult> {
  const first = await ask(request, body, parts)
  const asked = first === 'stale_connection' ? await ask(request, body, parts) : first
  return asked === 'stale_connection' ? { outcome: 'hard', status: undefined } : asked
}

type AskedResult = Omit<CheckResult, 'durationMs'>
type Asked = AskedResult | 'stale_connection'

function ask(
  request: CheckRequest,
  body: Buffer | undefined,
  { upstream, clock }: CheckParts,
): Promise<Asked> {
  const format = formatOf(request.vendor.format)
  const sent = upstreamRequest(format, request, body)
  const sentMs = clock.monotonic()
  return new Promise((resolve) => {
    let head: UpstreamHead | undefined
    const chunks: Buffer[] = []
    let bytes = 0
    const finish = (judged: Judged | 'stale_connection'): void => {
      timer.cancel()
      if (judged === 'stale_connection') resolve(judged)
      else resolve({ ...judged, status: head?.status })
    }
    const timer = clock.after(request.timeoutMs, () => {
      call.abort()
      finish({ outcome: 'hard' })
    })
    const call = upstream.send(request.channel, sent, {
      onHead(received) {
        head = received
      },
      onData(chunk) {
        bytes += chunk.length
        if (bytes <= answerBytesMax) chunks.push(chunk)
        return true
      },
      onEnd() {
        const answer = { head, body: Buffer.concat(chunks) }
        finish(judgeCheck(format, sent.body, answer, clock.now()))
      },
      onFailure(failure) {
        const waitedMs = clock.monotonic() - sentMs
        if (isStaleConnection(failure, { hasHead: head !== undefined, waitedMs }))
          finish('stale_connection')
        else finish({ outcome: failureOutcome[failure.kind] })
      },
    })
  })
}

function upstreamRequest(
  format: Format,
  { vendor, channel }: Pick<CheckRequest, 'vendor' | 'channel'>,
  body: Buffer | undefined,
): { method: 'POST' | 'GET'; path: string; headers: string[]; body: Buffer | undefined } {
  const own = ['user-agent', 'turnpike-check', 'content-type', 'application/json']
  const headers = forwardRequestHeaders(own, {
    prefix: vendor.name,
    credential: { scheme: vendor.credential, secret: channel.credential },
    versionHeader: vendor.versionHeader,
    defaultVersion: vendor.defaultVersion,
  })
  if (body === undefined) return { method: 'GET', path: '/v1/models', headers, body }
  return { method: 'POST', path: checkPath[format.name], headers, body }
}

const checkPath = { messages: '/v1/messages', chat: '/v1/chat/completions' } as const
const checkOperation = { messages: 'messages.create', chat: 'chat.completions.create' } as const

interface CheckAnswer {
  readonly head: UpstreamHead | undefined
  readonly body: Buffer
}

type Judged = Pick<CheckResult, 'outcome' | 'retryAfterMs' | 'usage'>

/**
 * Only an answer of the format proves the channel, as it does for traffic: a page under status 200
 * would otherwise refute every failure. A fault of the check's own proves that somebody answers.
 */
function judgeCheck(
  format: Format,
  sent: Buffer | undefined,
  answer: CheckAnswer,
  nowMs: number,
): Judged {
  const { head, body } = answer
  if (head === undefined) return { outcome: 'hard' }
  if (head.status >= 200 && head.status < 300) {
    const contentType = (head.header('content-type') ?? '').toLowerCase()
    return contentType === '' || contentType.includes('json')
      ? judgeAnswer(format, sent, body)
      : { outcome: 'hard' }
  }
  const headers = { 'retry-after': head.header('retry-after') }
  const readable = readableBody(body, head.header('content-encoding'))
  const error = readable === undefined ? unreadError : format.readError(readable)
  const fault = format.classify({ status: head.status, headers }, error)
  return { outcome: faultOutcome[fault], retryAfterMs: readRetryAfterMs(head, nowMs) }
}

/** A listing is any JSON: servers differ in how they list. */
function judgeAnswer(format: Format, sent: Buffer | undefined, body: Buffer): Judged {
  if (sent === undefined)
    return { outcome: parseJson(body.toString('utf8')) === undefined ? 'hard' : 'ok' }
  const operation = checkOperation[format.name]
  const facts = format.readRequest(sent, { requireMaxTokens: true, operation })
  const answer = 'kind' in facts ? undefined : format.readAnswer(body, facts)
  if (answer?.kind !== 'answer') return { outcome: 'hard' }
  return { outcome: 'ok', usage: answer.reading.usage }
}

const failureOutcome: Readonly<Record<FailureKind, Outcome>> = {
  connect: 'hard',
  tls: 'config',
  reset: 'hard',
  protocol: 'hard',
  // Nobody breaks a check off but a gateway that stops.
  aborted: 'nobody',
}

const faultOutcome: Readonly<Record<UpstreamFault, Outcome>> = {
  client: 'client',
  throttle: 'throttle',
  config: 'config',
  model_missing: 'model_missing',
  not_offered: 'config',
  lone_500: 'hard',
  conflict: 'client',
  hard: 'hard',
}
