/**
 * One exchange with a simulated vendor, from the request's last byte to the record's last line:
 * the vendor's own checks first, then what directives ask for, then a simulated answer.
 */
import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../base/clock.ts'
import { answerChat } from './chat-answer.ts'
import { directedAnswer } from './directed-answer.ts'
import type { Directives } from './directives.ts'
import { noDirectives } from './directives.ts'
import { errorAnswer, findPreset, plainError } from './error-answer.ts'
import type { Faults } from './faults.ts'
import type { Answer } from './frames.ts'
import type { Gathered } from './intake.ts'
import {
  findBodyFault,
  gatherDirectives,
  parseBody,
  readBody,
  readFacts,
  readPrompt,
} from './intake.ts'
import { answerModels, answerTokenCount } from './listings.ts'
import type { RecordLog } from './log.ts'
import type { OpenRecord } from './served-record.ts'
import { answerMessages } from './messages-answer.ts'
import { findDirectiveFaults } from './directive-faults.ts'
import { play } from './player.ts'
import { openRecord, readCredential } from './records.ts'
import { findRoute } from './routes.ts'
import type { SandboxRoute } from './routes.ts'
import type { JsonObject } from './sandbox-request.ts'
import type { Stage } from './stage.ts'

export interface Vendors {
  readonly clock: Clock
  readonly log: RecordLog
  readonly faults: Faults
  readonly keepsBodies: boolean
  readonly requireCredential: boolean
  /** The one credential a channel takes; any takes its place for a channel not named here. */
  readonly credentials: ReadonlyMap<string, string>
  /** Numbers exchanges from 0. */
  readonly nextIndex: () => number
}

export async function serveExchange(
  vendors: Vendors,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const route = findRoute(request)
  const bytes = await readBody(request)
  // A request that never came whole was never processed; there is nothing to answer or to record.
  if (bytes === undefined || route === undefined) {
    vendors.log.strayCount++
    return notFound(response)
  }
  const exchange = readExchange(vendors, route, { request, bytes })
  const { record, directives } = exchange
  const { clock, log, faults, keepsBodies } = vendors
  const stage: Stage = {
    response,
    record,
    directives,
    log,
    faults,
    clock,
    keepsBodies,
    seal: () => undefined,
  }
  log.received(record)
  response.once('close', () => closeRecord(stage))
  await play(stage, chooseAnswer(vendors, exchange))
}

function notFound(response: ServerResponse): void {
  const body = '{"error":{"message":"The sandbox has no such endpoint.","type":"not_found_error"}}'
  response.writeHead(404, { 'content-type': 'application/json' }).end(body)
}

function closeRecord({ response, record, log, seal }: Stage): void {
  const isFinished = response.writableFinished
  record.closedBy ??= isFinished ? 'sandbox' : 'client'
  record.isTerminalFlushed = record.isTerminalSent && isFinished
  seal()
  log.closed(record)
}

interface Arrived {
  readonly request: IncomingMessage
  readonly bytes: Buffer
}

interface Exchange {
  readonly route: SandboxRoute
  readonly request: IncomingMessage
  readonly bytes: Buffer
  readonly body: JsonObject | undefined
  readonly lastText: string
  readonly record: OpenRecord
  readonly directives: Directives
}

function readExchange(vendors: Vendors, route: SandboxRoute, arrived: Arrived): Exchange {
  const { request, bytes } = arrived
  const body = bytes.length === 0 ? undefined : parseBody(bytes)
  const prompt = body === undefined ? undefined : readPrompt(body)
  const model = typeof body?.['model'] === 'string' ? body['model'] : (route.modelId ?? '')
  const isStream = body?.['stream'] === true
  const marker = prompt?.marker ?? request.headers['x-sandbox-marker']
  const gathered = checkDirectives(
    gatherDirectives({
      route,
      headers: request.headers,
      model,
      isStream,
      promptDirectives: prompt?.directives ?? '',
      faults: vendors.faults,
    }),
  )
  const record = openRecord({
    index: vendors.nextIndex(),
    atMs: vendors.clock.now(),
    route,
    request,
    marker: typeof marker === 'string' ? marker : undefined,
    model,
    isStream,
    requestBytes: bytes.length,
    requestDigest: hash('sha256', bytes),
    requestBody: vendors.keepsBodies ? bytes : undefined,
    problems: gathered.problems,
  })
  const { directives } = gathered
  return { route, request, bytes, body, lastText: prompt?.text ?? '', record, directives }
}

function checkDirectives(gathered: Gathered): Gathered {
  if (gathered.directives === noDirectives) return gathered
  const faults = findDirectiveFaults(gathered.directives)
  if (faults.length === 0 && gathered.problems.length === 0) return gathered
  // What is left of misspelt directives is not carried out: their 400 must come through.
  return { directives: noDirectives, problems: [...gathered.problems, ...faults] }
}

function chooseAnswer(vendors: Vendors, exchange: Exchange): Answer {
  const { route, record, directives, request, body } = exchange
  if (record.problems.length > 0) {
    return plainError(record, 400, `sandbox: ${record.problems.join('; ')}`)
  }
  if (request.method !== route.method) return plainError(record, 405, 'Method Not Allowed')
  const refused = refuseCaller(vendors, exchange)
  if (refused !== undefined) return refused
  const directed = directedAnswer(record, directives)
  if (directed !== undefined) return directed
  if (route.method === 'GET') return answerModels({ route, index: record.index })
  if (body === undefined) return plainError(record, 400, 'The request body is not valid JSON.')
  const fault = findBodyFault(route, body, request.headers)
  if (fault !== undefined) return plainError(record, 400, fault)
  if (route.operation === 'messages.count_tokens') {
    return answerTokenCount({ route, index: record.index }, body)
  }
  const facts = readFacts({
    route,
    body,
    bytes: exchange.bytes,
    lastText: exchange.lastText,
    directives,
    index: record.index,
    digest: record.requestDigest,
    atMs: record.atMs,
  })
  return route.format === 'messages' ? answerMessages(facts) : answerChat(facts)
}

/** The vendor's own 401, and its 400 for a missing version header. */
function refuseCaller(vendors: Vendors, { route, record, request }: Exchange): Answer | undefined {
  const { format, channel } = route
  const credential = readCredential(format, request.headers)
  const expected = vendors.credentials.get(channel)
  const isWrong =
    credential === undefined || (expected !== undefined && credential.value !== expected)
  if (isWrong && (vendors.requireCredential || expected !== undefined)) {
    const row = findPreset(format, '401')
    if (row !== undefined) return errorAnswer(record, row)
  }
  if (format === 'chat') return undefined
  // A gateway whose catalogue names no header for the version sends it under its own name.
  const { headers } = request
  const version = headers['anthropic-version'] ?? headers['alpha-version']
  if (typeof version === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(version)) return undefined
  return plainError(record, 400, 'anthropic-version: header is required')
}
