/**
 * Serves one exchange, from the last byte of the request to the last line of its record: first the
 * checks that a vendor makes, then what directives ask for, then a simulated answer.
 */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../src/base/clock.ts'
import type { Answer } from './answer.ts'
import { answerChat } from './chat.ts'
import { answerCompletion, completionsPrompt, findCompletionsFault } from './completions.ts'
import { checkDirectives, noDirectives, parseDirectives } from './directives.ts'
import type { Directives, ParsedDirectives } from './directives.ts'
import { answerEmbeddings, embeddingsPrompt, findEmbeddingsFault } from './embeddings.ts'
import { findRoute } from './endpoints.ts'
import type { SandboxRoute } from './endpoints.ts'
import {
  answerModels,
  answerTokenCount,
  directedAnswer,
  errorAnswer,
  findPreset,
  plainError,
  refuseOperation,
} from './plain-answers.ts'
import type { Faults } from './faults.ts'
import type { RecordLog } from './log.ts'
import { answerMessages } from './messages.ts'
import { play } from './player.ts'
import type { Stage } from './player.ts'
import { findBodyFault, lastUserText, parseBody, readFacts, readPrompt } from './request.ts'
import type { FactsOptions, JsonObject } from './request.ts'
import type { VendorAccount, VendorAccounts } from './responses/accounts.ts'
import { answerResponse } from './responses/answer.ts'
import { findPrompt, noContext, readContext } from './responses/context.ts'
import type { Context } from './responses/context.ts'
import { findResponsesFault, readResponsesFacts } from './responses/request.ts'
import { answerStored } from './responses/stored.ts'
import { openRecord, readCredential } from './served-record.ts'
import type { OpenRecord } from './served-record.ts'

export interface Vendors {
  readonly clock: Clock
  readonly log: RecordLog
  readonly faults: Faults
  readonly keepsBodies: boolean
  readonly requireCredential: boolean
  /** The only credential that a channel accepts. A channel not named here accepts any. */
  readonly credentials: ReadonlyMap<string, string>
  /** What the vendor keeps for each credential. */
  readonly accounts: VendorAccounts
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
  // An incomplete request was never processed, so there is nothing to answer or to record.
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
  readonly account: VendorAccount
  /** What a request for a response is about. */
  readonly context: Context
  readonly lastText: string
  readonly record: OpenRecord
  readonly directives: Directives
}

function readExchange(vendors: Vendors, route: SandboxRoute, arrived: Arrived): Exchange {
  const { request, bytes } = arrived
  const body = bytes.length === 0 ? undefined : parseBody(bytes)
  const credential = readCredential(route.format, request.headers)
  const account = vendors.accounts.of(credential?.value, route.channel)
  const isResponse = route.operation === 'responses.create' && body !== undefined
  const context = isResponse ? readContext(body, account) : noContext
  const prompt = body === undefined ? undefined : readPrompt(promptText(route, body, context))
  const namedInPath = route.operation === 'models.get' ? route.id : undefined
  const model = typeof body?.['model'] === 'string' ? body['model'] : (namedInPath ?? '')
  const isStream = body?.['stream'] === true
  const marker = prompt?.marker ?? request.headers['x-sandbox-marker']
  const gathered = gatherDirectives({
    route,
    headers: request.headers,
    model,
    isStream,
    promptDirectives: prompt?.directives ?? '',
    faults: vendors.faults,
  })
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
  const lastText = prompt?.text ?? ''
  return { route, request, bytes, body, account, context, lastText, record, directives }
}

/** Returns the text in which directives and the marker stand. */
function promptText(route: SandboxRoute, body: JsonObject, context: Context): string {
  switch (route.operation) {
    case 'responses.create':
      return findPrompt([...context.earlier, ...context.own]).text
    case 'embeddings.create':
      return embeddingsPrompt(body)
    case 'completions.create':
      return completionsPrompt(body)
    default:
      return lastUserText(body)
  }
}

interface GatherOptions {
  readonly route: SandboxRoute
  readonly headers: IncomingHttpHeaders
  readonly model: string
  readonly isStream: boolean
  readonly promptDirectives: string
  readonly faults: Faults
}

/**
 * Collects the directives of an exchange. Later sources win: the channel's setting, the name of the
 * model (`large-1+status=429`), the last user message, the header `x-sandbox`.
 */
function gatherDirectives(options: GatherOptions): ParsedDirectives {
  const { route, headers, model, isStream, promptDirectives, faults } = options
  const { format, operation, channel } = route
  const set = faults.take(channel, { format, operation, model, isStream })
  const header = headers['x-sandbox']
  const plus = model.indexOf('+')
  if (set === undefined && header === undefined && plus === -1 && promptDirectives === '') {
    return { directives: noDirectives, problems: [] }
  }
  const sources = [
    checkDirectives(set ?? noDirectives),
    parseDirectives(plus === -1 ? '' : model.slice(plus + 1), '+'),
    parseDirectives(promptDirectives),
    parseDirectives(typeof header === 'string' ? header : ''),
  ]
  const problems = sources.flatMap((source) => source.problems)
  // With a problem no directive applies, so that the client gets the 400 that names it.
  if (problems.length > 0) return { directives: noDirectives, problems }
  return {
    directives: Object.assign({}, ...sources.map((source) => source.directives)) as Directives,
    problems,
  }
}

function chooseAnswer(vendors: Vendors, exchange: Exchange): Answer {
  const { route, record, directives, request, body } = exchange
  if (record.problems.length > 0) {
    return plainError(record, 400, `sandbox: ${record.problems.join('; ')}`)
  }
  const notOffered = refuseOperation(record, route, directives)
  if (notOffered !== undefined) return notOffered
  if (request.method !== route.method) return plainError(record, 405, 'Method Not Allowed')
  const refused = refuseCaller(vendors, exchange)
  if (refused !== undefined) return refused
  const directed = directedAnswer(record, directives)
  if (directed !== undefined) return directed
  if (route.operation.startsWith('models.')) return answerModels({ route, index: record.index })
  if (isStored(route)) return answerStoredCall(exchange)
  if (body === undefined) return plainError(record, 400, 'The request body is not valid JSON.')
  return answerBody(exchange, body)
}

/** Whether it is an operation on something that the vendor keeps. */
function isStored({ operation }: SandboxRoute): boolean {
  if (operation.startsWith('conversations.')) return true
  return operation.startsWith('responses.') && operation !== 'responses.create'
}

function answerStoredCall({ route, record, request, body, account }: Exchange): Answer {
  const query = new URL(request.url ?? '', 'http://sandbox').searchParams
  const { index, atMs } = record
  return answerStored({ route, index, atMs, account, query, body })
}

function answerBody(exchange: Exchange, body: JsonObject): Answer {
  const { route, record, directives, request, account, context } = exchange
  const facts: FactsOptions = {
    route,
    body,
    bytes: exchange.bytes,
    lastText: exchange.lastText,
    directives,
    index: record.index,
    digest: record.requestDigest,
    atMs: record.atMs,
  }
  switch (route.operation) {
    case 'responses.create': {
      const fault = findResponsesFault(body) ?? context.fault
      if (fault !== undefined) return errorAnswer(record, fault)
      return answerResponse(readResponsesFacts({ ...facts, account, context }))
    }
    case 'embeddings.create': {
      const fault = findEmbeddingsFault(body)
      return fault === undefined ? answerEmbeddings(facts) : errorAnswer(record, fault)
    }
    case 'completions.create': {
      const fault = findCompletionsFault(body)
      return fault === undefined ? answerCompletion(facts) : errorAnswer(record, fault)
    }
    default: {
      const fault = findBodyFault(route, body, request.headers)
      if (fault !== undefined) return plainError(record, 400, fault)
      if (route.operation === 'messages.count_tokens')
        return answerTokenCount({ route, index: record.index }, body)
      return route.format === 'messages'
        ? answerMessages(readFacts(facts))
        : answerChat(readFacts(facts))
    }
  }
}

/** Returns the vendor's 401, or its 400 for a missing version header, where one applies. */
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
  // A gateway without `version_header` in its catalogue sends the version under its own name.
  const { headers } = request
  const version = headers['anthropic-version'] ?? headers['alpha-version']
  if (typeof version === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(version)) return undefined
  return plainError(record, 400, 'anthropic-version: header is required')
}

const bodyBytesMax = 64 * 1024 * 1024

/** Reads the whole body; undefined when the client left before its end or the body is too large. */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > bodyBytesMax) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => {
      const first = chunks[0]
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size))
    })
    request.on('close', () => resolve(undefined))
  })
}
