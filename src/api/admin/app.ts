/**
 * The admin side as a Hono app: `/livez`, `/readyz`, `/metrics`, the console's files, and the admin API from
 * its rows. Liveness means that the event loop runs; it never depends on a vendor or the store. Readiness
 * means that the gateway takes requests. The credential is an admin token in a header or, for the admin
 * API alone, the session of a browser in a cookie.
 */
import { Hono } from 'hono'
import { refusalOfFault, refuse, type Refusal } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { exchangeIdHeader } from '../../http/server/reply.ts'
import {
  mayCall,
  type Endpoint,
  type FeedEndpoint,
  type FileEndpoint,
  type StreamEndpoint,
} from '../../operations/endpoint.ts'
import { allEndpoints, allFeeds, allFiles, allStreams } from '../../operations/all-endpoints.ts'
import type { EventFeed } from '../../operations/events/feed.ts'
import { refusalOfInput, type OperationContext } from '../../operations/operation.ts'
import { toThread } from '../../operations/thread-context.ts'
import type { Site } from '../web/site.ts'
import { openEventStream } from './event-streams.ts'
import { performCall, type CallAnswer, type CallHeaders } from './call.ts'
import { refusalOfMatch } from './change.ts'
import { addConsole } from './console.ts'
import { headersOfDownload, sendDownload } from './download.ts'
import { FileTurns } from './file-turns.ts'
import { parseInput, placesOf, readInput, targetOf, type PlacedRow, type Row } from './input.ts'
import { receiveBody, smallBodyBytesMax } from './json-body.ts'
import { callLarge } from './large-call.ts'
import { buildDocument } from './openapi.ts'
import { pagePolicy, printReferencePage } from './reference-page.ts'
import {
  answerRefusal,
  apiPath,
  refuseOtherMethods,
  type Environment,
  type Request,
} from './request.ts'
import { addSessionCalls, addSignIn, type SessionCallParts } from './session-calls.ts'
import { signIn } from './sign-in.ts'
import { Streams, type StreamParts, type StreamQuestion } from './stream.ts'

export interface AdminParts extends StreamParts, SessionCallParts {
  /** The `store` setting. */
  readonly store: string
  /** Returns the metrics in the form that `metricsType` names. */
  readonly readMetrics: () => Promise<string>
  readonly metricsType: string
  readonly isReady: () => boolean
  /** Resolves when this gateway works with all that is stored by now. */
  readonly catchUp: () => Promise<void>
  readonly events: EventFeed
  readonly site: Site
}

export function createAdminApp(parts: AdminParts): Hono<Environment> {
  const app = new Hono<Environment>()
  app.use(async (request, next) => {
    request.set('requestId', newId('ex', parts.clock.now()))
    await next()
    request.res.headers.set(exchangeIdHeader, request.get('requestId'))
    if (!request.res.headers.has('cache-control'))
      request.res.headers.set('cache-control', 'no-store')
    request.res.headers.set('x-content-type-options', 'nosniff')
  })
  addProbes(app, parts)
  addReference(app)
  addConsole(app, parts.site.console)
  addSignIn(app, parts)
  app.use(async (request, next) => {
    const operator = await signIn(parts, request.env.incoming)
    if (operator.kind === 'refusal') return answerRefusal(request, operator)
    request.set('operator', operator)
    await next()
    // A change acts on this gateway before its answer is sent: money that is taken away buys nothing more.
    const isRead = ['GET', 'HEAD'].includes(request.req.method)
    if (!isRead && request.res.ok) await parts.catchUp().catch(parts.onFault)
    return undefined
  })
  app.get('/metrics', async (request) => {
    const reader = { role: 'viewer' } as const
    if (!mayCall(request.get('operator').role, reader))
      return answerRefusal(request, roleTooLow(reader))
    const text = await parts.readMetrics()
    return request.body(text, 200, { 'content-type': parts.metricsType })
  })
  refuseOtherMethods(app, '/metrics', ['GET', 'HEAD'])
  addSessionCalls(app, parts)
  refuseOtherMethods(app, `${apiPath}/session`, ['GET', 'HEAD', 'POST', 'DELETE'])
  addRows(app, parts)
  app.notFound((request) =>
    answerRefusal(
      request,
      refuse(
        'http.not_found',
        'Unknown path. This address serves /console, /metrics, /livez, /readyz and the admin API below /admin/v1.',
      ),
    ),
  )
  app.onError((error, request) => {
    parts.onFault(error)
    return answerRefusal(request, refusalOfFault(error))
  })
  return app
}

function addProbes(app: Hono<Environment>, { isReady }: AdminParts): void {
  app.get('/livez', (request) => request.json({ status: 'alive' }))
  app.get('/readyz', (request) =>
    isReady() ? request.json({ status: 'ready' }) : request.json({ status: 'not_ready' }, 503),
  )
  for (const path of ['/livez', '/readyz']) refuseOtherMethods(app, path, ['GET', 'HEAD'])
}

/** Open to all who reach the listener: a browser sends no token, and they hold no facts of a store. */
function addReference(app: Hono<Environment>): void {
  let built: ReturnType<typeof buildDocument> | undefined
  const document = (): ReturnType<typeof buildDocument> => (built ??= buildDocument())
  app.get(`${apiPath}/openapi.json`, (request) => request.json(document()))
  app.get(`${apiPath}/docs`, (request) => {
    request.header('content-security-policy', pagePolicy)
    return request.html(printReferencePage(document()))
  })
  for (const path of ['openapi.json', 'docs'])
    refuseOtherMethods(app, `${apiPath}/${path}`, ['GET', 'HEAD'])
}

function addRows(app: Hono<Environment>, parts: AdminParts): void {
  const methods = new Map<string, string[]>()
  const streams = new Streams(parts)
  const turns = new FileTurns()
  for (const row of [...allEndpoints, ...allStreams, ...allFiles, ...allFeeds]) {
    const path = apiPath + row.path.replaceAll(/{(\w+)}/g, ':$1')
    const places = placesOf(row)
    app.on(row.method, path, async (request) => {
      const { tokenId, role, session } = request.get('operator')
      if (!mayCall(role, row)) return answerRefusal(request, roleTooLow(row))
      const misplaced = refusalOfMatch(row, request.req.header('if-match'))
      if (misplaced !== undefined) return answerRefusal(request, misplaced)
      const context = {
        ...parts.operations,
        actor: tokenId,
        ...(session !== undefined && { session: session.idHash }),
        hidesSealed: role !== 'owner',
        takesNothingBack: role === 'credits',
      }
      const placed = { row, places }
      if ('operation' in row && row.bodyBytesMax !== undefined)
        return answerFiles(request, { ...placed, row }, { ...parts, turns, context })
      const read = await readInput(request.env, request.req.param(), placed)
      if (read.kind === 'refusal') return answerRefusal(request, read)
      if ('feed' in row) return answerFeed(request, { row, input: read.input }, parts)
      if ('file' in row)
        return answerFile(request, { row, context, input: read.input }, parts.onFault)
      const written = streamOf(row, read.input)
      return 'stream' in written
        ? answerStream(request, { row: written, context, input: read.input }, streams)
        : answerCall(request, written, context, read.input)
    })
    const known = methods.get(path) ?? []
    methods.set(path, [...known, ...(row.method === 'GET' ? ['GET', 'HEAD'] : [row.method])])
  }
  for (const [path, allowed] of methods) refuseOtherMethods(app, path, allowed)
}

/** Returns what answers: the row, or its form for CSV. */
function streamOf(
  row: Endpoint | StreamEndpoint,
  input: Readonly<Record<string, unknown>>,
): Endpoint | StreamEndpoint {
  return 'csv' in row && input['format'] === 'csv' ? (row.csv ?? row) : row
}

async function answerCall(
  request: Request,
  row: Endpoint,
  context: OperationContext,
  input: Readonly<Record<string, unknown>>,
): Promise<Response> {
  return sendAnswer(request, row, await performCall(row, context, input, headersOf(request)))
}

interface FileParts extends Pick<AdminParts, 'store'> {
  readonly turns: FileTurns
  readonly context: OperationContext
}

/** Answers a call whose body has files: a large one in a thread. */
async function answerFiles(
  request: Request,
  placed: PlacedRow & { readonly row: Endpoint & { readonly bodyBytesMax?: number } },
  { store, turns, context }: FileParts,
): Promise<Response> {
  const { row } = placed
  const { actor: tokenId } = context
  const { bodyBytesMax: bytesMax = smallBodyBytesMax } = row
  const large = { bytesMax, turns, tokenId }
  const received = await receiveBody(request.env, smallBodyBytesMax, large)
  if (received.kind === 'refusal') return answerRefusal(request, received)
  const { bytes } = received
  const asked = targetOf(request.env, request.req.param())
  if (bytes.length <= smallBytesMax) {
    const read = parseInput({ ...asked, bytes }, placed)
    if (read.kind === 'refusal') return answerRefusal(request, read)
    return answerCall(request, row, context, read.input)
  }
  const headers = headersOf(request)
  const order = { ...asked, rowId: row.id, headers, context: toThread(store, context) }
  return sendAnswer(request, row, await callLarge(order, bytes, request.env.outgoing))
}

/** A thread takes longer to start than a file of this size takes to be read. */
const smallBytesMax = 16_384

function headersOf(request: Request): CallHeaders {
  return {
    idempotencyKey: request.req.header('idempotency-key'),
    ifMatch: request.req.header('if-match'),
  }
}

function sendAnswer(request: Request, row: Endpoint, answer: CallAnswer): Response {
  if (answer.kind === 'refusal') return answerRefusal(request, answer)
  if (answer.etag !== undefined) request.header('etag', answer.etag)
  if (answer.isReplayed) request.header('idempotency-replayed', 'true')
  request.header('content-type', 'application/json')
  return request.body(answer.text, row.status ?? 200)
}

function roleTooLow({ role }: Pick<Row, 'role'>): Refusal {
  return refuse('access.role_insufficient', `This needs an admin token with the role ${role}.`)
}

async function answerFeed(
  request: Request,
  { row, input }: { readonly row: FeedEndpoint; readonly input: object },
  parts: AdminParts,
): Promise<Response> {
  const refusal = refusalOfInput(row.feed, input)
  if (refusal !== undefined) return answerRefusal(request, refusal)
  const { incoming, outgoing } = request.env
  request.header('content-type', 'text/event-stream')
  // Proxies such as nginx would collect events otherwise.
  request.header('x-accel-buffering', 'no')
  if (incoming.method === 'HEAD') return request.body(null)
  const isAllowed = async (): Promise<boolean> =>
    (await signIn(parts, incoming, { isFollowUp: true })).kind === 'operator'
  const { tokenId } = request.get('operator')
  const begun = await openEventStream(parts.events, { tokenId, isAllowed, outgoing })
  return begun.kind === 'refusal' ? answerRefusal(request, begun) : request.body(begun.body)
}

async function answerStream(
  request: Request,
  question: StreamQuestion & { readonly input: { readonly format?: unknown } },
  streams: Streams,
): Promise<Response> {
  const begun = await streams.begin(question, request.env)
  if (begun.kind === 'refusal') return answerRefusal(request, begun)
  const format = question.input.format === 'csv' ? 'csv' : 'json'
  request.header('content-type', question.row.contentTypes[format])
  return begun.pieces === undefined ? request.body(null) : request.body(begun.pieces)
}

async function answerFile(
  request: Request,
  question: {
    readonly row: FileEndpoint
    readonly context: OperationContext
    readonly input: unknown
  },
  onFault: AdminParts['onFault'],
): Promise<Response> {
  const { row, context, input } = question
  const { incoming, outgoing } = request.env
  request.header('content-type', row.contentType)
  // A copy takes long, and only the reader of the file needs it.
  if (incoming.method === 'HEAD') return request.body(null)
  const outcome = await row.file(context, input)
  if (outcome.kind === 'refusal') return answerRefusal(request, outcome)
  for (const [name, value] of Object.entries(headersOfDownload(outcome.value)))
    request.header(name, value)
  return request.body(sendDownload(outcome.value, outgoing, onFault))
}
